"""What a symmetric matrix says: functions of linattn/spectrum.h. Formulas: docs/diagnostics.md."""
from . import arrays, enums, structs
from ._library import lib
from .errors import check
from .structs import Condition, SpectraDistance, Spectrum


def _square(matrix):
    matrix = arrays.read(matrix, "matrix", ("p", "p"))
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix has shape {matrix.shape}; wanted: (p, p)")
    return matrix


def matrix_spectrum(matrix, vectors=False):
    """The Spectrum of a symmetric matrix (p, p), with eigenvalues (p,), ascending, and, when asked for, vectors (p, p): row i
    is the eigenvector of eigenvalue i, its largest entry positive."""
    matrix = _square(matrix)
    values = arrays.write(None, "eigenvalues", matrix.shape[:1])
    rows = arrays.write(None, "vectors", matrix.shape) if vectors else None
    out = structs.new("linattn_spectrum")
    check(lib.linattn_matrix_spectrum(arrays.address(matrix), matrix.shape[0], arrays.address(values), arrays.address(rows), out))
    return structs.result(Spectrum, out, eigenvalues=values, vectors=rows)


def robust_condition(values, kind="eigenvalues", rule="lower"):
    """The Condition of numbers (count,): max |x| / median |x|. kind: ConditionKind, what the numbers are; rule: MedianRule."""
    values, out = arrays.read(values, "values", ("count", )), structs.new("linattn_condition")
    check(
        lib.linattn_robust_condition(arrays.address(values), values.size, enums.number(enums.ConditionKind, kind, "kind"),
                                     enums.number(enums.MedianRule, rule, "rule"), out))
    return structs.result(Condition, out)


def spectrum_density(eigenvalues, x, width, weights=None, out=None):
    """The density (points,) at x (points,) of eigenvalues (count,), each smoothed by a normal of sd `width`; weights: (count,)
    that sum to 1, or None for equal ones."""
    eigenvalues, x = arrays.read(eigenvalues, "eigenvalues", ("count", )), arrays.read(x, "x", ("points", ))
    weights = arrays.optional(weights, "weights", eigenvalues.shape)
    density = arrays.write(out, "out", x.shape, eigenvalues, x, *([] if weights is None else [weights]))
    check(
        lib.linattn_spectrum_density(arrays.address(eigenvalues), arrays.address(weights), eigenvalues.size,
                                     arrays.real(width, "width"), arrays.address(x), x.size, arrays.address(density)))
    return density


def spectra_compare(a, b, relative_width=0.02):
    """The SpectraDistance of two spectra (a_count,) and (b_count,): Jensen and Shannon's, smoothed by relative_width of their
    range."""
    a, b, out = arrays.read(a, "a", ("a_count", )), arrays.read(b, "b", ("b_count", )), structs.new("linattn_spectra_distance")
    check(
        lib.linattn_spectra_compare(arrays.address(a), a.size, arrays.address(b), b.size,
                                    arrays.real(relative_width, "relative_width"), out))
    return structs.result(SpectraDistance, out)


def matrix_precondition(matrix, diagonal, out=None):
    """D^(-1/2) M D^(-1/2), (p, p), for a symmetric matrix (p, p) and a diagonal (p,) > 0; out may be matrix itself."""
    given = _square(matrix)
    diagonal = arrays.read(diagonal, "diagonal", given.shape[:1])
    result = arrays.write(out, "out", given.shape, diagonal, *([] if out is matrix else [given]))
    check(lib.linattn_matrix_precondition(arrays.address(given), given.shape[0], arrays.address(diagonal), arrays.address(result)))
    return result
