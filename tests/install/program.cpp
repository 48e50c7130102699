// program.cpp: a user's C++ program, built against the installed library. The public headers have C linkage and leave alone the names
// that C headers like to take: `I`, and everything of <complex>.
#include <linattn/linattn.h>

#include <complex>
#include <cstdio>

template <typename I> struct holder {
    I value;
};

int main() {
    const holder<std::complex<double>> z{{3.0, 4.0}};
    std::printf("%s\n", linattn_version_string());
    return std::abs(z.value) == 5.0 && linattn_kernel_available(LINATTN_KERNEL_BASELINE) == 1 ? 0 : 1;
}
