#!/usr/bin/env python3
"""Prints the table of lib/random/coefficients.h: near-minimax polynomials for log, exp, sin and cos.

Needs mpmath. Each polynomial is the Chebyshev interpolant of a smooth even-power series, computed with 60 digits and rounded to
double once, at the end. `--check` compares with the committed header instead of printing, and fails when they differ."""
import sys
from pathlib import Path

from mpmath import mp, mpf, mpmathify, chebyfit, cos, exp, log, pi, sin, sqrt, atanh, frexp, nint

mp.dps = 60
HEADER = Path(__file__).resolve().parent.parent / "lib" / "random" / "coefficients.h"


def to_hex(x):
    """The double nearest to x as a C hexadecimal constant."""
    return float(mpmathify(x)).hex()


def split(x, bits):
    """x = high + low, where high has at most `bits` significant bits."""
    _, exponent = frexp(x)
    unit = mpf(2) ** (exponent - bits)
    high = nint(x / unit) * unit
    return high, x - high


def fit(function, limit, terms):
    """Coefficients c_0 .. c_{terms-1} of a polynomial near function on [0, limit], and its largest error."""
    coefficients, error = chebyfit(function, [mpf(0), limit], terms, error=True)
    return coefficients[::-1], error


def near_zero(function, series):
    """function, but the value `series` where the closed form is 0/0."""
    return lambda z: series if abs(z) < mpf(10) ** -40 else function(z)


def log_tail(z):
    # log((1 + s)/(1 - s)) = 2 s + s z R(z), z = s^2
    s = sqrt(z)
    return (2 * atanh(s) / s - 2) / z


def exp_tail(r):
    # exp(r) = 1 + r + r^2 P(r)
    return (exp(r) - 1 - r) / r**2


def sin_tail(z):
    # sin(2 pi f) = 2 pi f + f z S(z), z = f^2
    f = sqrt(z)
    return (sin(2 * pi * f) / f - 2 * pi) / z


def cos_tail(z):
    # cos(2 pi f) = 1 + z C(z), z = f^2
    return (cos(2 * pi * sqrt(z)) - 1) / z


def tables():
    largest = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    half_log2 = log(mpf(2)) / 2
    yield "LOG", "log(m) = f - s (f - z R(z)), f = m - 1, s = f/(2 + f), z = s^2", fit(
        near_zero(log_tail, mpf(2) / 3), largest**2, 7)
    coefficients, error = chebyfit(near_zero(exp_tail, mpf(1) / 2), [-half_log2, half_log2], 10, error=True)
    yield "EXP", "exp(r) = 1 + (r + r^2 P(r)), |r| <= log(2)/2", (coefficients[::-1], error)
    yield "SIN", "sin(2 pi f) = f TWO_PI_HIGH + f (TWO_PI_LOW + z S(z)), z = f^2, |f| <= 1/8", fit(
        near_zero(sin_tail, -(2 * pi)**3 / 6), mpf(1) / 64, 6)
    yield "COS", "cos(2 pi f) = 1 + z C(z), z = f^2, |f| <= 1/8", fit(
        near_zero(cos_tail, -(2 * pi)**2 / 2), mpf(1) / 64, 7)


def constants():
    log2_high, log2_low = split(log(mpf(2)), 32)
    two_pi_high = mpf(float(2 * pi))
    yield "LOG2_HIGH", log2_high, "32 bits: its product with an exponent is exact"
    yield "LOG2_LOW", log2_low, None
    yield "LOG2_INVERSE", 1 / log(mpf(2)), None
    yield "TWO_PI_HIGH", two_pi_high, None
    yield "TWO_PI_LOW", 2 * pi - two_pi_high, None
    turn_high = mpf(float(1 / (2 * pi)))
    turn_high_1, turn_high_2 = split(turn_high, 26)
    yield "TURN_HIGH", turn_high, "1/(2 pi), and the two halves of it"
    yield "TURN_HIGH_1", turn_high_1, None
    yield "TURN_HIGH_2", turn_high_2, None
    yield "TURN_LOW", 1 / (2 * pi) - turn_high, None


def header():
    lines = [
        "/* coefficients.h: printed by tools/coefficients.py; edit that instead. */",
        "#ifndef LINATTN_RANDOM_COEFFICIENTS_H",
        "#define LINATTN_RANDOM_COEFFICIENTS_H",
        "",
    ]
    width = max(len(name) for name, _, _ in constants())
    for name, value, note in constants():
        lines.append(f"#define LINATTN__{name:{width}} {to_hex(value)}" + (f" /* {note} */" if note else ""))
    for name, formula, (coefficients, error) in tables():
        lines += ["", f"/* {formula}; the polynomial is within {mp.nstr(abs(error), 2)} */"]
        width = len(f"LINATTN__{name}_{len(coefficients) - 1}")
        for i, c in enumerate(coefficients):
            lines.append(f"#define {f'LINATTN__{name}_{i}':{width}} {to_hex(c)}")
    lines += ["", "#endif", ""]
    return "\n".join(lines)


def main():
    text = header()
    if sys.argv[1:] == ["--check"]:
        if HEADER.read_text() != text:
            sys.exit(f"{HEADER} is not what this script prints")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
