#!/bin/sh
# run.sh: the speed of the library beside PyTorch or JAX. Run by `make bench-peer` from the top folder:
#     run.sh <build folder, absolute> option of peer.py ...
# The Python is $PYTHON, whose PyTorch, or else JAX, is taken; without it /usr/bin/python3 or python3, whichever has PyTorch.
set -eu

build=$1
shift
has() { "$1" -c "import cffi, numpy, $2" 2>/dev/null; }

peer=torch
if [ -n "${PYTHON:-}" ]; then
    python=$PYTHON
    if ! has "$python" torch; then
        peer=jax
        has "$python" jax || {
            echo "bench-peer: $python has not cffi, numpy and one of torch and jax" >&2
            exit 1
        }
    fi
else
    python=
    for candidate in /usr/bin/python3 python3; do
        [ -n "$python" ] || ! has "$candidate" torch || python=$candidate
    done
    [ -n "$python" ] || {
        echo 'bench-peer: no Python here has cffi, numpy and torch; PYTHON= names another, which may have jax instead' >&2
        exit 1
    }
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=python LINATTN_LIBRARY="$build/lib/liblinattn.so"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
exec "$python" tests/bench/peer/peer.py --peer $peer "$@"
