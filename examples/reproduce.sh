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

# Not in the paper: the comparison with the columns of a real table as covariates, at the recipe's rates and at the best of seven.
for columns in 5 13; do
    stage real_covariates setting1 "--columns $columns"
    stage real_covariates setting1 "--columns $columns --tune"
done
