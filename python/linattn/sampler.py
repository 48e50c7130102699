"""Samplers, which say how prompts are drawn, and batches of prompts."""
from . import arrays, structs
from ._library import lib
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
