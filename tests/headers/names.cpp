// names.cpp (Case K4): a C++ program's own names beside the public headers: template parameters called `I` and `complex`, which C's
// <complex.h> makes into macros, and the words that C's headers like to define.
#include <linattn/linattn.h>

#include <complex>

template <typename I> struct holder { I value; };
template <typename complex> complex twice(complex z) { return z + z; }

enum class status { min, max, major, minor };

std::complex<double> own_names() {
    const holder<std::complex<double>> z{{3.0, 4.0}};
    return twice(z.value) + static_cast<double>(status::max == status::min);
}

int linked() { return linattn_version_number(); }
