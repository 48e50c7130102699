#!/bin/sh
# deps.sh: installs what goals of the Makefile need and this machine lacks. Usage: tools/deps.sh goal...
#
# With everything there it says nothing and needs neither network nor rights. Otherwise it installs Debian packages, as root or
# through sudo; where it may not, it prints the command to run and fails. Elsewhere it names the missing tools and fails.
# CC and CXX are the compilers that will be used.
set -eu

CC=${CC:-cc}
CXX=${CXX:-c++}
PYTHON_NEEDS='import cffi, ensurepip, numpy, setuptools, wheel'
TORCH_NEEDS='import cffi, numpy, torch'

# What a goal needs.
needs() {
    case $1 in
    demo | bench-plots) echo compiler make lapack pkg-config gnuplot ;;
    reproduce) echo compiler make lapack openblas pkg-config gnuplot python3 ;;
    docs) echo make doxygen ;;
    coverage) echo compiler c++ make lapack pkg-config check python3 ;;
    check-vectors) echo compiler make lapack ;;
    check-abi) echo compiler make lapack abidiff ;;
    check-headers) echo compiler c++ make ;;
    check-clang) echo compiler c++ make lapack pkg-config check clang ;;
    check-valgrind) echo compiler c++ make lapack pkg-config check valgrind ;;
    check-aarch64) echo compiler make lapack aarch64-gcc aarch64-libc emulator ;;
    check-sse2) echo compiler c++ make lapack openblas pkg-config check emulator ;;
    check-install) echo compiler c++ make lapack static-fortran pkg-config check ;;
    check-python) echo compiler make lapack python ;;
    bench-peer) echo compiler make lapack openblas torch ;;
    check-blas) echo compiler c++ make lapack openblas pkg-config check ;;
    check*) echo compiler c++ make lapack pkg-config check ;;
    ci)
        echo git
        for goal in check check-abi check-blas check-clang check-valgrind check-aarch64 check-sse2 check-install check-python demo docs; do
            needs $goal
        done
        ;;
    esac
}

# Whether it is there. A compiler counts only with the headers of its language's library.
present() {
    case $1 in
    compiler) printf '#include <math.h>\n' | $CC -E -x c - ;;
    c++) printf '#include <complex>\n' | $CXX -E -x c++ - ;;
    lapack) printf '#include <lapacke.h>\nint main(void) { return 0; }\n' | $CC -x c -o /dev/null - -llapacke -lblas ;;
    openblas) [ -e "$(dirname "$($CC -print-file-name=libblas.so)")/openblas-pthread/libblas.so.3" ] ;;
    static-fortran) printf 'int main(void) { return 0; }\n' | $CC -static -x c -o /dev/null - -lgfortran ;;
    check) pkg-config --exists check ;;
    gnuplot) command -v gnuplot && { ! command -v dpkg-query || dpkg-query -W fonts-dejavu-core; } ;;
    python) for python in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3; do "$python" -c "$PYTHON_NEEDS" && return; done; return 1 ;;
    torch) [ -n "${PYTHON:-}" ] || for python in /usr/bin/python3 python3; do "$python" -c "$TORCH_NEEDS" && return; done ;;
    aarch64-gcc) command -v aarch64-linux-gnu-gcc ;;
    aarch64-libc) printf '#include <math.h>\n' | aarch64-linux-gnu-gcc -E -x c - ;;
    emulator) command -v qemu-aarch64 && command -v qemu-x86_64 ;;
    *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

# The Debian packages that bring it.
packages() {
    case $1 in
    compiler) case $CC in *clang*) echo clang libclang-rt-dev libc6-dev ;; *) echo gcc libc6-dev ;; esac ;;
    c++) case $CXX in *clang*) echo clang libclang-rt-dev ;; *) echo g++ ;; esac ;;
    clang) echo clang libclang-rt-dev ;;
    lapack) echo liblapacke-dev libblas-dev ;;
    openblas) echo libopenblas0-pthread ;;
    static-fortran) echo gfortran ;;
    gnuplot) echo gnuplot-nox fonts-dejavu-core ;;
    python) echo python3 python3-cffi python3-numpy python3-setuptools python3-venv python3-wheel ;;
    torch) echo python3 python3-cffi python3-numpy python3-torch ;;
    aarch64-gcc) echo gcc-aarch64-linux-gnu ;;
    aarch64-libc) echo libc6-dev-arm64-cross ;;
    emulator) echo qemu-user ;;
    abidiff) echo abigail-tools ;;
    *) echo "$1" ;;
    esac
}

# Those of the needs that are not met, on one line.
missing() {
    for need in "$@"; do
        present "$need" || printf '%s\n' "$need"
    done | sort -u | paste -sd ' ' -
}

# Brings the package lists up to date. A repository that cannot be reached is not fatal: the others may do. The lists have no
# lock that waits, so when another apt holds it, try again.
update() {
    tries=0
    until said=$($root apt-get -q update 2>&1); do
        tries=$((tries + 1))
        case $said in
        *lists/lock*) [ $tries -lt 120 ] && sleep 5 && continue ;;
        esac
        printf '%s\n' "$said" >&2
        return 0
    done
}

wanted=$(for goal in "$@"; do needs "$goal"; done)
# The lists hold plain words, one for each argument.
# shellcheck disable=SC2086
lacking=$(missing $wanted)
[ -n "$lacking" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "deps.sh: missing here: $lacking. Install with this system's package manager, then run make again." >&2
    exit 1
fi
install=$(for need in $lacking; do packages "$need"; done | tr ' ' '\n' | sort -u | paste -sd ' ' -)

root=
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1; then
        root='sudo -n'
    else
        {
            echo "deps.sh: missing here: $lacking. Installing needs root; run this, then make again:"
            echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends $install"
        } >&2
        exit 1
    fi
fi

echo "deps.sh: installing $install" >&2
update
# shellcheck disable=SC2086
if ! $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=600 \
    -o Dpkg::Use-Pty=0 install $install </dev/null >&2; then
    echo "deps.sh: apt-get could not install: $install" >&2
    exit 1
fi
# shellcheck disable=SC2086
lacking=$(missing $wanted)
[ -z "$lacking" ] || {
    echo "deps.sh: still missing: $lacking (CC is $CC, CXX is $CXX)" >&2
    exit 1
}
