#!/bin/sh
# test_tune.sh: sweeps over learning rates that are killed and resumed, and what tune refuses. From the top folder:
#     test_tune.sh <build folder>
set -u

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

fail() {
    echo "test_tune: $*" >&2
    failures=$((failures + 1))
}

# run <wanted status> arguments...: output goes to $work/out and $work/err.
run() {
    wanted=$1
    shift
    "$build/examples/tune" "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq "$wanted" ] || fail "tune $* ended with $status, wanted $wanted: $(cat "$work/err")"
}
lines() { if [ -f "$1" ]; then wc -l <"$1" | tr -d ' '; else echo 0; fi; }
one_line_of_complaint() { # text that the line must hold
    [ "$(lines "$work/err")" -eq 1 ] || fail "wanted one line, got: $(cat "$work/err")"
    grep -qF -- "$1" "$work/err" || fail "wanted \"$1\" in: $(cat "$work/err")"
}
# The runs of a file in order, without header and blank lines, and without their seconds and checksums.
runs() { sed -e '/^#/d' -e '/^recipe,/d' -e '/^$/d' -e 's/,[^,]*,[^,]*$//' "$1" | LC_ALL=C sort; }

# ---- Killed 20 times, a few runs apart, and resumed: the file is that of an unbroken sweep, bit for bit but for the seconds.
small='--recipe depth2 --seeds 20 --steps 20 --batch 20 --eval-prompts 200'
# shellcheck disable=SC2086
run 0 $small --threads 2 --out "$work/unbroken"
[ "$(runs "$work/unbroken/tune_depth2_runs20.csv" | wc -l)" -ge 400 ] || fail "runs of the unbroken sweep"
runs "$work/unbroken/tune_depth2_runs20.csv" >"$work/unbroken.runs"
broken=$work/broken/tune_depth2_runs20.csv
check_broken() {
    runs "$broken" >"$work/broken.runs"
    cmp -s "$work/broken.runs" "$work/unbroken.runs" || fail "a sweep that was killed $kills times ends otherwise (seed $$)"
    [ -z "$(cut -d, -f1-5 "$work/broken.runs" | uniq -d)" ] || fail "a run is there twice (seed $$)"
    cmp -s "$work/broken/tune_depth2.csv" "$work/unbroken/tune_depth2.csv" || fail "errors by rate differ (seed $$)"
}
# On a busy machine a sweep may be over before it is killed often enough; another one then begins.
kills=0
awk -v seed=$$ 'BEGIN { srand(seed); for (i = 0; i < 200; i++) print int(10 * rand()) }' >"$work/moments"
while read -r more && [ $kills -lt 20 ]; do
    until=$(($(lines "$broken") + more))
    # shellcheck disable=SC2086
    "$build/examples/tune" $small --threads 2 --out "$work/broken" >"$work/out" 2>"$work/err" &
    while [ "$(lines "$broken")" -lt $until ] && kill -0 $! 2>/dev/null; do :; done
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    case $? in
    137) kills=$((kills + 1)) ;;
    0) check_broken && rm -r "$work/broken" ;;
    *) fail "a resumed sweep ends early (seed $$): $(cat "$work/err")" ;;
    esac
done <"$work/moments"
[ $kills -eq 20 ] || fail "killed $kills times only"
# shellcheck disable=SC2086
run 0 $small --threads 1 --out "$work/broken"
check_broken

# A sweep that is done is not done again; more seeds are only those that are missing.
cp "$broken" "$work/before"
# shellcheck disable=SC2086
run 0 $small --out "$work/broken"
cmp -s "$broken" "$work/before" || fail "a finished sweep was run again"
# shellcheck disable=SC2086
run 0 $small --seeds 21 --out "$work/broken"
[ "$(head -c "$(wc -c <"$work/before")" "$broken" | cksum)" = "$(cksum <"$work/before")" ] || fail "more seeds change earlier runs"

# ---- The rule: the lowest error is the best, and as many rates are added beyond an end as it takes.
awk -F, 'NR == 1 { if ($0 != "recipe,optimizer,learning_rate,median_error,low,high,seeds,diverged,best") bad = 1; next }
         { n[$2]++; if ($4 != "" && (!($2 in least) || $4 + 0 < least[$2])) { least[$2] = $4 + 0; at[$2] = $3 }
           if ($9) { best[$2] = $3; many[$2]++ } }
         END { for (k in n) if (n[k] < 10 || best[k] != at[k] || many[k] != 1) bad = 1
               exit bad || n["SGD"] == 0 || n["Adam"] == 0 }' \
    "$work/unbroken/tune_depth2.csv" || fail "the best rates: $(cat "$work/unbroken/tune_depth2.csv")"
one='--recipe setting1 --seeds 1 --batch 100 --eval-prompts 500'
# shellcheck disable=SC2086
run 0 $one --optimizer sgd --rates 1 --lr-low 1e-4 --steps 200 --out "$work/one"
# After 200 steps, the larger of rates so small is always the better one.
tried=$(cut -d, -f3 "$work/one/tune_setting1.csv" | tail -n +2 | tr '\n' ' ')
[ "$tried" = '0.00005 0.0001 0.0002 0.0005 0.001 0.002 0.005 0.01 ' ] ||
    fail "rates beyond the end: $(cat "$work/one/tune_setting1.csv")"
grep -q 'at the end of those that were tried' "$work/out" || fail "the end is not told: $(cat "$work/out")"
# Divergence counts as infinitely bad, and is no failure.
# shellcheck disable=SC2086
run 0 $one --optimizer adam --rates 2 --lr-low 1e200 --seeds 2 --steps 5 --out "$work/one"
grep -q '^setting1 .* none .* 4 of 4$' "$work/out" || fail "divergence: $(cat "$work/out")"
[ "$(runs "$work/one/tune_setting1_runs5.csv" | grep -c '^setting1,Adam,.*,5,1,[0-9]*,,$')" -eq 4 ] ||
    fail "diverged runs are not kept"

# ---- Bad input: one line, status not 0, no folder made or nothing in it changed.
refused() { # text arguments...
    text=$1
    shift
    run 2 --out "$work/never" "$@"
    one_line_of_complaint "$text"
    [ -e "$work/never" ] && fail "$* makes the folder"
}
refused 'setting1, setting2, setting3, sphere' --recipe depth2,depth3
refused 'name is ""' --recipe depth2,
refused '"depth2" twice' --recipe depth2,wide,depth2
refused 'allowed: sgd or adam' --optimizer sdg
refused '--rates is "0"; allowed' --rates 0
refused '--lr-low is "-1"' --lr-low -1
refused 'unknown option "--sead"' --sead 1
run 1 --quick --out "$work/no/such"
one_line_of_complaint 'its parent does not exist'
: >"$work/file"
run 1 --quick --out "$work/file"
one_line_of_complaint 'is not a folder'
mkdir -p "$work/place/tune_setting1_runs200.csv"
run 1 --quick --out "$work/place"
one_line_of_complaint 'cannot write'

kept() { # text arguments...: the sweep in $work/kept is refused and stays as it is
    text=$1
    shift
    cp "$work/kept/tune_depth2_runs20.csv" "$work/before"
    # shellcheck disable=SC2086
    run 1 $small --out "$work/kept" "$@"
    one_line_of_complaint "$text"
    cmp -s "$work/kept/tune_depth2_runs20.csv" "$work/before" || fail "$text: the file was changed"
}
mkdir "$work/kept"
cp "$broken" "$work/kept"
kept 'another sweep: "# prompts 20" there, "# prompts 30" here' --batch 30
kept 'another sweep: "# eval_prompts 200" there' --eval-prompts 300
head -c 5000 "$broken" >"$work/kept/tune_depth2_runs20.csv"
kept 'the line is cut off'
sed 's/^# liblinattn runs 1$/# liblinattn runs 2/' "$broken" >"$work/kept/tune_depth2_runs20.csv"
kept 'not a file of runs in format 1'
sed 's/,20,0,,0/,20,0,,1/' "$broken" >"$work/kept/tune_depth2_runs20.csv"
kept 'the line is damaged'
# A full disk; blocks of 512 or 1024 bytes.
cp "$work/before" "$work/unlimited"
(
    ulimit -f 4
    # shellcheck disable=SC2086
    run 1 $small --out "$work/full"
    one_line_of_complaint 'the runs before are kept'
    [ $failures -eq 0 ]
) || failures=$((failures + 1))
# shellcheck disable=SC2086
run 0 $small --out "$work/full"
runs "$work/full/tune_depth2_runs20.csv" | cmp -s - "$work/unbroken.runs" || fail "a full disk spoils what comes after it"

# ---- A second process.
"$build/examples/tune" --recipe depth2 --steps 1000000 --out "$work/busy" >/dev/null 2>&1 &
until [ -s "$work/busy/tune_depth2_runs1000000.csv" ] || ! kill -0 $! 2>/dev/null; do :; done
run 1 --recipe depth2 --steps 1000000 --out "$work/busy"
one_line_of_complaint 'is being written by another process'
kill -9 $!
wait $! 2>/dev/null

[ $failures -eq 0 ] && echo "tune: all as it should be"
[ $failures -eq 0 ]
