#!/bin/sh
# What the library exports is exactly what is promised: check.sh <shared library> <static library>, from the top folder.
#   1. the shared library's symbols are those of the ledger, tests/abi/symbols.txt, and those the public headers declare;
#   2. every symbol of the static library begins with linattn_, so that it cannot clash with a program's own.
# check.sh --ledger <shared library> prints the ledger. A symbol may be added to it, but from version 1.0 on none may leave.
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

if [ "$1" = --ledger ]; then
    exported "$2"
    exit
fi

status=0
symbols=$(exported "$1")
compare "the library" "$symbols" "tests/abi/symbols.txt" "$(cat tests/abi/symbols.txt)" || status=1
compare "the library" "$symbols" "the public headers" "$(declared)" || status=1

stray=$(nm -g --defined-only "$2" | awk 'NF == 3 && $3 !~ /^linattn_/ { print $3 }')
if [ -n "$stray" ]; then
    echo "Symbols of $2 that do not begin with linattn_:" "$stray"
    status=1
fi
exit $status
