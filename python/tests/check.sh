#!/bin/sh
# check.sh: the Python package's tests. Run by `make check-python` from the top folder: check.sh <build folder, absolute>.
# The Python is the first of $PYTHON, /usr/bin/python3 and python3 that has cffi and numpy.
set -eu

find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3; do
        if "$candidate" -c 'import cffi, numpy' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

python=$(find_python) || {
    echo 'check-python: no Python here has cffi and numpy' >&2
    exit 1
}
# The tests leave nothing in the tree, and one thread of BLAS is faster on matrices of this size.
export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=python
export LINATTN_LIBRARY="$1/lib/liblinattn.so" LINATTN_REFERENCE="$1/python/reference"
figures=$(mktemp -d)
trap 'rm -rf "$figures"' EXIT
"$python" python/tests/run.py
for example in quickstart ctypes_quickstart torch_objective figures; do
    echo "== python/examples/$example.py"
    case $example in
    figures) "$python" python/examples/figures.py "$figures" quick ;;
    *) "$python" "python/examples/$example.py" ;;
    esac
done
echo 'check-python: passed'
