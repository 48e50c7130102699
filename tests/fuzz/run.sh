#!/bin/sh
# run.sh <build folder> <target> <seconds>: fuzzes one target from its corpus; new inputs go to <build folder>/corpus_<target>, what
# broke it to <build folder>. Passes when nothing did.
set -eu
build=$1 target=$2 seconds=$3
mkdir -p "$build/corpus_$target"
exec "$build/tests/fuzz_$target" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/$target-" "$build/corpus_$target" "tests/fuzz/corpus/$target"
