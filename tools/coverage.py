#!/usr/bin/env python3
"""coverage.py <folder of objects>: lines and branches of lib/ that the tests ran, from what gcov counted (make coverage).

A kernel's file is compiled once for each instruction set; a line or branch counts as run when any of them ran it. Prints a table by
file, what was not run as ranges of lines, and the sums; fails below 95% of lines or 85% of branches."""
import collections
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LINES, BRANCHES = 95, 85


def counts(folder):
    """{file: {line: ran}}, {file: {(line, branch): taken}} over all objects."""
    lines, branches = collections.defaultdict(dict), collections.defaultdict(dict)
    objects = sorted(str(path.resolve()) for path in Path(folder).glob("lib/**/*.gcda"))
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--preserve-paths", "--hash-filenames", *objects], cwd=work,
                       check=True, stdout=subprocess.DEVNULL)
        for path in Path(work).glob("*.json.gz"):
            for file in json.loads(gzip.open(path).read())["files"]:
                name = file["file"].removeprefix("./")
                if not name.startswith("lib/"):
                    continue
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[name][number] = lines[name].get(number, 0) or line["count"] > 0
                    for index, branch in enumerate(line["branches"]):
                        key = number, index
                        branches[name][key] = branches[name].get(key, 0) or branch["count"] > 0
    return lines, branches


def ranges(numbers):
    """3 4 5 9 as "3-5 9"."""
    text, numbers = [], sorted(numbers)
    for i, number in enumerate(numbers):
        if i and number == numbers[i - 1] + 1:
            text[-1][1] = number
        else:
            text.append([number, number])
    return " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in text)


def share(ran):
    return 100 * sum(map(bool, ran)) / len(ran) if ran else 100


def main():
    lines, branches = counts(sys.argv[1])
    print(f"{'file':40} {'lines':>6} {'branches':>8}  not run: lines; branches at lines")
    for name in sorted(lines):
        missed = ranges(number for number, ran in lines[name].items() if not ran)
        half = ranges({number for (number, _), taken in branches[name].items() if not taken and lines[name][number]})
        print(f"{name:40} {share(lines[name].values()):6.1f} {share(branches[name].values()):8.1f}  {missed}; {half}")
    totals = [share([ran for each in table.values() for ran in each.values()]) for table in (lines, branches)]
    print(f"lib/: {totals[0]:.1f}% of lines, {totals[1]:.1f}% of branches; wanted: {LINES}% and {BRANCHES}%")
    sys.exit(totals[0] < LINES or totals[1] < BRANCHES)


if __name__ == "__main__":
    main()
