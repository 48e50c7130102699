#!/bin/sh
# check.sh: the public headers are for every compiler, for C++ and for binding generators. Run by `make check-headers` from the top
# folder with CC and CXX in the environment; uses gcc or clang besides, where the other one is installed.
#   1. each header compiles alone, and twice, in every standard, without a warning;
#   2. they include nothing but <stddef.h> and <stdint.h>, and leave no macro behind but their guards and LINATTN_API;
#   3. what a binding generator reads is plain declarations: nothing inline or static, no bit-field, no attribute, no float;
#   4. programs with names like `I` use them together with <complex> (names.cpp).
set -eu

CC=${CC:-cc} CXX=${CXX:-c++}
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Iinclude"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "check-headers: $*" >&2
    exit 1
}

case $($CC --version) in
*clang*) other_c=gcc other_cxx=g++ ;;
*) other_c=clang other_cxx=clang++ ;;
esac
command -v $other_c >/dev/null || other_c=
command -v $other_cxx >/dev/null || other_cxx=

# ---- 1. Alone
for header in include/linattn/*.h; do
    name=$(basename "$header" .h)
    printf '#include <linattn/%s.h>\n' "$name" "$name" >"$work/$name.c"
    echo 'int header_is_there(void);' >>"$work/$name.c"
    cp "$work/$name.c" "$work/$name.cpp"
done

# alone <language's ending> <standards> <compiler>; compiler and warnings are lists.
# shellcheck disable=SC2086
alone() {
    for standard in $2; do
        $3 -std=$standard $warnings -fsyntax-only "$work"/*."$1" || fail "$3 -std=$standard refuses the headers"
    done
}
for compiler in "$CC" $other_c; do alone c "c11 c17" "$compiler"; done
for compiler in "$CXX" $other_cxx; do alone cpp "c++11 c++14 c++17 c++20" "$compiler"; done

# ---- 2. What they bring along
system=$(sed -n 's/^ *# *include *//p' include/linattn/*.h | grep -v '^<linattn/' | sort -u | tr '\n' ' ')
[ "$system" = "<stddef.h> <stdint.h> " ] || fail "the headers include $system"

macros() { $CC -std=c11 -Iinclude -dM -E -x c - | sed -n 's/^#define \([A-Za-z0-9_]*\((.*)\)\{0,1\}\).*/\1/p' | sort; }
printf '#include <stddef.h>\n#include <stdint.h>\n' | macros >"$work/before"
printf '#include <%s>\n' stddef.h stdint.h linattn/linattn.h | macros >"$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -v '^LINATTN_[A-Z]*_H$' | tr '\n' ' ')
[ "$left" = "LINATTN_API LINATTN_H " ] || fail "macros left behind: $left"

# ---- 3. Declarations only: the text without the system's headers, LINATTN_API being empty. In C without functions, labels and
# bit-fields there is no colon and no body.
mkdir -p "$work/text/linattn"
for header in include/linattn/*.h; do sed '/include <std/d' "$header" >"$work/text/linattn/$(basename "$header")"; done
$CC -std=c11 -E -P -DLINATTN_API= -I"$work/text" "$work/text/linattn/linattn.h" >"$work/declarations"
grep -q '^ *int linattn_version_number(void);$' "$work/declarations" || fail "the declarations are not as they should be"
never=':|\) *\{|#|__|"|\<(inline|static|extern|float|volatile|long)\>'
odd=$(tr '\n' ' ' <"$work/declarations" | grep -oE ".{0,60}($never).{0,60}" || true)
[ -z "$odd" ] || fail "more than plain declarations: $odd"
# Every public function is in it.
declared=$(grep -ohE '\<linattn_[a-z0-9_]+\(' "$work/declarations" | sort -u | wc -l)
marked=$(cat include/linattn/*.h | grep -c '^LINATTN_API')
[ "$declared" -eq "$marked" ] || fail "$declared functions are declared, $marked are marked LINATTN_API"

# The generator of Python's bindings, where it is installed.
if python3 -c 'import cffi' 2>/dev/null; then
    python3 - "$work/declarations" <<'PYTHON' || fail "cffi cannot read the declarations"
import sys, cffi
ffi = cffi.FFI()
ffi.cdef(open(sys.argv[1]).read())
assert ffi.typeof("struct linattn_step_record").fields and ffi.typeof("enum linattn_status").relements["LINATTN_EINVAL"] == -1
PYTHON
fi

# ---- 4. Beside <complex>
for compiler in "$CXX" $other_cxx; do
    # shellcheck disable=SC2086
    for standard in c++11 c++17; do
        $compiler -std=$standard $warnings -fsyntax-only tests/headers/names.cpp || fail "$compiler: names.cpp"
    done
done
