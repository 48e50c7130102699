#!/bin/sh
# reproduce.sh: every figure and table of the paper that there is a program for, into out/. Run by `make reproduce`:
# reproduce.sh <folder of the programs> <threads> [quick]
#
# quick: every stage with --quick, short runs that show the pictures but prove nothing.
set -eu

programs=$1
threads=$2
quick=${3:-}

# On matrices of 150 x 150, a BLAS's own threads only get into the way of the runs.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

# stage <program> <recipes> <options that always hold> <options of the full run>
stage() {
    program=$1 recipes=$2 always=$3
    shift 3
    [ -z "$quick" ] || set -- --quick
    # The options are a list.
    # shellcheck disable=SC2086
    set -- $always "$@"
    for recipe in $recipes; do
        printf '\n==== %s %s %s\n' "$program" "$recipe" "$*"
        "$programs/$program" --recipe "$recipe" "$@" --threads "$threads" --out out
    done
}

settings="setting1 setting2 setting3"
depths="depth2 depth4 depth6 depth8"

stage adam_vs_sgd "$settings sphere" "" --seeds 6 --steps 10000              # F2a, F7
stage gradient_error "$settings sphere $depths" "" --seeds 14                # F2b, F7, F8
stage condition_number "$settings" "" --seeds 100                            # T2c
stage condition_number "$settings sphere" --curve --seeds 6 --steps 10000    # F7
stage directional_smoothness "$settings" "" --seeds 6 --steps 10000          # F2d
stage generalized_smoothness "$settings" "" --seeds 3 --steps 2000           # F6
stage softmax_vs_linear setting1 "" --seeds 6 --steps 4000                   # F4; curvature, attention and Q = W_Q^T W_K beside it
stage adam_vs_sgd wide "--lr-sgd 0.1 --lr-adam 0.02" --seeds 3 --steps 1500  # F5
[ -n "$quick" ] || stage gradient_error wide "" --seeds 2 --samples 300      # F5; minutes, most of them for 6400 eigenvalues
stage adam_vs_sgd nonlinear "" --seeds 5 --steps 10000                       # FA
stage gradient_error nonlinear "" --seeds 5 --samples 2000                   # FA
stage condition_number nonlinear "--eval-batches 3 --eval-prompts 2000" --seeds 5 # FA
stage directional_smoothness nonlinear "" --seeds 5 --steps 4000             # FA

# Not in the paper: without noise (full batch), with feed-forward blocks, and the same with fresh batches, each optimizer at its best
# of seven rates.
tuned="--tune --lr-sgd 0.1 --eval-prompts 20000"
stage adam_vs_sgd setting1 "$tuned" --seeds 6 --steps 5000
stage adam_vs_sgd setting1 "$tuned --data-set 4000 --batch 4000" --seeds 6 --steps 5000
stage adam_vs_sgd setting1 "$tuned --ff-hidden 24" --seeds 6 --steps 1500

# Not in the paper: the comparison with the columns of a real table as covariates, at the recipe's rates and at the best of seven.
for columns in 5 13; do
    stage real_covariates setting1 "--columns $columns"
    stage real_covariates setting1 "--columns $columns --tune"
done
