#!/bin/sh
# test_examples.sh: the examples as a user meets them, and the program of README.md. From the top folder:
#     test_examples.sh <build folder>
# with CC and CFLAGS as they were for the build in the environment. Needs no gnuplot, but looks at the pictures when there is one.
set -u

CC=${CC:-cc} CFLAGS=${CFLAGS:-}
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

fail() {
    echo "test_examples: $*" >&2
    failures=$((failures + 1))
}

# run <wanted status> program arguments...: output goes to $work/out and $work/err.
run() {
    wanted=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq "$wanted" ] || fail "$* ended with $status, wanted $wanted: $(cat "$work/err")"
}

compare() { "$build/examples/adam_vs_sgd" "$@"; }
lines() { wc -l <"$1" | tr -d ' '; }
one_line_of_complaint() { # text that the line must hold
    [ "$(lines "$work/err")" -eq 1 ] || fail "wanted one line, got: $(cat "$work/err")"
    grep -qF -- "$1" "$work/err" || fail "wanted \"$1\" in: $(cat "$work/err")"
}
nothing_left() { # folder: no unfinished file is in it
    [ -z "$(find "$1" -name '*.part')" ] || fail "unfinished files in $1: $(ls "$1")"
}

# ---- The program of README.md: compiles, is quickstart.c but for remarks and line breaks, and prints what that one prints.
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' README.md >"$work/readme.c"
[ -s "$work/readme.c" ] || fail "README.md has no C program"
[ "$(lines "$work/readme.c")" -le 15 ] || fail "the program of README.md has grown to $(lines "$work/readme.c") lines"
# shellcheck disable=SC2086
if $CC -std=c11 -Wall -Wextra -Werror $CFLAGS -Iinclude "$work/readme.c" "$build/lib/liblinattn.a" -lm -pthread -o "$work/readme"; then
    run 0 "$work/readme"
    cp "$work/out" "$work/readme.out"
    run 0 "$build/examples/quickstart"
    cmp -s "$work/out" "$work/readme.out" || fail "README.md's program and quickstart print different lines"
    grep -q '^loss after 2000 steps: 0\.000[0-9]*$\|^loss after 2000 steps: 0\.00[12][0-9]*$' "$work/out" ||
        fail "quickstart's loss is not near 0.001: $(cat "$work/out")"
    [ -s "$work/err" ] && fail "quickstart writes to stderr: $(cat "$work/err")"
else
    fail "the program of README.md does not compile"
fi
tokens() { $CC -fpreprocessed -dD -E -P "$1" 2>/dev/null | tr -d ' \n\t'; }
[ "$(tokens "$work/readme.c")" = "$(tokens examples/quickstart.c)" ] ||
    fail "README.md's program is not that of examples/quickstart.c"

# ---- Setting 1 at step 2000 on 100000 prompts: SGD within a factor of 2.5 of a loss of 0.017, Adam of 0.0011.
mkdir "$work/s"
run 0 "$build/examples/adam_vs_sgd" --recipe setting1 --seeds 2 --steps 2000 --out "$work/s"
awk -F, 'NR > 1 && $4 == 2000 { seen++; wanted = $2 == "SGD" ? 0.017 : 0.0011
                                if ($6 > 2.5 * wanted || $6 < wanted / 2.5) { print; bad = 1 } }
         END { exit bad || seen != 4 }' "$work/s/adam_vs_sgd_setting1.csv" || fail "setting 1 does not end where it should"

# ---- own_objective: a right gradient, and two optimizers that agree on the minimum.
run 0 "$build/examples/own_objective"
[ -s "$work/err" ] && fail "own_objective writes to stderr: $(cat "$work/err")"
awk '$2 == "loss" { loss[++n] = $3 } END { d = loss[1] - loss[2]; exit !(n == 2 && d * d < 1e-8 && loss[1] < 0.6) }' "$work/out" ||
    fail "own_objective: Adam and AdaGrad do not agree: $(cat "$work/out")"

# ---- adam_vs_sgd: the files.
header=recipe,optimizer,seed,step,train_loss,eval_loss,grad_norm,clipped,learning_rate
run 0 compare --quick --threads 2 --out "$work/a"
cp "$work/out" "$work/table"
[ -s "$work/err" ] && ! grep -q gnuplot "$work/err" && fail "adam_vs_sgd writes to stderr: $(cat "$work/err")"
csv=$work/a/adam_vs_sgd_setting1.csv
[ "$(head -n 1 "$csv")" = "$header" ] || fail "header: $(head -n 1 "$csv")"
# 2 optimizers x 2 seeds x steps 0, 50, ... 600
[ "$(lines "$csv")" -eq $((1 + 2 * 2 * 13)) ] || fail "$(lines "$csv") lines in $csv"
awk -F, 'NR > 1 && (NF != 9 || $1 != "setting1" || $5 + 0 <= 0 || $6 + 0 <= 0 || $7 + 0 <= 0 || $9 + 0 != 0.02 ||
                    $8 != ($7 > 1)) { bad = 1; print } END { exit bad }' "$csv" || fail "rows above are wrong"
# Same start for both; batches shared, so also the same first training loss.
awk -F, '$4 == 0 { key = $3; row = $5 "," $6 "," $7; if (key in seen && seen[key] != row) bad = 1; seen[key] = row } END { exit bad }' \
    "$csv" || fail "SGD and Adam of a seed do not start from the same place"
awk -F, '$4 == 600 { loss[$2 $3] = $6 } END { exit !(loss["Adam0"] < loss["SGD0"] / 2 && loss["Adam1"] < loss["SGD1"] / 2) }' "$csv" ||
    fail "after 600 steps of setting 1 Adam is not ahead"
grep -q '^SGD .* 0 ' "$work/table" && grep -q '^Adam .* 0 ' "$work/table" || fail "table: $(cat "$work/table")"
nothing_left "$work/a"
if command -v gnuplot >/dev/null; then
    [ "$(head -c 4 "$work/a/adam_vs_sgd_setting1.png" | tail -c 3)" = PNG ] || fail "no PNG"
    tail -n 2 "$work/a/adam_vs_sgd_setting1.svg" | grep -q '</svg>' || fail "no whole SVG"
fi

# Threads change nothing but the time; a second run replaces the files.
run 0 compare --quick --threads 1 --out "$work/b" --steps 120 --eval-prompts 1000
run 0 compare --quick --threads 3 --out "$work/a" --steps 120 --eval-prompts 1000
cmp -s "$work/a/adam_vs_sgd_setting1.csv" "$work/b/adam_vs_sgd_setting1.csv" || fail "the number of threads changes the numbers"
[ "$(lines "$csv")" -eq $((1 + 2 * 2 * 4)) ] || fail "120 steps: rows are not those of 0, 50, 100, 120"

# Heavy tails come with medians.
run 0 compare --recipe setting3 --quick --steps 60 --eval-prompts 1000 --out "$work/a"
[ "$(head -n 1 "$work/a/adam_vs_sgd_setting3_medians.csv")" = recipe,optimizer,seed,step,median_error ] || fail "medians: header"
[ "$(lines "$work/a/adam_vs_sgd_setting3_medians.csv")" -eq 13 ] || fail "medians: rows"
grep -q 'not reliable' "$work/out" || fail "setting 3 does not warn of its mean"

# A run that diverges is told, counted and left out.
run 0 compare --quick --steps 100 --eval-prompts 1000 --lr-sgd 1e200 --out "$work/a"
grep -q '^SGD, seed 1: diverged at step [0-9]' "$work/out" || fail "divergence is not told: $(cat "$work/out")"
grep -q '^SGD .* 2 ' "$work/out" || fail "divergence is not counted: $(cat "$work/out")"
grep -qi 'nan\|inf' "$csv" && fail "NaN or Inf in $csv"

# Untuned recipes run once they are given rates.
run 0 compare --recipe depth2 --lr-sgd 0.02 --lr-adam=0.02 --seeds 1 --steps 1 --batch 7 --eval-prompts 1 --out "$work/a"
[ "$(lines "$work/a/adam_vs_sgd_depth2.csv")" -eq 5 ] || fail "depth2, one step: rows"

# ---- Bad options: status 2 and one line on stderr, nothing on stdout, no folder.
refused() { # text arguments...
    text=$1
    shift
    run 2 compare --out "$work/never" "$@"
    one_line_of_complaint "$text"
    [ -s "$work/out" ] && fail "$* writes to stdout"
    [ -e "$work/never" ] && fail "$* makes the folder"
}
refused 'unknown option "--sead"' --sead 1
refused 'unknown option "run"' run
refused '--seeds needs a value' --seeds
for bad in 0 -1 1.5 x '' 1e3 99999999999999999999; do refused '--seeds is' --seeds "$bad"; done
for bad in 0 -5 10000; do refused '--threads is' --threads "$bad"; done
for bad in 0 -0.1 nan inf 0.1x 0,1 ''; do refused '--lr-sgd is' --lr-sgd "$bad"; done
refused '--steps is' --steps 0
refused '--batch is' --batch 4294967296
refused '--eval-prompts is' --eval-prompts=-3
refused '--quick takes no value' --quick=1
refused 'setting1, setting2, setting3, sphere' --recipe settong1
refused '--lr-sgd X' --recipe depth4
refused '--lr-adam X' --recipe depth4 --lr-sgd 0.01
refused '--out is empty' --out ''
refused 'unknown option' "--new
line"
run 0 compare --help
grep -q 'usage' "$work/out" && grep -q -- '--lr-adam' "$work/out" && grep -q 'depth4' "$work/out" || fail "--help: $(cat "$work/out")"

# ---- Folders and files that cannot be written: status 1 and one line.
: >"$work/file"
run 1 compare --quick --out "$work/file"
one_line_of_complaint 'is not a folder'
run 1 compare --quick --out "$work/no/such"
one_line_of_complaint 'its parent does not exist'
mkdir -p "$work/c/adam_vs_sgd_setting1.csv" # a folder in the file's place
run 1 compare --quick --steps 1 --eval-prompts 1 --out "$work/c"
one_line_of_complaint 'cannot write'
nothing_left "$work/c"
if [ -c /dev/full ]; then
    compare --quick --steps 1 --eval-prompts 1 --out "$work/a" >/dev/full 2>"$work/err"
    [ $? -eq 1 ] || fail "a full disk behind stdout goes unnoticed"
fi
(
    ulimit -f 1 # blocks of 512 or 1024 bytes, much less than the CSV of 600 steps
    compare --quick --batch 10 --eval-prompts 1 --out "$work/d" >/dev/null 2>"$work/err"
    [ $? -eq 1 ]
) || fail "a full disk goes unnoticed: $(cat "$work/err")"
[ -z "$(ls "$work/d")" ] || fail "left behind on a full disk: $(ls -a "$work/d")"

# ---- Without gnuplot: a note, the numbers, status 0.
mkdir "$work/empty"
run 0 env PATH="$work/empty" "$build/examples/adam_vs_sgd" --quick --steps 1 --eval-prompts 1 --out "$work/e"
one_line_of_complaint 'gnuplot is not installed'
[ "$(ls "$work/e")" = adam_vs_sgd_setting1.csv ] || fail "without gnuplot there is: $(ls "$work/e")"

# ---- SIGINT: status 130, one line, no file. `timeout` resets the signal's disposition, which a shell's background job would not have;
# --foreground, or it signals twice, and the second one ends the program at once.
if command -v timeout >/dev/null; then
    run 130 timeout --foreground --preserve-status -s INT 1 "$build/examples/adam_vs_sgd" --steps 1000000 --seeds 3 --out "$work/f"
    one_line_of_complaint 'interrupted'
    [ -z "$(ls -A "$work/f")" ] || fail "an interrupted run leaves: $(ls -A "$work/f")"
fi

[ $failures -eq 0 ] && echo "examples: all as they should be"
[ $failures -eq 0 ]
