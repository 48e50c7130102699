#!/bin/sh
# test_cases.sh: each row of docs/cases.md is in the tests that it names: "case_O3_..." or "Case O3". Run from the top folder.
set -eu

rows=0
failures=0
while IFS='|' read -r _ id _ _ tests _; do
    id=$(echo "$id" | tr -d ' ')
    case $id in [A-Z][0-9]*) ;; *) continue ;; esac
    rows=$((rows + 1))
    for file in $(echo "$tests" | grep -o '(\.\./[^)]*)' | tr -d '()'); do
        if ! grep -Eq "(case_([A-Z][0-9]+_)*|[Cc]ases? )$id([^0-9]|\$)" "docs/$file"; then
            echo "cases: $id is not in $file"
            failures=$((failures + 1))
        fi
    done
done <docs/cases.md
echo "cases: $rows rows, $failures not in their test"
[ "$rows" -ge 51 ] && [ "$failures" -eq 0 ]
