"""Samplers, which say how prompts are drawn, and batches of prompts."""
from . import arrays, structs
from ._library import ffi, lib
from .callbacks import callback, require_callable
from .errors import check
from .handles import Handle, pointer

_OPTIONS = "linattn_sampler_options"


@structs.documented(_OPTIONS)
class Sampler(Handle):
    """Where prompts come from; immutable, may be shared between threads.

    Sampler(dim, context, **options), such as Sampler(5, 20, seed=1, covariates="sphere"). The same seed gives the same bits on
    every machine. Covariates from the rows of an array (rows, dim):
    Sampler(5, 20, covariates="table", covariate_table=array, standardise=1); table_rows is the array's."""

    _kind = "sampler"
    _kept = ()  # what the library calls for as long as the sampler lives, which may be longer than this object
    _instead = "make another with the same options and seed, which draws the same bits"

    def __init__(self, dim, context, **options):
        size = arrays.count(dim, "dim")
        factor = (size, size)
        if options.get("covariate_table") is not None:
            options = dict(options, **_table(size, **options))
        filled = structs.options(_OPTIONS, dict(options, dim=dim, context=context), {
            "covariate_factor": factor,
            "task_factor": factor,
            "covariate_table": ("table_rows", size)
        })
        self._take(lib.linattn_sampler_create, filled)

    @classmethod
    def custom(cls, dim, context, fill):
        """Prompts of the caller's own function: fill(draw, first, prompts) -> (tokens (prompts, context+1, dim+1), targets
        (prompts,)), prompts first .. first+prompts-1 of that draw, which must depend on their number and on the draw alone. The
        last row of a prompt is the query, its last entry 0. A function that returns None has written nothing, which is NonFinite;
        what it raises is raised to the caller of whatever method needed it."""
        size, length = arrays.count(dim, "dim"), arrays.count(context, "context")
        require_callable(fill, "fill")

        def call(draw, first, prompts, tokens, targets, user):
            answer = fill(draw, first, prompts)
            if answer is None:
                return 0
            if not isinstance(answer, (tuple, list)) or len(answer) != 2:
                raise TypeError(f"the function fill returned {answer!r}; wanted: (tokens, targets)")
            shape = (prompts, length + 1, size + 1)
            arrays.view(tokens, *shape)[:] = arrays.read(answer[0], "the tokens that the function fill returned", shape)
            arrays.view(targets, prompts)[:] = arrays.read(answer[1], "the targets that the function fill returned", shape[:1])
            return 0

        sampler = cls.__new__(cls)
        sampler._kept = (callback("int(uint64_t, size_t, size_t, double *, double *, void *)", call), )
        sampler._take(lib.linattn_sampler_create_custom, size, length, sampler._kept[0], ffi.NULL)
        return sampler

    @property
    def dim(self):
        """d, the number of covariates."""
        return lib.linattn_sampler_dim(self._pointer)

    @property
    def context(self):
        """n, the number of context tokens."""
        return lib.linattn_sampler_context(self._pointer)

    def batch(self, prompts, draw=0):
        """The Batch of prompts 0 .. prompts-1 of that draw."""
        return Batch(self, prompts, draw)


def _table(dim, covariate_table, table_rows=0, **_):
    """covariate_table as an array, and its rows; table_rows may be left out, and is 0 in the keywords of a recipe."""
    table = arrays.read(covariate_table, "covariate_table", ("table_rows", dim))
    if table_rows not in (0, table.shape[0]):
        raise ValueError(f"table_rows is {table_rows!r}, and covariate_table has {table.shape[0]}; it may be left out")
    return dict(covariate_table=table, table_rows=table.shape[0])


class Batch(Handle):
    """Prompts; immutable, may be shared between threads. Batch(sampler, prompts, draw=0), or Batch.from_arrays."""

    _kind = "batch"
    _instead = "draw it again from its sampler, or pickle its arrays()"

    def __init__(self, sampler, prompts, draw=0):
        self._take(lib.linattn_batch_create_from_sampler, pointer(sampler, Sampler, "sampler"), arrays.count(prompts, "prompts"),
                   arrays.count(draw, "draw"))

    @classmethod
    def from_arrays(cls, tokens, targets):
        """A batch of the caller's prompts, which are copied. tokens: (prompts, context+1, dim+1), the last row of a prompt
        being the query and its last entry 0; targets: (prompts,)."""
        tokens = arrays.read(tokens, "tokens", ("prompts", "context+1", "dim+1"))
        targets = arrays.read(targets, "targets", tokens.shape[:1])
        if min(tokens.shape[1:]) == 0:
            raise ValueError(f"tokens has shape {tokens.shape}; wanted: (prompts, context+1, dim+1)")
        batch = cls.__new__(cls)
        batch._take(lib.linattn_batch_create_from_arrays, arrays.address(tokens), arrays.address(targets), tokens.shape[0],
                    tokens.shape[1] - 1, tokens.shape[2] - 1)
        return batch

    @property
    def prompts(self):
        """B, the number of prompts."""
        return lib.linattn_batch_prompts(self._pointer)

    @property
    def context(self):
        """n, the number of context tokens."""
        return lib.linattn_batch_context(self._pointer)

    @property
    def dim(self):
        """d, the number of covariates."""
        return lib.linattn_batch_dim(self._pointer)

    def arrays(self):
        """(tokens, targets), copies: (prompts, context+1, dim+1) and (prompts,). Unsupported for a batch of moments."""
        tokens = arrays.write(None, "tokens", (self.prompts, self.context + 1, self.dim + 1))
        targets = arrays.write(None, "targets", (self.prompts, ))
        check(lib.linattn_batch_get_arrays(self._pointer, arrays.address(tokens), arrays.address(targets)))
        return tokens, targets

    def targets(self):
        """A copy of the targets (prompts,), of a batch of either kind."""
        targets = arrays.write(None, "targets", (self.prompts, ))
        check(lib.linattn_batch_get_arrays(self._pointer, arrays.address(None), arrays.address(targets)))
        return targets

    def moments(self):
        """(moments, queries), copies: sums of z z^T over the context tokens (prompts, dim+1, dim+1), and query rows (prompts,
        dim+1)."""
        size = self.dim + 1
        moments = arrays.write(None, "moments", (self.prompts, size, size))
        queries = arrays.write(None, "queries", (self.prompts, size))
        check(lib.linattn_batch_get_moments(self._pointer, arrays.address(moments), arrays.address(queries)))
        return moments, queries
