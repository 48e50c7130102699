#!/bin/sh
# test_guide.sh: docs/guide.md does what it says, and so does its tool, examples/observe; links in all pages lead somewhere. From the
# top folder:
#     test_guide.sh <build folder>
# with CC and CFLAGS as they were for the build in the environment.
# The guide's first block of C is a program, and the others together are one; its blocks of text are what that one prints.
set -eu

CC=${CC:-cc} CFLAGS=${CFLAGS:-}
build=$(cd "$1" && pwd)
source=$(pwd)
export PKG_CONFIG_PATH="$build/pkgconfig"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

fail() {
    echo "test_guide: $*" >&2
    exit 1
}

# ---- Links: the file is there, and so is the heading, whose name is GitHub's: small letters, blanks as hyphens, no other signs.
headings() { sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g'; }
(cd "$source" && find ./*.md docs lib examples python tests -name '*.md') | while read -r page; do
    grep -o ']([^) ]*)' "$source/$page" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:' | while read -r link; do
        file=${link%%#*} anchor=${link#"${link%%#*}"}
        target=$source/$page
        [ -z "$file" ] || target=$source/$(dirname "$page")/$file
        [ -e "$target" ] || echo "$page: no $file"
        [ -z "$anchor" ] || [ ! -e "$target" ] || headings "$target" | grep -qxF -- "${anchor#?}" || echo "$page: no heading $link"
    done
done >links
[ ! -s links ] || fail "links that lead nowhere: $(cat links)"

# blocks <language>: the guide's blocks of it, each after a line with its number.
blocks() {
    awk -v fence='```'"$1" '$0 == fence { inside = 1; print "@" ++n; next } /^```/ { inside = 0 } inside' "$source/docs/guide.md"
}
blocks c >all
sed '1d; /^@2$/,$d' all >first.c
sed '1,/^@2$/d; /^@[0-9]*$/d' all >guide.c
blocks text | sed '/^@/d' >wanted
blocks sh | sed "/^@/d; s|^cc |$CC $CFLAGS |" >build.sh
for part in first.c guide.c wanted build.sh; do [ -s $part ] || fail "docs/guide.md has nothing for $part"; done

# ---- The first program, built by the line that stands there.
sh -e ./build.sh >out || fail "the first program is not built by: $(cat build.sh)"
grep -qF "$(pkg-config --modversion linattn)" out || fail "the first program prints: $(cat out)"

# ---- The other one, as strictly as the library.
# shellcheck disable=SC2046,SC2086
$CC -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror $CFLAGS guide.c $(pkg-config --cflags --libs linattn) -lm -o guide ||
    fail "the guide's program does not compile"
./guide >out 2>err || fail "the guide's program ends with $?: $(cat err)"
diff wanted out || fail "the guide's program prints other lines (>) than the guide has (<)"
[ ! -s err ] || fail "the guide's program complains: $(cat err)"
[ ! -e guide.checkpoint ] || fail "the guide's program leaves its checkpoint behind"

# ---- observe: a run in two parts looks as the whole one does.
observe=$build/examples/observe
rows() { grep '^ *[0-9]' "$1"; }
$observe --steps 50 --every 10 >whole
[ "$(rows whole | wc -l)" -eq 5 ] || fail "observe: rows of $(cat whole)"
$observe --steps 23 --every 10 --checkpoint half >part1
$observe --steps 50 --every 10 --checkpoint half --resume >part2
{ rows part1 && rows part2; } >parts
rows whole | diff - parts || fail "observe: resumed rows (>) are not those of the whole run (<)"
grep -q '^at step 50$' part2 || fail "observe: $(cat part2)"
# A largest number is no smaller than a median.
rows whole | awk '!($4 < $5 && $6 < 150 && $7 >= 1 && $8 >= 1) { bad = 1; print } END { exit bad }' || fail "observe: rows"

refused() { # status, text, arguments
    wanted_status=$1 text=$2 status=0
    shift 2
    $observe "$@" >out 2>err || status=$?
    [ $status -eq "$wanted_status" ] || fail "observe $* ends with $status: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "observe $*: wanted one line, got: $(cat err)"
    grep -qF -- "$text" err || fail "observe $*: wanted \"$text\" in: $(cat err)"
}
refused 2 '--resume needs --checkpoint' --resume
refused 2 'setting1, setting2' --recipe setting9
refused 1 'LINATTN_EIO' --quick --resume --checkpoint "$work/no/such"
refused 1 'LINATTN_EMISMATCH' --quick --resume --checkpoint half --recipe setting2
if command -v timeout >/dev/null; then
    status=0
    timeout --foreground --preserve-status -s INT 1 "$observe" --steps 10000000 --every 100000 --checkpoint stopped >out || status=$?
    [ $status -eq 130 ] || fail "observe, interrupted, ends with $status"
    grep -q 'stopped$' out || fail "observe, interrupted: $(cat out)"
    [ -s stopped ] || fail "observe, interrupted, saves nothing"
fi
echo "guide: as it says"
