#!/bin/sh
# tally.sh: runs each argument as a shell command, all of them whatever fails, and ends with one line "N passed, N failed".
# Under `make -jN` N of them run side by side, and the output of each is shown when it ends.
# WRAP, when set, stands before every command (a checker such as valgrind).
set -u

# tally.sh --one <folder> <command>: one of them.
if [ "${1:-}" = --one ]; then
    begun=$(date +%s)
    printf '== %s\n' "$3"
    if (eval "${WRAP:-} $3"); then
        printf '%s\n' "$3" >>"$2/passed"
        printf '(%s s)\n' $(($(date +%s) - begun))
    else
        printf 'FAILED (status %s, %s s): %s\n' $? $(($(date +%s) - begun)) "$3" >>"$2/failed"
    fi
    exit 0
fi

# MAKEFLAGS begins with the single-letter flags, if any. `make -n` runs what mentions make itself: only show it then.
jobs=1
case ${MAKEFLAGS:=} in
-* | ' '*) ;;
*) case ${MAKEFLAGS%% *} in *n*) printf '%s\n' "$@" && exit ;; esac ;;
esac
for flag in $MAKEFLAGS; do
    case $flag in
    -j[1-9]*) jobs=${flag#-j} ;;
    --) break ;;
    esac
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
: >"$folder/passed"
: >"$folder/failed"
if [ "$jobs" -gt 1 ]; then
    export folder tally="$0"
    # The inner shell expands these.
    # shellcheck disable=SC2016
    printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" sh -c \
        'output=$(mktemp "$folder/output.XXXXXX"); "$tally" --one "$folder" "$1" >"$output" 2>&1; cat "$output"' tally
else
    for command in "$@"; do "$0" --one "$folder" "$command"; done
fi

failed=$(wc -l <"$folder/failed")
passed=$(wc -l <"$folder/passed")
cat "$folder/failed"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$((passed + failed))" -eq $# ] && [ $# -gt 0 ]
