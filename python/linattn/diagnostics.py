"""What an objective is like at a point, and along a path. Formulas and how to read the results: docs/diagnostics.md."""
from . import arrays, enums, structs
from ._library import ffi, lib
from .callbacks import progress_callback
from .errors import check
from .handles import Handle, pointer
from .objective import Objective
from .statistics import _DEFAULT, _filled, _resampling
from .structs import Concentration, Condition, Extremes, GradientError, Heterogeneity, Smoothness, Spectrum

_OPTIONS = "linattn_diagnostics_options"
_ERROR_OPTIONS = "linattn_gradient_error_options"


@structs.documented(_OPTIONS)
class Diagnostics(Handle):
    """Measures a clone of an objective, of any kind. Use one from one thread at a time; a trainer's observer may use one.

    Diagnostics(objective, **options). Methods take theta (p,) and, where a batch is meant, its draw, which an objective on a fixed
    batch ignores: that is what curvature is best measured on."""

    _kind = "diagnostics"
    _instead = "make another of the same objective"

    def __init__(self, objective, **options):
        options["progress"] = progress_callback(options.get("progress"))
        handle = pointer(objective, Objective, "objective")
        filled = structs.options(_OPTIONS, options)
        self._kept = objective._kept, options["progress"]
        self._take(lib.linattn_diagnostics_create, handle, filled)

    @property
    def parameter_count(self):
        """p, the length of theta."""
        return lib.linattn_diagnostics_parameter_count(self._pointer)

    @property
    def hvp_kind(self):
        """HvpKind: how exact the second derivatives behind all results are."""
        return enums.member(enums.HvpKind, lib.linattn_diagnostics_hvp_kind(self._pointer))

    def _point(self, theta, draw, name="theta"):
        """(theta, the arguments that every measurement begins with)."""
        theta = arrays.read(theta, name, (self.parameter_count, ))
        return theta, (self._pointer, arrays.count(draw, "draw"), arrays.address(theta))

    def _curvature(self, theta, first, count, preconditioner, median_rule="lower"):
        """(options, q)."""
        begin = arrays.count(first, "first")
        size = max(theta.size - begin, 0) if count is None else arrays.count(count, "count")
        keywords = dict(first=begin, count=0 if count is None else size, preconditioner=preconditioner, median_rule=median_rule)
        if count is not None and size == 0:
            raise ValueError("count is 0; allowed: at least 1, or None for all the rest")
        return structs.options("linattn_curvature_options", keywords, {"preconditioner": theta.shape}), size

    def spectrum(self, theta, draw=0, vectors=False, first=0, count=None, preconditioner=None):
        """The Spectrum of rows and columns first .. first+count-1 of H, or of D^(-1/2) H D^(-1/2) with preconditioner D (p,). Its
        eigenvalues: (q,), ascending; with vectors=True also vectors (q, q), in rows."""
        theta, arguments = self._point(theta, draw)
        options, size = self._curvature(theta, first, count, preconditioner)
        values = arrays.write(None, "eigenvalues", (size, ))
        rows = arrays.write(None, "vectors", (size, size)) if vectors else None
        return _filled(Spectrum,
                       lib.linattn_diagnostics_spectrum,
                       *arguments,
                       options,
                       arrays.address(values),
                       arrays.address(rows),
                       eigenvalues=values,
                       vectors=rows)

    def robust_condition(self, theta, draw=0, first=0, count=None, preconditioner=None, median_rule="lower", eigenvalues=True):
        """(by eigenvalues, by diagonal): both robust condition numbers of that matrix, a Condition each. eigenvalues=False: the
        first is None, and no matrix is held."""
        theta, arguments = self._point(theta, draw)
        options, _ = self._curvature(theta, first, count, preconditioner, median_rule)
        spectral = structs.new("linattn_condition") if eigenvalues else ffi.NULL
        diagonal = structs.new("linattn_condition")
        check(lib.linattn_diagnostics_robust_condition(*arguments, options, spectral, diagonal))
        return structs.result(Condition, spectral) if eigenvalues else None, structs.result(Condition, diagonal)

    def heterogeneity(self, theta, boundaries, draw=0, preconditioner=None, relative_width=0.02):
        """The Heterogeneity of the Hessian's diagonal blocks, with distances (blocks, blocks). Block i is
        boundaries[i] .. boundaries[i+1]-1; boundaries: blocks + 1 integers, such as the offsets of a model's tensors, and p."""
        theta, arguments = self._point(theta, draw)
        limits = [arrays.count(limit, "boundaries") for limit in boundaries]
        if len(limits) < 2:
            raise ValueError(f"boundaries has {len(limits)} entries; wanted: blocks + 1, at least 2")
        scale = arrays.optional(preconditioner, "preconditioner", theta.shape)
        blocks = len(limits) - 1
        distances = arrays.write(None, "distances", (blocks, blocks))
        return _filled(Heterogeneity,
                       lib.linattn_diagnostics_heterogeneity,
                       *arguments,
                       ffi.new("size_t[]", limits),
                       blocks,
                       arrays.address(scale),
                       arrays.real(relative_width, "relative_width"),
                       arrays.address(distances),
                       distances=distances)

    def extremes(self, theta, draw=0, **options):
        """The Extremes of the spectrum by Lanczos' method, without the matrix, and its quadrature: nodes and weights (steps,)."""
        theta, arguments = self._point(theta, draw)
        filled = structs.options("linattn_lanczos_options", options, {"preconditioner": theta.shape})
        room = min(filled.steps, 4096)  # more is refused
        nodes, weights = (arrays.write(None, name, (room, )) for name in ("nodes", "weights"))
        out = structs.new("linattn_extremes")
        check(lib.linattn_diagnostics_extremes(*arguments, filled, arrays.address(nodes), arrays.address(weights), out))
        return structs.result(Extremes, out, nodes=nodes[:out.steps].copy(), weights=weights[:out.steps].copy())

    def gradient_error(self, theta, **options):
        """The GradientError: e = g(theta; draw) - g_ref over draws, with errors (samples,), |e| or |e|^2; projections
        (samples, K) on directions (K, p); surrogate (surrogates,), the same of Gaussian noise; reference (p,), g_ref. What was not
        asked for is None."""
        theta, _ = self._point(theta, 0)
        directions = arrays.optional(options.get("directions"), "directions", ("K", theta.size))
        k = 0 if directions is None else directions.shape[0]
        if options.setdefault("direction_count", k) != k:
            raise ValueError(f"direction_count is {options['direction_count']}, and directions has {k} rows")
        filled = structs.options(_ERROR_OPTIONS, options, {"reference": theta.shape, "directions": (k, theta.size)})
        errors = arrays.write(None, "errors", (filled.samples, ))
        projections = arrays.write(None, "projections", (filled.samples, k)) if k else None
        surrogate = arrays.write(None, "surrogate", (filled.surrogates, )) if filled.surrogates else None
        reference = arrays.write(None, "reference", theta.shape)
        made = dict(errors=errors, projections=projections, surrogate=surrogate, reference=reference)
        return _filled(GradientError, lib.linattn_diagnostics_gradient_error, self._pointer, arrays.address(theta), filled,
                       *map(arrays.address, made.values()), **made)

    def directional_smoothness(self, theta, next_theta, draw=0):
        """u^T H(theta) u, u = (next_theta - theta) / |next_theta - theta|: the curvature along a step. Degenerate when they are
        equal."""
        theta, arguments = self._point(theta, draw)
        following, out = arrays.read(next_theta, "next_theta", theta.shape), ffi.new("double *")
        check(lib.linattn_diagnostics_directional_smoothness(*arguments, arrays.address(following), out))
        return out[0]

    def gradient_ratios(self, theta, next_theta, fractions=(1.0, ), draw=0, out=None):
        """|g(theta + a s) - g(theta)| / |a s|, s = next_theta - theta, for fractions a (count,): an array (count,)."""
        theta, arguments = self._point(theta, draw)
        following = arrays.read(next_theta, "next_theta", theta.shape)
        fractions = arrays.read(fractions, "fractions", ("count", ))
        ratios = arrays.write(out, "out", fractions.shape, theta, following, fractions)
        check(
            lib.linattn_diagnostics_gradient_ratios(*arguments, arrays.address(following), arrays.address(fractions),
                                                    fractions.size, arrays.address(ratios)))
        return ratios


Diagnostics.extremes.__doc__ += "\n\n        Options:" + structs.described("linattn_lanczos_options").replace("\n", "\n        ")
Diagnostics.gradient_error.__doc__ += "\n\n        Options:" + structs.described(_ERROR_OPTIONS).replace("\n", "\n        ")


def smoothness_fit(gradient_norms, smoothness, block=0, level=0.95, resamples=_DEFAULT, seed=0, progress=None):
    """The Smoothness of a path: directional smoothness (count,) against gradient norms (count,), NaN where a step was zero.
    block: the length of the bootstrap's blocks; 0: no intervals."""
    norms = arrays.read(gradient_norms, "gradient_norms", ("count", ))
    values = arrays.read(smoothness, "smoothness", norms.shape)
    options = _resampling(resamples, seed, progress)
    return _filled(Smoothness, lib.linattn_smoothness_fit, arrays.address(norms), arrays.address(values), norms.size,
                   arrays.count(block, "block"), arrays.real(level, "level"), options)


def attention_concentration(weights, top=1):
    """The Concentration of rows of attention weights (rows, keys), such as those of the query over the context,
    model.attention(batch, theta)[:, -1, :-1]. top: how many of the largest count for top_share."""
    weights = arrays.read(weights, "weights", ("rows", "keys"))
    rows, keys = weights.shape
    return _filled(Concentration, lib.linattn_attention_concentration, arrays.address(weights), rows, keys, keys,
                   arrays.count(top, "top"))
