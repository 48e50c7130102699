"""The library's structs: options filled from keywords, results turned into frozen dataclasses.

Fields, types and comments come from the declarations; nothing is written twice."""
import dataclasses
import weakref

from . import arrays, enums
from ._cdef import COMMENTS
from ._library import ffi, lib
from .errors import check

_HIDDEN = ("struct_size", "reserved", "reserved_2", "user")


def fields(struct):
    """{name: C type} of a struct's fields, less those that only the two sides of the interface need."""
    return {name: field.type for name, field in ffi.typeof(struct).fields if name not in _HIDDEN}


def described(struct, skip=()):
    """One line for each field, with the header's comment, for a docstring."""
    said = COMMENTS.get(struct, {})
    return "".join(f"\n    {name}: {said.get(name, '').replace('NULL', 'None')}".rstrip() for name in fields(struct)
                   if name not in skip)


def documented(struct, skip=()):
    """Decorator: appends the fields of an options struct to a docstring."""

    def append(thing):
        thing.__doc__ += "\n\n    Options:" + described(struct, skip).replace("\n", "\n    ") + "\n"
        return thing

    return append


# ---- Options ---------------------------------------------------------------------------------------------------------------------
def _set(target, struct, name, ctype, value, shape):
    """Sets a field; returns what must stay alive while the struct is used."""
    kind = enums.of_field(struct, name)
    if kind is not None:
        value = enums.number(kind, value, name)
    elif ctype.cname == "double *":
        value = arrays.address(arrays.optional(value, name, shape))
    elif ctype.cname == "double":
        value = arrays.real(value, name)
    elif ctype.kind == "primitive":
        value = arrays.count(value, name, 31 if ctype.cname == "int32_t" else 64)
    setattr(target, name, value)
    return value


# A struct in use keeps what it refers to.
_referred = weakref.WeakKeyDictionary()


def options(struct, keywords, shapes=None):
    """A struct initialised by the library and then set from keywords. shapes: {field: shape} of its arrays. Arrays and callbacks
    live as long as the struct: what the library calls later must be kept by somebody else."""
    filled = ffi.new(struct + " *")
    check(getattr(lib, struct + "_init")(filled, ffi.sizeof(struct)))
    known = fields(struct)
    for name in keywords:
        if name not in known:
            raise TypeError(f'there is no option "{name}"; there are: {", ".join(known)}')
    _referred[filled] = [
        _set(filled, struct, name, known[name], value, (shapes or {}).get(name)) for name, value in keywords.items()
    ]
    return filled


def keywords(struct, filled):
    """The numbers of an options struct as keywords; arrays and callbacks are left out."""
    return {
        name: value(struct, name, ctype, getattr(filled, name))
        for name, ctype in fields(struct).items() if ctype.kind == "primitive"
    }


# ---- Results ---------------------------------------------------------------------------------------------------------------------
def value(struct, name, ctype, raw):
    """A field's content as Python has it."""
    if ctype.kind == "array":
        return ffi.string(raw).decode()
    kind = enums.of_field(struct, name)
    return raw if kind is None else enums.member(kind, raw)


def result_class(name, struct, *extra, module):
    """A frozen dataclass with the struct's fields, followed by fields for arrays that the library writes beside it."""
    doc = f"struct {struct}:{described(struct)}" + "".join(f"\n    {array}: see the function that gives it" for array in extra)
    made = dataclasses.make_dataclass(name, [*fields(struct), *((array, object, None) for array in extra)],
                                      frozen=True,
                                      eq=not extra,
                                      namespace={
                                          "__doc__": doc,
                                          "_struct": struct
                                      })
    made.__module__ = module
    return made


def new(struct):
    """A result struct for the library to fill."""
    return ffi.new(struct + " *", {"struct_size": ffi.sizeof(struct)})


def result(kind, filled, **extra):
    """The dataclass `kind` from a struct that the library filled."""
    struct = kind._struct
    return kind(**{name: value(struct, name, ctype, getattr(filled, name)) for name, ctype in fields(struct).items()}, **extra)


def _define(**structs):
    for name, (struct, *extra) in structs.items():
        globals()[name] = result_class(name, struct, *extra, module=__name__)


RESULTS = dict(
    Tensor=["linattn_tensor"],
    DerivativeReport=["linattn_derivative_report"],
    StepRecord=["linattn_step_record"],
    Line=["linattn_line"],
    Histogram=["linattn_histogram", "counts", "edges"],
    Moments=["linattn_moments"],
    Interval=["linattn_interval"],
    NormalPlot=["linattn_normal_plot", "quantiles", "ordered"],
    Normality=["linattn_normality"],
    Comparison=["linattn_comparison"],
    Tail=["linattn_tail", "alphas"],
    Spectrum=["linattn_spectrum", "eigenvalues", "vectors"],
    Condition=["linattn_condition"],
    SpectraDistance=["linattn_spectra_distance"],
    Heterogeneity=["linattn_heterogeneity", "distances"],
    Extremes=["linattn_extremes", "nodes", "weights"],
    GradientError=["linattn_gradient_error", "errors", "projections", "surrogate", "reference"],
    Smoothness=["linattn_smoothness"],
    Concentration=["linattn_concentration"],
    TheoryDistance=["linattn_theory_distance"],
    PromptCondition=["linattn_prompt_condition", "singular"],
)
_define(**RESULTS)
