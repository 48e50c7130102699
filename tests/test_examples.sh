#!/bin/sh
# test_examples.sh: the examples as a user meets them, and the lines of C in README.md. From the top folder:
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

# ---- The lines of README.md are quickstart.c's own, one after the other but for its remarks.
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' README.md >"$work/readme.c"
[ "$(lines "$work/readme.c")" -ge 8 ] || fail "README.md has no lines of C"
[ "$(lines "$work/readme.c")" -le 15 ] || fail "the lines of C in README.md have grown to $(lines "$work/readme.c")"
sed '/^ *\/\*.*\*\/$/d; s/^ *//' examples/quickstart.c | awk -v first="$(head -n 1 "$work/readme.c")" -v count="$(lines "$work/readme.c")" '
    $0 == first { left = count } left-- > 0' >"$work/quickstart.c"
cmp -s "$work/readme.c" "$work/quickstart.c" || fail "lines of C in README.md are not those of examples/quickstart.c"
run 0 "$build/examples/quickstart"
[ -s "$work/err" ] && fail "quickstart writes to stderr: $(cat "$work/err")"
grep -q '^loss after 2000 steps: 0\.000[0-9]*$\|^loss after 2000 steps: 0\.00[12][0-9]*$' "$work/out" ||
    fail "quickstart's loss is not near 0.001: $(cat "$work/out")"

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

# A rate on the command line is used in place of the recipe's.
run 0 compare --recipe depth2 --lr-sgd 0.03 --lr-adam=0.04 --seeds 1 --steps 1 --batch 7 --eval-prompts 1 --out "$work/a"
[ "$(lines "$work/a/adam_vs_sgd_depth2.csv")" -eq 5 ] || fail "depth2, one step: rows"
awk -F, 'NR > 1 && $9 != ($2 == "SGD" ? 0.03 : 0.04) { bad = 1 } END { exit bad }' "$work/a/adam_vs_sgd_depth2.csv" ||
    fail "depth2: rates that were given are not used"

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
refused '--out is empty' --out ''
refused 'unknown option' "--new
line"
run 0 compare --help
grep -q 'usage' "$work/out" && grep -q -- '--lr-adam' "$work/out" && grep -q 'depth4' "$work/out" || fail "--help: $(cat "$work/out")"

# ---- The programs that measure: their options, files, numbers; threads change nothing.
programs='condition_number directional_smoothness generalized_smoothness gradient_error'
program() { # name arguments...
    name=$1
    shift
    run 0 "$build/examples/$name" "$@"
    [ -s "$work/err" ] && ! grep -q gnuplot "$work/err" && fail "$name writes to stderr: $(cat "$work/err")"
}
table_of() { # file header rows: all rows have the header's fields
    [ "$(head -n 1 "$1")" = "$2" ] || fail "$1: header $(head -n 1 "$1")"
    [ "$(lines "$1")" -eq $((1 + $3)) ] || fail "$1: $(lines "$1") lines, wanted $((1 + $3))"
    awk -F, 'NR == 1 { fields = NF } NF != fields || (NR > 1 && $1 != "setting1") { exit 1 }' "$1" || fail "$1: fields or recipe"
}
pictures_of() {
    command -v gnuplot >/dev/null || return
    [ "$(head -c 4 "$1.png" | tail -c 3)" = PNG ] || fail "no $1.png"
    tail -n 2 "$1.svg" | grep -q '</svg>' || fail "no whole $1.svg"
}
not_usable() { # program text arguments...
    name=$1 text=$2
    shift 2
    run 2 "$build/examples/$name" --out "$work/never" "$@"
    one_line_of_complaint "$text"
    [ -s "$work/out" ] && fail "$name $* writes to stdout"
    [ -e "$work/never" ] && fail "$name $* makes the folder"
}
for name in $programs; do
    not_usable "$name" 'unknown option "--sead"' --sead 1
    not_usable "$name" '--seeds is' --seeds 0
    not_usable "$name" '--threads is' --threads x
    not_usable "$name" 'setting1, setting2, setting3, sphere' --recipe settong1
    program "$name" --help
    grep -q 'usage' "$work/out" && grep -q -- '--recipe' "$work/out" || fail "$name --help: $(cat "$work/out")"
    run 1 "$build/examples/$name" --quick --out "$work/file-that-is-none/folder"
    one_line_of_complaint 'its parent does not exist'
done
not_usable generalized_smoothness '--optimizer is "lion"; allowed: sgd or adam' --optimizer lion
not_usable generalized_smoothness '--steps is 3' --steps 3
not_usable gradient_error '--samples is 19' --samples 19
for bad in 1250,750 750,750 , 750, x 1,2,3,4,5,6,7,8,9; do not_usable condition_number '--at is' --at "$bad"; done
not_usable condition_number '--steps and --at are both given' --steps 100 --at 50
not_usable condition_number '--at is for the table' --curve --at 5
not_usable condition_number '--eval-batches is for the table' --curve --eval-batches 2

# condition_number: 2 optimizers x 4 seeds x 2 steps x 3 batches.
m=$work/m
header=recipe,optimizer,seed,step,batch,r_eigen,r_diagonal,smallest,largest,median_eigen,zeros,negatives,r_eigen_preconditioned
program condition_number --quick --threads 2 --at 100,200 --out "$m"
csv=$m/condition_number_setting1.csv
table_of "$csv" $header 48
pictures_of "$m/condition_number_setting1"
# The condition number from the extremes; the last P moves nothing, so 25 eigenvalues are 0; only Adam has a preconditioner.
awk -F, 'function near(a, b) { return a < b * 1.000001 && b < a * 1.000001 }
         NR > 1 { top = -$8 > $9 ? -$8 : $9
                  if (!near($6, top / $10) || $7 < 1 || $11 < 25 || ($2 == "SGD") != ($13 == "nan")) { print; bad = 1 } }
         END { exit bad }' "$csv" || fail "condition_number: rows above are wrong"
# The table's geometric mean of the ratios, again from the file.
awk -F, '$4 == 200 { sum += ($2 == "SGD" ? 1 : -1) * log($7) } END { printf "%.3g\n", exp(sum / 12) }' "$csv" >"$work/ratio"
grep -q "^200 *diagonal .* $(cat "$work/ratio") \[" "$work/out" ||
    fail "condition_number: ratio $(cat "$work/ratio") is not in: $(cat "$work/out")"
awk -F, '$2 == 200 && $3 == "diagonal" { printf "%.3g\n", $7 }' "$m/condition_number_setting1_summary.csv" | cmp -s - "$work/ratio" ||
    fail "condition_number: ratio $(cat "$work/ratio") is not in: $(cat "$m/condition_number_setting1_summary.csv")"
program condition_number --quick --threads 1 --seeds 3 --at 5 --eval-prompts 100 --out "$m"
cp "$csv" "$work/one"
program condition_number --quick --threads 2 --seeds 3 --at 5 --eval-prompts 100 --out "$m"
cmp -s "$csv" "$work/one" || fail "condition_number: the number of threads changes the numbers"
program condition_number --seeds 1 --eval-batches 1 --at 750,1250 --eval-prompts 50 --batch 1 --out "$m"
grep -q '^750 .* 1\.76 (0\.40) *2\.57 (0\.91)' "$work/out" && grep -q '^1250 .* 1\.58 (0\.41) *1\.3 (0\.78)' "$work/out" ||
    fail "condition_number: published figures: $(cat "$work/out")"
grep -q 'nan' "$work/out" && fail "condition_number, one seed: nan in $(cat "$work/out")"
program condition_number --quick --at 5 --lr-sgd 1e200 --out "$m"
grep -q '^Diverged: 4 runs of SGD, 0 of Adam' "$work/out" && grep -q '^5 *diagonal *no seed is left' "$work/out" ||
    fail "condition_number: divergence is not told: $(cat "$work/out")"
program condition_number --quick --curve --steps 260 --out "$m"
table_of "$m/condition_number_setting1_curve.csv" $header 12 # 2 optimizers x 2 seeds x steps 0, 250, 260
pictures_of "$m/condition_number_setting1_curve"

# gradient_error: the table's mean again from the file; noise that is Gaussian has no excess kurtosis to speak of.
program gradient_error --quick --seeds 2 --threads 2 --out "$m"
csv=$m/gradient_error_setting1.csv
table_of "$csv" recipe,seed,sample,measured,surrogate,measure 2000
pictures_of "$m/gradient_error_setting1"
awk -F, '$2 == 1 { sum += $4 } END { printf "%.4g\n", sum / 1000 }' "$csv" >"$work/mean"
grep -q "^1 *measured *$(cat "$work/mean") " "$work/out" || fail "gradient_error: mean $(cat "$work/mean"): $(cat "$work/out")"
awk -F, '$2 == 1 { printf "%.4g\n", $3 }' "$m/gradient_error_setting1_summary.csv" | cmp -s - "$work/mean" ||
    fail "gradient_error: mean $(cat "$work/mean") is not in: $(cat "$m/gradient_error_setting1_summary.csv")"
awk -F, 'NR > 1 { n++; m += $4; s += $5 } END { m /= n; s /= n; exit !(m > 1.5 && m < 2.8 && s / m > 0.97 && s / m < 1.03) }' "$csv" ||
    fail "gradient_error: means of setting 1"
program gradient_error --samples 50 --steps 20 --optimizer sgd --threads 1 --out "$m"
csv=$m/gradient_error_setting1_sgd20.csv
table_of "$csv" recipe,seed,sample,measured,surrogate,measure 50
cut -d, -f1-4 "$csv" >"$work/one"
program gradient_error --samples 50 --steps 20 --optimizer sgd --threads 2 --out "$m"
cut -d, -f1-4 "$csv" | cmp -s - "$work/one" || fail "gradient_error: the number of threads changes the numbers"
run 1 "$build/examples/gradient_error" --samples 20 --steps 20 --optimizer sgd --lr-sgd 1e200 --out "$m"
one_line_of_complaint 'diverged at step'

# directional_smoothness: both optimizers of a seed begin at the same gradient.
header=recipe,optimizer,seed,step,smoothness,gradient_ratio,gradient_norm,zero_step
program directional_smoothness --quick --threads 2 --out "$m"
csv=$m/directional_smoothness_setting1.csv
table_of "$csv" $header 52
pictures_of "$m/directional_smoothness_setting1"
awk -F, '$4 == 0 { key = $3; if (key in seen && seen[key] != $7) bad = 1; seen[key] = $7 } END { exit bad }' "$csv" ||
    fail "directional_smoothness: SGD and Adam of a seed do not start from the same place"
awk -F, '$4 >= 300 { n[$2]++; sum[$2] += log($5) } END { exit !(sum["SGD"] / n["SGD"] > sum["Adam"] / n["Adam"] + 1) }' "$csv" ||
    fail "directional_smoothness: along Adam's steps setting 1 is not the smoother"
program directional_smoothness --seeds 2 --steps 60 --stride 7 --threads 1 --out "$m"
cp "$csv" "$work/one"
program directional_smoothness --seeds 2 --steps 60 --stride 7 --threads 2 --out "$m"
cmp -s "$csv" "$work/one" || fail "directional_smoothness: the number of threads changes the numbers"
table_of "$csv" $header 40

# generalized_smoothness: no curvature along a step is above the spectral norm.
program generalized_smoothness --quick --threads 2 --out "$m"
csv=$m/generalized_smoothness_setting1.csv
table_of "$csv" $header,spectral_norm 299
pictures_of "$m/generalized_smoothness_setting1"
awk -F, 'NR > 1 && ($9 != "") != ($4 % 20 == 0) { bad = 1 } NR > 1 && $9 != "" && ($5 > $9 || -$5 > $9) { bad = 1 } END { exit bad }' \
    "$csv" || fail "generalized_smoothness: spectral norms"
# The slope of the logarithms by least squares, again from the file.
awk -F, 'NR > 1 && $5 > 0 { x = log($7); y = log($5); n++; sx += x; sy += y; sxx += x * x; sxy += x * y }
         END { printf "%.4f\n", (n * sxy - sx * sy) / (n * sxx - sx * sx) }' "$csv" >"$work/slope"
awk -F, '$4 == "along_steps" { printf "%.4f\n", $5 }' "$m/generalized_smoothness_setting1_fits.csv" | cmp -s - "$work/slope" ||
    fail "generalized_smoothness: slope $(cat "$work/slope") is not in: $(cat "$m/generalized_smoothness_setting1_fits.csv")"
program generalized_smoothness --seeds 2 --steps 60 --optimizer SGD --threads 1 --out "$m"
csv=$m/generalized_smoothness_setting1_sgd.csv
cp "$csv" "$work/one"
program generalized_smoothness --seeds 2 --steps 60 --optimizer sgd --threads 2 --out "$m"
cmp -s "$csv" "$work/one" || fail "generalized_smoothness: the number of threads changes the numbers"
nothing_left "$m"

# ---- real_covariates: the table of wines, tables of the user's, and tables that are none.
header=table,optimizer,seed,step,train_loss,eval_loss,grad_norm,clipped,learning_rate
program real_covariates --quick --columns 5 --threads 2 --out "$m"
csv=$m/real_covariates_wine_d5.csv
grep -q '^examples/data/wine.csv: 178 rows; covariates: alcohol, malic acid, ash, alcalinity of ash, magnesium$' "$work/out" ||
    fail "real_covariates: columns: $(cat "$work/out")"
[ "$(head -n 1 "$csv")" = $header ] || fail "real_covariates: header $(head -n 1 "$csv")"
[ "$(lines "$csv")" -eq $((1 + 2 * 2 * 7)) ] || fail "real_covariates: $(lines "$csv") lines" # steps 0, 50, ... 300
awk -F, 'NR > 1 && (NF != 9 || $1 != "wine_d5" || $6 + 0 <= 0 || $9 + 0 != 0.02) { bad = 1 } END { exit bad }' "$csv" ||
    fail "real_covariates: rows"
awk -F, '$4 == 300 { loss[$2 $3] = $6 } END { exit !(loss["Adam0"] < loss["SGD0"] && loss["Adam1"] < loss["SGD1"]) }' "$csv" ||
    fail "after 300 steps on wines Adam is not ahead"
pictures_of "$m/real_covariates_wine_d5"
[ "$(head -n 1 "$m/real_covariates_wine_d5_medians.csv")" = table,optimizer,seed,step,median_error ] || fail "real_covariates: medians"
cp "$csv" "$work/one"
program real_covariates --quick --columns 5 --threads 1 --out "$m"
cmp -s "$csv" "$work/one" || fail "real_covariates: the number of threads changes the numbers"
# The correlation matrix of all 13 columns has eigenvalues 4.7059 to 0.1034, as published principal components of these data have.
program real_covariates --quick --steps 1 --eval-prompts 10 --batch 10 --out "$m"
grep -q 'covariance: 45\.5[0-9]* standardised (eigenvalues 0\.103 to 4\.71)' "$work/out" || fail "condition number: $(cat "$work/out")"
# Correlation 0.6, so (1 + 0.6) / (1 - 0.6); the first column is ten times as wide.
printf 'x,y\n10,1\n10,1\n10,1\n10,1\n-10,-1\n-10,-1\n-10,-1\n-10,-1\n10,-1\n-10,1\n' >"$work/own.csv"
program real_covariates --table "$work/own.csv" --seeds 1 --steps 1 --eval-prompts 10 --out "$m"
grep -q 'covariance: 4 standardised (eigenvalues 0\.4 to 1\.6)' "$work/out" || fail "condition number of two columns: $(cat "$work/out")"
[ -s "$m/real_covariates_own_d2.csv" ] || fail "real_covariates: a table's name is not in the files'"
# The rate of the lowest median is the one that is used afterwards.
program real_covariates --table "$work/own.csv" --tune --seeds 1 --steps 40 --eval-prompts 500 --out "$m"
awk '/^(SGD|Adam) +rate/ { who = $1; for (i = 3; i <= NF; i++) rate[i] = $i }
     $1 == "median" { best = 0; for (i = 2; i <= NF; i++) if ($i != "diverged" && (!best || $i + 0 < $best + 0)) best = i
                    wanted[who] = rate[best + 1] }
     /^(SGD|Adam) +[0-9]/ && $2 != wanted[$1] { bad = 1 }
     END { exit bad || !("SGD" in wanted && "Adam" in wanted) }' "$work/out" || fail "real_covariates --tune: $(cat "$work/out")"
[ -s "$m/real_covariates_own_d2_tuned.csv" ] || fail "real_covariates --tune: files"
not_usable real_covariates 'unknown option "--sead"' --sead 1
not_usable real_covariates '--columns is "0"' --columns 0
not_usable real_covariates '--columns is 14; allowed: 1 to 13' --columns 14
not_usable real_covariates '--table is empty' --table ''
not_usable real_covariates '--seeds is' --seeds x
program real_covariates --help
grep -q 'usage' "$work/out" && grep -q -- '--table' "$work/out" || fail "real_covariates --help: $(cat "$work/out")"
unreadable() { # text arguments...: status 1, one line, no folder
    text=$1
    shift
    run 1 "$build/examples/real_covariates" --out "$work/never" "$@"
    one_line_of_complaint "$text"
    [ -e "$work/never" ] && fail "real_covariates $* makes the folder"
}
unreadable 'No such file or directory' --table "$work/nowhere.csv"
unreadable 'Is a directory' --table "$work"
printf 'x,y\n1,2\n3,red\n' >"$work/bad.csv"
unreadable 'line 3, column 2 (y): not a number: "red"' --table "$work/bad.csv"
printf 'x,y\n1,2\n3,2\n' >"$work/bad.csv"
unreadable 'column 1 of covariate_table (counted from 0) is 2 in all rows (2)' --table "$work/bad.csv"
nothing_left "$m"

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

# ---- softmax_vs_linear: three kinds of attention measured along the way.
header=attention,optimizer,seed,step,eval_loss,grad_norm,r_diagonal,r_eigenvalues,smoothness,stable_rank
small='--seeds 2 --steps 40 --stride 20 --batch 100 --eval-prompts 500'
# shellcheck disable=SC2086
program softmax_vs_linear $small --threads 2 --out "$m"
csv=$m/softmax_vs_linear_setting1.csv
[ "$(head -n 1 "$csv")" = $header ] || fail "softmax_vs_linear: header $(head -n 1 "$csv")"
[ "$(lines "$csv")" -eq $((1 + 3 * 2 * 2 * 3)) ] || fail "softmax_vs_linear: $(lines "$csv") lines" # 3 kinds, steps 0, 20, 40
# One seed has the same initial P and Q for linear and softmax, so their Q has the same rank; R >= 1; ranks are from 1 to d.
awk -F, 'NR > 1 { if (NF != 10 || $7 < 1 || $8 < 1 || $10 < 1 || $10 > 5) bad = 1
                  if ($4 == 0 && $2 == "SGD") rank[$1 $3] = $10 }
         END { exit bad || rank["linear0"] != rank["softmax0"] || rank["linear1"] != rank["softmax1"] || rank["linear0"] == rank["linear1"] }' \
    "$csv" || fail "softmax_vs_linear: rows"
# Small scores make softmax attention nearly even, ln 20 = 2.9957; linear attention's sizes are those of |normal| variables.
[ "$(head -n 1 "$m/softmax_vs_linear_setting1_attention.csv")" = \
    attention,optimizer,seed,step,layer,entropy,largest,top3_share,smallest_to_largest,least_ratio ] || fail "softmax_vs_linear: attention"
awk -F, 'NR > 1 && $4 == 0 && $1 == "softmax" && ($6 < 2.9 || $6 > 2.9958 || $8 < 3 * $9 / 20 || $8 > 3 * $7) { bad = 1 }
         NR > 1 && $4 == 0 && $1 == "linear" && ($6 < 2.6 || $6 > 2.85) { bad = 1 }
         NR > 1 && !(0 < $10 && $10 < $9 && $9 < 1) { bad = 1 } END { exit bad }' \
    "$m/softmax_vs_linear_setting1_attention.csv" || fail "softmax_vs_linear: entropies"
for picture in '' _diagnostics _attention _sparsity; do pictures_of "$m/softmax_vs_linear_setting1$picture"; done
cp "$csv" "$work/one"
# shellcheck disable=SC2086
program softmax_vs_linear $small --threads 1 --out "$m"
cmp -s "$csv" "$work/one" || fail "softmax_vs_linear: the number of threads changes the numbers"
not_usable softmax_vs_linear '--stride is "0"' --stride 0
# shellcheck disable=SC2086
program softmax_vs_linear $small --recipe softmax --out "$m"
awk -F, '$4 == 0 && $3 == 0 && $2 == "SGD" { loss[$1] = $5 } END { exit loss["linear"] == loss["softmax"] }' \
    "$m/softmax_vs_linear_softmax.csv" || fail "softmax_vs_linear --recipe softmax: linear attention is softmax too"
not_usable softmax_vs_linear 'unknown option "--sead"' --sead 1

# ---- adam_vs_sgd on a finite data set: at full batch every step sees the same prompts, so at rate 0 the loss stays; a feed-forward
# block.
run 0 compare --seeds 1 --steps 100 --lr-sgd 1e-300 --lr-adam 1e-300 --data-set 50 --batch 50 --eval-prompts 10 --out "$m"
awk -F, 'NR > 1 { loss[$5] = 1 } END { n = 0; for (l in loss) n++; exit n != 1 }' "$m/adam_vs_sgd_setting1_full50.csv" ||
    fail "the full batch changes from step to step"
run 0 compare --seeds 1 --steps 1 --ff-hidden 3 --batch 20 --eval-prompts 10 --out "$m"
[ -s "$m/adam_vs_sgd_setting1_ff3.csv" ] || fail "adam_vs_sgd --ff-hidden: files"
not_usable adam_vs_sgd '--batch is 1000; allowed: 1 to --data-set, which is 50' --data-set 50
run 1 "$build/examples/adam_vs_sgd" --tune --lr-sgd 1e200 --seeds 1 --steps 20 --batch 10 --eval-prompts 10 --out "$m"
one_line_of_complaint 'SGD diverges at every rate'
not_usable adam_vs_sgd '--batch is 60; allowed: 1 to --data-set, which is 50' --data-set 50 --batch 60

# ---- prompt_condition: orthonormal keys have the spread of |b|^2 for a condition number; linear attention does not know of R; with d
# far below n N, scaled teachers grow ill-conditioned, half active ones do not.
q=$work/q
program prompt_condition --quick --threads 2 --out "$q"
[ "$(head -n 1 "$q/prompt_condition.csv")" = \
    recipe,profile,seed,asked_ratio,ratio_median,ratio_smallest,condition,bound,ratio_bound,spread,effective_examples ] ||
    fail "prompt_condition: header $(head -n 1 "$q/prompt_condition.csv")"
[ "$(lines "$q/prompt_condition.csv")" -eq $((1 + 4 * 5 * 3 * 14)) ] || fail "prompt_condition: $(lines "$q/prompt_condition.csv") lines"
awk -F, 'NR > 1 && (NF != 11 || $7 < 1) { bad = 1 }
         $1 == "over" && $2 != "linear" && ($7 / $10 < 1 - 1e-9 || $7 / $10 > 1 + 1e-9) { bad = 1 }
         NR > 1 && $8 != "" && ($7 > $8 * (1 + 1e-9) || ($9 != "" && $8 > $9 * (1 + 1e-9))) { bad = 1 }
         $2 == "linear" && $4 == 1 { first[$1 $3] = $7 }
         $2 == "linear" && ($7 / first[$1 $3] < 1 - 1e-9 || $7 / first[$1 $3] > 1 + 1e-9) { bad = 1 }
         END { exit bad }' "$q/prompt_condition.csv" || fail "prompt_condition: rows"
awk -F, '$1 ~ /^under/ && $3 == 1 { first[$1 $2] = $6 }
         $1 ~ /^under/ && $3 + 0 == 1e-20 { ratio = $6 / first[$1 $2]
                                      if ($2 == "scaled" && ratio < 20) bad = 1
                                      if ($2 == "half active" && ratio > 2) bad = 1
                                      seen++ }
         END { exit bad || seen != 10 }' "$q/prompt_condition_summary.csv" || fail "prompt_condition: summary"
[ "$(grep -c '^Bounds crossed in 0 of 210 systems' "$work/out")" -eq 2 ] || fail "prompt_condition: bounds: $(cat "$work/out")"
pictures_of "$q/prompt_condition"
pictures_of "$q/prompt_condition_spread"
cp "$q/prompt_condition.csv" "$work/one"
program prompt_condition --quick --threads 1 --out "$q"
cmp -s "$q/prompt_condition.csv" "$work/one" || fail "prompt_condition: the number of threads changes the numbers"
not_usable prompt_condition '--recipe is "setting1"; known: under5 under20 over over_gaussian' --recipe setting1
not_usable prompt_condition 'unknown option "--sead"' --sead 1

# ---- prompt_rate: rates are those predicted where the descent ends; for linear attention that is as good as the teacher; at the same
# sparsity a temperature changes nothing.
program prompt_rate --quick --threads 2 --out "$q"
[ "$(lines "$q/prompt_rate_over.csv")" -eq $((1 + 5 * 6)) ] || fail "prompt_rate: $(lines "$q/prompt_rate_over.csv") lines"
awk -F, '$16 == 1 { seen++; ratio = $11 / $12; if (ratio < 0.95 || ratio > 1.05) bad = 1 }
         $2 == "linear" && ($12 / $13 < 1 - 1e-6 || $12 / $13 > 1 + 1e-6) { bad = 1 }
         END { exit bad || seen < 20 }' "$q/prompt_rate_over.csv" || fail "prompt_rate: rates"
awk -F, 'NR == 2 { rate = $11 } NR > 1 && NR < 9 && ($11 / rate < 1 - 1e-3 || $11 / rate > 1 + 1e-3) { bad = 1 }
         END { exit bad || NR != 15 }' "$q/prompt_rate_over_temperature.csv" || fail "prompt_rate: temperatures"
pictures_of "$q/prompt_rate_over"
pictures_of "$q/prompt_rate_over_temperature"
not_usable prompt_rate '--recipe is "under5"; known: over over_gaussian' --recipe under5
not_usable prompt_rate '--steps is "0"' --steps 0

# ---- prompt_descent: all rules start alike, at a distance of |p*|; linear attention finds all of the teacher that examples see.
program prompt_descent --recipe over --quick --threads 2 --out "$q"
[ "$(head -n 1 "$q/prompt_descent_over.csv")" = recipe,task,rule,seed,step,loss,distance,distance_seen ] || fail "prompt_descent: header"
awk -F, 'NR > 1 && NF != 8 { bad = 1 }
         $5 == 0 && NR > 1 { key = $2 $4; if (key in loss && loss[key] != $6 || $7 - 1 > 1e-12 || 1 - $7 > 1e-12) bad = 1; loss[key] = $6 }
         $5 == 300 && $2 == "linear dense" && $3 == "Polyak" { seen++; if ($8 > 1e-9 || $7 < 0.1) bad = 1 }
         END { exit bad || seen != 2 }' "$q/prompt_descent_over.csv" || fail "prompt_descent: rows"
[ "$(lines "$q/prompt_descent_over_summary.csv")" -eq $((1 + 4 * 6)) ] || fail "prompt_descent: summary"
pictures_of "$q/prompt_descent_over"
pictures_of "$q/prompt_descent_over_distance"
not_usable prompt_descent '--recipe is "x"; known: under5 under20 over over_gaussian' --recipe x

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
    run 130 timeout --foreground --preserve-status -s INT 1 "$build/examples/condition_number" --recipe depth4 --lr-sgd 0.02 \
        --lr-adam 0.02 --out "$work/f"
    one_line_of_complaint 'interrupted'
    run 130 timeout --foreground --preserve-status -s INT 1 "$build/examples/gradient_error" --samples 1000000 --out "$work/f"
    one_line_of_complaint 'interrupted'
    [ -z "$(ls -A "$work/f")" ] || fail "an interrupted run leaves: $(ls -A "$work/f")"
fi

[ $failures -eq 0 ] && echo "examples: all as they should be"
[ $failures -eq 0 ]
