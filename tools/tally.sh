#!/bin/sh
# tally.sh: runs each argument as a shell command, all of them whatever fails, and ends with one line "N passed, N failed".
# WRAP, when set, stands before every command (a checker such as valgrind).
set -u

# `make -n` runs what mentions make itself: only show it then. Single-letter flags are the first word of MAKEFLAGS.
case ${MAKEFLAGS:=} in
-* | ' '*) ;;
*) case ${MAKEFLAGS%% *} in *n*)
    printf '%s\n' "$@"
    exit 0
    ;;
    esac ;;
esac

passed=0
failed=0
failures=
for command in "$@"; do
    printf '== %s\n' "$command"
    begun=$(date +%s)
    if (eval "${WRAP:-} $command"); then
        passed=$((passed + 1))
    else
        failures="${failures}FAILED (status $?, $(($(date +%s) - begun)) s): $command
"
        failed=$((failed + 1))
    fi
done
printf '%s%d passed, %d failed\n' "$failures" "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
