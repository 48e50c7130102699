#!/bin/sh
# test_peer.sh: what tests/bench/peer/peer.py answers to bad options, and that it notices a result that cannot be written before it
# times anything. Needs no PyTorch; passes where there is no Python. From the top folder: test_peer.sh <build folder>
set -u

python3 -c '' 2>/dev/null || {
    echo 'peer: skipped, no python3'
    exit 0
}
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "test_peer: $*" >&2
    failures=$((failures + 1))
}

# refused <text that the one line must hold> option...
refused() {
    text=$1
    shift
    python3 tests/bench/peer/peer.py "$@" >"$work/out" 2>"$work/err" && fail "$*: status 0"
    [ ! -s "$work/out" ] || fail "$*: writes to stdout"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: wanted one line, got: $(cat "$work/err")"
    grep -qF -- "$text" "$work/err" || fail "$*: wanted \"$text\" in: $(cat "$work/err")"
}

python3 tests/bench/peer/peer.py --help >"$work/out" 2>"$work/err" || fail "--help ends with $?"
[ ! -s "$work/err" ] || fail "--help writes to stderr: $(cat "$work/err")"
for option in --peer --tasks --pairs --seconds --out; do
    grep -q -- "$option" "$work/out" || fail "--help does not tell of $option"
done
refused '--pairs is "0"; allowed: 1 to 1000' --pairs 0
refused '--pairs is "two"; allowed: 1 to 1000' --pairs two
refused '--seconds is "nan"; allowed: 0.001 to 60' --seconds nan
refused 'task "step_setting9" is unknown; known: step_setting1, ' --tasks step_setting1,step_setting9
refused 'tensorflow' --peer tensorflow
refused '--fast' --fast
touch "$work/file"
refused "$work/file: no files can be written there" --out "$work/file"
refused "$work/file/under: no files can be written there" --out "$work/file/under"
PYTHON=$work/file tests/bench/peer/run.sh "$work" >"$work/out" 2>"$work/err" && fail 'run.sh takes a Python that is none'
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "run.sh: wanted one line, got: $(cat "$work/err")"

[ $failures -eq 0 ] && echo 'peer: all as it should be'
[ $failures -eq 0 ]
