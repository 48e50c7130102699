#!/bin/sh
# test_report.sh: `make reproduce`'s stages and page (examples/reproduce), without the programs themselves. From the top folder:
#     test_report.sh <build folder>
# Needs Python 3 and nothing beside it; passes where there is none.
set -eu

if ! python3 -c '' 2>/dev/null; then
    echo 'test_report: skipped, no python3'
    exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 -m unittest discover -s tests/report -t tests/report
