#!/bin/sh
# check.sh: the installed library is what a user needs, and nothing else. Run by `make check-install` from the top folder:
# check.sh <build folder, absolute>, with MAKE, CC and CXX in the environment.
#   1. staged under DESTDIR (Case K3): the expected files and no others; relative links; no build path, no RUNPATH; uninstall leaves
#      nothing;
#   2. installed in $HOME/p, built against as `make install` says (Case K9): programs in C and C++ build through pkg-config and run,
#      with the shared library and with the archive (Case K2; LAPACK's .pc files leave out the Fortran library, which a wholly static
#      program needs);
#   3. every example likewise; the CMake project of examples/cmake, where there is cmake;
#   4. loaded and unloaded: unload.c;
#   5. not installed: a program builds against the build tree.
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
export HOME="$work/home"
prefix=$HOME/p
archive=$work/archive # as the prefix, without the shared library
mkdir -p "$work/empty"
make_with PREFIX="$archive" install
rm "$archive"/lib/*.so*
make_with PREFIX="$prefix" install
grep -q LD_LIBRARY_PATH "$work/log" || fail "install gives no hint for the loader"

# run <program> [<arguments, a list>]: in an empty environment.
# shellcheck disable=SC2086
run() {
    (cd "$work" && env -i PATH="$work/empty" "$1" ${2:-} >"$work/output" 2>&1) ||
        fail "$1 ${2:-} does not run: $(cat "$work/output")"
}

# build_and_run <name> <compiler and sources> <pkg-config's options> <further flags> [<the program's arguments>]
# All but the name are lists.
# shellcheck disable=SC2046,SC2086
build_and_run() {
    $2 -o "$work/$1" $(pkg-config --cflags --libs $3 linattn) $4 || fail "$1 does not build"
    run "$work/$1" "${5:-}"
}

c="$CC -std=c11 -Wall -Wextra -Werror"
cxx="$CXX -std=c++17 -Wall -Wextra -Werror"
static="-static -lgfortran"
# Where it exists, the Fortran library is made of it.
[ ! -e "$($CC -print-file-name=libquadmath.a)" ] || static="$static -lquadmath"

# The two lines that `make install` prints, as they are.
cp tests/install/program.c "$work/program.c"
grep '^    ' "$work/log" | sed "s|^ *cc |$CC |" >"$work/printed"
(unset PKG_CONFIG_PATH && cd "$work" && sh -e ./printed) || fail "what install says does not work: $(cat "$work/printed")"
run "$work/a.out"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
rpath="-Wl,-rpath,$prefix/lib"
build_and_run shared_c "$c tests/install/program.c" "" "$rpath"
build_and_run shared_cxx "$cxx tests/install/program.cpp" "" "$rpath"
build_and_run static_c "$c tests/install/program.c" --static "$static -lm"
export PKG_CONFIG_PATH="$archive/lib/pkgconfig"
build_and_run archive_c "$c tests/install/program.c" --static ""
build_and_run archive_cxx "$cxx tests/install/program.cpp" --static ""

# ---- 3. Examples
arguments() {
    case $1 in
    adam_vs_sgd) echo --quick --seeds 1 --steps 20 --eval-prompts 100 ;;
    condition_number) echo --quick --seeds 2 --at 5 --eval-prompts 100 ;;
    gradient_error) echo --quick --samples 20 ;;
    directional_smoothness) echo --quick --seeds 1 --steps 60 ;;
    generalized_smoothness) echo --quick --steps 60 ;;
    real_covariates) echo --quick --columns 5 --steps 20 --eval-prompts 100 ;;
    quickstart | own_objective) ;; # take none
    *) echo --quick ;;
    esac
}

mkdir "$work/common"
# shellcheck disable=SC2046
(cd "$work/common" && $c -O1 -D_GNU_SOURCE -I"$source/examples" $(pkg-config --cflags linattn) -c "$source"/examples/common/*.c) ||
    fail "examples/common does not build"
mkdir -p "$work/examples" && cp -R examples/data "$work/examples/data" # where real_covariates looks
objects=$(find "$work/common" -name '*.o')
for example in examples/*.c; do
    name=$(basename "$example" .c)
    command="$c -O1 -D_GNU_SOURCE -Iexamples $example $objects"
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    build_and_run "$name" "$command" "" "$rpath -lm -pthread" "$(arguments "$name")"
    export PKG_CONFIG_PATH="$archive/lib/pkgconfig"
    build_and_run "$name" "$command" --static "-lm -pthread" "$(arguments "$name")"
done
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
build_and_run quickstart_cpp "$cxx examples/quickstart.cpp" "" "$rpath"
export PKG_CONFIG_PATH="$archive/lib/pkgconfig"
build_and_run quickstart_cpp "$cxx examples/quickstart.cpp" --static ""
# It begins as quickstart.c does.
head -n 1 "$work/output" >"$work/first"
run "$work/quickstart"
cmp -s "$work/output" "$work/first" || fail "quickstart prints another loss in C++: $(cat "$work/first")"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
cmake=passed
if command -v cmake >/dev/null; then
    mkdir "$work/cmake"
    cp examples/cmake/CMakeLists.txt examples/quickstart.c examples/quickstart.cpp "$work/cmake"
    { CC=$CC CXX=$CXX cmake -S "$work/cmake" -B "$work/cmake/build" && cmake --build "$work/cmake/build" &&
        cmake --install "$work/cmake/build" --prefix "$work/cmake/p"; } >"$work/log" 2>&1 || fail "cmake: $(cat "$work/log")"
    for folder in build p/bin; do
        for program in quickstart quickstart_cpp; do run "$work/cmake/$folder/$program" ""; done
    done
else
    cmake="skipped, there is none"
fi

# ---- 4. Loaded and unloaded
# shellcheck disable=SC2046
$c -D_GNU_SOURCE $(pkg-config --cflags linattn) tests/install/unload.c -o "$work/unload" -ldl -lm -pthread ||
    fail "unload does not build"
run "$work/unload" "$prefix/lib/liblinattn.so"

# ---- 5. Not installed
export PKG_CONFIG_PATH="$build/pkgconfig"
build_and_run uninstalled "$c tests/install/program.c" "" ""
echo "check-install: passed (cmake: $cmake)"
