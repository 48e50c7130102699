#!/bin/sh
# check.sh: the installed library is what a user needs, and nothing else. Run by `make check-install` from the top folder:
# check.sh <build folder, absolute>, with MAKE, CC and CXX in the environment.
#   1. staged under DESTDIR: the expected files and no others; relative links; no build path, no RUNPATH; uninstall leaves nothing;
#   2. installed in a fresh prefix: programs in C and C++ and every example build through pkg-config and run, shared and static
#      (LAPACK's .pc files leave out the Fortran library, which a wholly static program needs);
#   3. not installed: a program builds against the build tree.
set -eu

MAKE=${MAKE:-make} CC=${CC:-cc} CXX=${CXX:-c++}
build=$1
source=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset DESTDIR PREFIX LIBDIR INCLUDEDIR PKG_CONFIG_LIBDIR LD_LIBRARY_PATH || true

fail() {
    echo "check-install: $*" >&2
    exit 1
}

make_with() {
    "$MAKE" --no-print-directory "$@" >"$work/log" || fail "make $*: $(cat "$work/log")"
}

# ---- 1. Staged
stage=$work/stage
prefix=/opt/x
make_with DESTDIR="$stage" PREFIX=$prefix install

version=$(sed -n 's/^Version: //p' "$stage$prefix/lib/pkgconfig/linattn.pc")
{
    for header in include/linattn/*.h; do echo ".$prefix/$header"; done
    for name in liblinattn.a liblinattn.so "liblinattn.so.${version%%.*}" "liblinattn.so.$version" pkgconfig/linattn.pc; do
        echo ".$prefix/lib/$name"
    done
} | sort >"$work/wanted"
(cd "$stage" && find . ! -type d | sort) >"$work/found"
diff "$work/wanted" "$work/found" || fail "installed files (>) are not those expected (<)"

for link in "$stage$prefix"/lib/liblinattn.so "$stage$prefix/lib/liblinattn.so.${version%%.*}"; do
    [ "$(readlink "$link")" = "liblinattn.so.$version" ] || fail "$link points to $(readlink "$link")"
done
grep -q "^prefix=$prefix\$" "$stage$prefix/lib/pkgconfig/linattn.pc" || fail "linattn.pc has another prefix"
for path in "$source" "$build" "$stage"; do
    ! grep -rlF -e "$path" "$stage" || fail "the files above hold the path $path"
done
dynamic=$(readelf -d "$stage$prefix/lib/liblinattn.so")
case $dynamic in *RPATH* | *RUNPATH*) fail "the library has a RUNPATH" ;; esac
case $dynamic in *"[liblinattn.so.${version%%.*}]"*) ;; *) fail "the soname is not liblinattn.so.${version%%.*}" ;; esac
case $dynamic in *NODELETE*) ;; *) fail "the library can be unloaded under its threads" ;; esac

# A tree that was moved still works.
cflags=$(PKG_CONFIG_PATH=$stage$prefix/lib/pkgconfig pkg-config --define-prefix --cflags linattn)
case $cflags in "-I$stage$prefix/include"*) ;; *) fail "a moved tree gives $cflags" ;; esac

make_with DESTDIR="$stage" PREFIX=$prefix uninstall
[ -z "$(find "$stage" ! -type d)" ] || fail "uninstall left $(find "$stage" ! -type d)"

# LIBDIR and INCLUDEDIR obey DESTDIR too.
make_with DESTDIR="$stage" PREFIX=$prefix LIBDIR=/opt/l INCLUDEDIR=/opt/i install
[ -e "$stage/opt/l/liblinattn.so" ] || fail "LIBDIR went elsewhere"
[ -e "$stage/opt/i/linattn/linattn.h" ] || fail "INCLUDEDIR went elsewhere"
[ -z "$(find "$stage$prefix" ! -type d)" ] || fail "PREFIX was used besides LIBDIR and INCLUDEDIR"
grep -q '^libdir=/opt/l$' "$stage/opt/l/pkgconfig/linattn.pc" || fail "linattn.pc has another libdir"

# ---- 2. Installed
prefix=$work/prefix
make_with PREFIX="$prefix" install
grep -q LD_LIBRARY_PATH "$work/log" || fail "install gives no hint for the loader"
mkdir -p "$work/static/lib" # as the prefix, without the shared library
make_with PREFIX="$work/static" install
rm "$work"/static/lib/*.so*

# build_and_run <name> <compiler and sources> <pkg-config's options> <further flags> [<the program's arguments>]
# All but the name are lists.
# shellcheck disable=SC2046,SC2086
build_and_run() {
    $2 -o "$work/$1" $(pkg-config --cflags --libs $3 linattn) $4 || fail "$1 does not build"
    (cd "$work" && env -i PATH="$PATH" "$work/$1" ${5:-} >"$work/output") || fail "$1 does not run"
}

static="-static -lgfortran"
# Where it exists, the Fortran library is made of it.
[ ! -e "$($CC -print-file-name=libquadmath.a)" ] || static="$static -lquadmath"
static="$static -lm"

c="$CC -std=c11 -Wall -Wextra -Werror tests/install/program.c"
cxx="$CXX -std=c++17 -Wall -Wextra -Werror tests/install/program.cpp"
for language in c cxx; do
    command=$c
    [ $language = c ] || command=$cxx
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    build_and_run "shared_$language" "$command" "" "-Wl,-rpath,$prefix/lib"
    build_and_run "static_$language" "$command" --static "$static"
    export PKG_CONFIG_PATH="$work/static/lib/pkgconfig"
    build_and_run "archive_$language" "$command" --static ""
done

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
for example in examples/*.c; do
    [ -e "$example" ] || continue
    name=$(basename "$example" .c)
    arguments=
    case $name in
    adam_vs_sgd) arguments="--recipe setting1 --seeds 1 --steps 20 --out out" ;;
    condition_number) arguments="--recipe setting1 --seeds 1 --steps 20 --curve --quick --out out" ;;
    esac
    common=$(find examples/common -name '*.c' 2>/dev/null || true)
    command="$CC -std=c11 -D_GNU_SOURCE -Iexamples $example $common"
    build_and_run "example_$name" "$command" "" "-Wl,-rpath,$prefix/lib -lm -pthread" "$arguments"
    build_and_run "example_static_$name" "$command" --static "$static" "$arguments"
done

# ---- 3. Not installed
export PKG_CONFIG_PATH="$build/pkgconfig"
build_and_run uninstalled "$c" "" ""
echo "check-install: passed"
