"""Intervals over a few seeds: Student's t, exactly; Welch's difference; a slope; Wilson's share.

The t distribution by the incomplete beta function: P(|T| > t) = I_x(f/2, 1/2), x = f / (f + t^2)."""
import math
from collections import namedtuple

Estimate = namedtuple("Estimate", "middle low high count")
NONE = Estimate(math.nan, math.nan, math.nan, 0)
LEVEL = 0.95


def incomplete_beta(a, b, x):
    """I_x(a, b) by Lentz's evaluation of its continued fraction, which converges fast for x < (a + 1) / (a + b + 2)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def t_quantile(probability, freedom):
    """t with P(T <= t) = probability > 1/2, by bisection."""
    low, high = 0.0, 1.0
    while 1 - incomplete_beta(freedom / 2, 0.5, freedom / (freedom + high * high)) / 2 < probability:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if 1 - incomplete_beta(freedom / 2, 0.5, freedom / (freedom + middle * middle)) / 2 < probability:
            low = middle
        else:
            high = middle
    return high


def moments(values):
    """Mean and variance, the latter with n - 1 below and NaN for one number."""
    mean = math.fsum(values) / len(values)
    squares = math.fsum((x - mean) ** 2 for x in values)
    return mean, squares / (len(values) - 1) if len(values) > 1 else math.nan


def around(middle, error, freedom, count):
    half = t_quantile((1 + LEVEL) / 2, freedom) * error
    return Estimate(middle, middle - half, middle + half, count)


def mean(values):
    """Mean with its t interval; what is not finite is left out."""
    values = [x for x in values if math.isfinite(x)]
    if not values:
        return NONE
    middle, variance = moments(values)
    if len(values) < 2:
        return Estimate(middle, math.nan, math.nan, 1)
    return around(middle, math.sqrt(variance / len(values)), len(values) - 1, len(values))


def difference(values, others):
    """Mean of the values less that of the others, by Welch's interval."""
    groups = [[x for x in group if math.isfinite(x)] for group in (values, others)]
    if not all(groups):
        return NONE
    (first, v), (second, w) = moments(groups[0]), moments(groups[1])
    n, m = len(groups[0]), len(groups[1])
    if min(n, m) < 2 or v + w == 0:
        return Estimate(first - second, math.nan, math.nan, min(n, m))
    a, b = v / n, w / m
    return around(first - second, math.sqrt(a + b), (a + b) ** 2 / (a * a / (n - 1) + b * b / (m - 1)), min(n, m))


def slope(points):
    """Least-squares slope of y against x, points being (x, y), with its t interval."""
    points = [(x, y) for x, y in points if math.isfinite(y)]
    if len({x for x, _ in points}) < 2 or len(points) < 3:
        return NONE
    n = len(points)
    x0, y0 = math.fsum(x for x, _ in points) / n, math.fsum(y for _, y in points) / n
    sxx = math.fsum((x - x0) ** 2 for x, _ in points)
    b = math.fsum((x - x0) * (y - y0) for x, y in points) / sxx
    residual = math.fsum((y - y0 - b * (x - x0)) ** 2 for x, y in points)
    return around(b, math.sqrt(residual / (n - 2) / sxx), n - 2, n)


def share(part, count):
    """A share with Wilson's interval."""
    if count == 0:
        return NONE
    z = 1.959963984540054
    p, shrink = part / count, 1 + z * z / count
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count)) / shrink
    middle = (p + z * z / (2 * count)) / shrink
    return Estimate(p, middle - half, middle + half, count)


def exponential(e):
    """An estimate of logarithms, put back."""
    def exp(x):
        return math.exp(x) if x < 700 else x if math.isnan(x) else math.inf
    return Estimate(exp(e.middle), exp(e.low), exp(e.high), e.count) if e.count else NONE


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2 if n else math.nan


def number(x):
    """Three digits, without an exponent where that reads well."""
    if not math.isfinite(x):
        return "-" if math.isnan(x) else "%g" % x
    if x == 0:
        return "0"
    exponent = math.floor(math.log10(abs(float("%.2e" % x))))
    if exponent < -4 or exponent > 4:
        mantissa, power = ("%.1e" % x).split("e")
        return "%se%d" % (mantissa, int(power))
    return "%.*f" % (max(0, 2 - exponent), float("%.2e" % x))


def text(e):
    """"1.76 [1.52, 2.01]"."""
    if e.count == 0 or math.isnan(e.middle):
        return "-"
    return number(e.middle) if math.isnan(e.low) else "%s [%s, %s]" % (number(e.middle), number(e.low), number(e.high))
