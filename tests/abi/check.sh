#!/bin/sh
# What the library exports is exactly what is promised: check.sh <shared library> <static library>, from the top folder. docs/abi.md
# says what the promise is.
#   1. the shared library's symbols are those of the ledger, tests/abi/symbols.txt, and those the public headers declare;
#   2. every symbol of the static library that others can see begins with linattn_, so that it cannot clash with a program's own;
#   3. the shared library needs no others than those listed below, and calls nothing that is the program's to call;
#   4. the headers are what programs were compiled with: tests/abi/interface.c, which is complete where Python can tell;
#   5. so are the library's functions, as its debugging information has them: libabigail and tests/abi/functions.abi.
# check.sh --ledger <shared library> writes the three ledgers anew. What is new may be added; nothing may leave or change.
set -eu
export LC_ALL=C

exported() {
    nm -D --defined-only "$1" | awk '{ print $3 }' | sort
}

# The names that LINATTN_API marks, after preprocessing, one declaration a line.
declared() {
    printf '#include "%s"\n' include/linattn/*.h | ${CC:-cc} -E -P -DLINATTN_API=LINATTN_PUBLIC -Iinclude -I. -x c - | tr '\n' ' ' |
        sed 's/LINATTN_PUBLIC/\n&/g' | sed -n 's/^LINATTN_PUBLIC[^(;]*[ *]\(linattn_[a-z0-9_]*\) *(.*/\1/p' | sort -u
}

# compare <name> <its symbols> <name> <its symbols>
compare() {
    [ "$2" = "$4" ] && return 0
    echo "Symbols of $1 (<) and of $3 (>) differ:"
    left=$(mktemp)
    printf '%s\n' "$2" >"$left"
    printf '%s\n' "$4" | diff "$left" - | grep '^[<>]' || true
    rm -f "$left"
    return 1
}

# functions_of <shared library> <file>: its functions for libabigail, without what shaped this build only.
functions_of() {
    abidw --exported-interfaces-only --headers-dir include/linattn --drop-private-types --suppressions tests/abi/functions.suppr \
        --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --no-elf-needed --type-id-style hash \
        --out-file "$2" "$1"
}

if [ "$1" = --ledger ]; then
    PYTHONDONTWRITEBYTECODE=1 python3 tools/abi.py
    functions_of "$2" tests/abi/functions.abi
    exported "$2" >tests/abi/symbols.txt
    exit
fi

status=0
symbols=$(exported "$1")
compare "the library" "$symbols" "tests/abi/symbols.txt" "$(cat tests/abi/symbols.txt)" || status=1
compare "the library" "$symbols" "the public headers" "$(declared)" || status=1

stray=$(nm -g --defined-only "$2" | awk 'NF >= 3 && $NF !~ /^linattn_/ { print $NF }')
if [ -n "$stray" ]; then
    echo "Symbols of $2 that do not begin with linattn_:" "$stray"
    status=1
fi

# LAPACKE for eigenvalues, singular values and least squares; BLAS because it is linked for those that LAPACKE calls; the system's.
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
    case $library in
    liblapacke.so.* | libblas.so.* | libm.so.* | libc.so.* | libpthread.so.* | ld-linux*.so.* | lib?san.so.*) ;;
    *) echo "$1 needs $library, which it must not" && status=1 ;;
    esac
done

# It never prints, exits, reads the environment, or sets a locale, a signal or what is done at the exit.
forbidden='printf|fprintf|puts|fputs|putchar|fwrite|perror|exit|_exit|abort|getenv|secure_getenv|setlocale|signal|sigaction|atexit|__cxa_atexit'
used=$(nm -D --undefined-only "$1" | sed 's/.* \([A-Za-z_0-9]*\).*/\1/' | grep -xE "$forbidden" || true)
case $needed in *san.so*) used= ;; esac # a sanitizer's own
if [ -n "$used" ]; then
    echo "$1 calls:" "$used"
    status=1
fi

${CC:-cc} -std=c11 -Iinclude -fsyntax-only tests/abi/interface.c || status=1
if python3 -c '' 2>/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 python3 tools/abi.py --check || status=1
else
    echo "skipped, no python3: whether tests/abi/interface.c is complete"
fi

if ! command -v abidiff >/dev/null 2>&1; then
    echo "skipped, no abidiff (Debian: abigail-tools): the library's functions against tests/abi/functions.abi"
elif ! readelf -h "$1" | grep -q 'Machine:.*X86-64' || ! readelf -S "$1" | grep -q '\.debug_info'; then
    echo "skipped, not x86-64 with -g: the library's functions against tests/abi/functions.abi"
else
    now=$(mktemp)
    functions_of "$1" "$now"
    abidiff --no-added-syms tests/abi/functions.abi "$now" || status=1
    rm -f "$now"
fi
exit $status
