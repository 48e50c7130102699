#!/bin/sh
# check.sh (Case B7): the commands that it is given, under every BLAS of Debian that is installed here: those of OpenBLAS with each of its
# kernels that this processor runs, and the reference one. Run by `make check-blas`; the last command prints which BLAS answers.
# What is not there is skipped, and said to be. Fails when a command does, or another BLAS answers than was meant.
set -eu

folders=$(dirname "$(${CC:-cc} -print-file-name=libblas.so)")
output=$(mktemp)
trap 'rm -f "$output"' EXIT
ran=0
skipped=0
failures=0

# under <name> <the word by which the BLAS makes itself known> <library path> <core type, or nothing> <commands>
under() {
    name=$1 word=$2 path=$3 core=$4
    shift 4
    ran=$((ran + 1))
    for command in "$@"; do
        if ! LD_LIBRARY_PATH=$path OPENBLAS_CORETYPE=$core sh -c "$command" >"$output" 2>&1; then
            echo "FAIL $name: $command"
            cat "$output"
            failures=$((failures + 1))
        fi
    done
    said=$(grep -m 1 BLAS "$output" || true)
    case $said in
    *"$word"*) echo "ok   $name" ;;
    *)
        echo "FAIL $name: another BLAS answered ($said)"
        failures=$((failures + 1))
        ;;
    esac
}

skip() {
    echo "skip $1: $2"
    skipped=$((skipped + 1))
}

# What a core type of OpenBLAS needs of the processor, as /proc/cpuinfo calls it.
needs() {
    case $1 in
    Haswell) echo avx2 ;;
    SkylakeX) echo avx512vl ;;
    *) echo sse4_2 ;;
    esac
}

for variant in pthread openmp serial; do
    folder=$folders/openblas-$variant
    if [ ! -e "$folder/libblas.so.3" ]; then
        skip "OpenBLAS ($variant)" "not installed"
        continue
    fi
    for core in Nehalem Haswell SkylakeX; do
        if grep -qw "$(needs $core)" /proc/cpuinfo; then
            under "OpenBLAS ($variant), $core" "$core" "$folder" $core "$@"
        else
            skip "OpenBLAS ($variant), $core" "this processor has no $(needs $core)"
        fi
    done
done
if [ -e "$folders/blas/libblas.so.3" ] && [ -e "$folders/lapack/liblapack.so.3" ]; then
    under "reference BLAS" unknown "$folders/blas:$folders/lapack" "" "$@"
else
    skip "reference BLAS" "not installed"
fi

echo "check-blas: $ran runs, $skipped skipped, $failures failures"
[ $failures -eq 0 ] && [ $ran -gt 0 ]
