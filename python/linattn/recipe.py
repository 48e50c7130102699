"""The published training recipes as a table."""
from . import enums, structs
from ._library import ffi, lib, text
from .errors import check

_STRUCT = "linattn_recipe"


class Recipe(structs.result_class("Recipe", _STRUCT, module=__name__)):
    """A published experiment. Its methods give keywords for the objects, which may be changed:
    Sampler(**recipe.sampler_options(seed=3)).
    """

    def _filled(self):
        """This recipe as the library's struct; it need not be one of the table (dataclasses.replace)."""
        filled = structs.new(_STRUCT)
        for name in structs.fields(_STRUCT):
            value = getattr(self, name)
            setattr(filled, name, value.encode() if isinstance(value, str) else value)
        return filled

    def _options(self, struct, function, changes, *arguments):
        filled = ffi.new(struct + " *")
        check(function(self._filled(), *arguments, filled, ffi.sizeof(struct)))
        return dict(structs.keywords(struct, filled), **changes)

    def sampler_options(self, **changes):
        """Keywords for Sampler, with changes."""
        return self._options("linattn_sampler_options", lib.linattn_recipe_sampler_options, changes)

    def model_options(self, **changes):
        """Keywords for Model, with changes."""
        return self._options("linattn_model_options", lib.linattn_recipe_model_options, changes)

    def optimizer_options(self, rule, **changes):
        """Keywords for Optimizer, with changes; rule: "sgd" or "adam". A learning rate that is NaN is refused by Optimizer."""
        number = enums.number(enums.Rule, rule, "rule")
        return self._options("linattn_optimizer_options", lib.linattn_recipe_optimizer_options, changes, number)

    def source(self, field):
        """Where a field of this recipe comes from, in one line; ValueError for what is no field, or no recipe of the table."""
        for i, known in enumerate(recipes()):
            if known.name == self.name:
                found = text(lib.linattn_recipe_source(i, field.encode()))
                if found is not None:
                    return found
        raise ValueError(f'"{self.name}" has no source for "{field}"; fields: {", ".join(structs.fields(_STRUCT))}')


Recipe.__doc__ += structs.described(_STRUCT)


def recipes():
    """All recipes, a tuple."""
    found = []
    for i in range(lib.linattn_recipe_count()):
        filled = structs.new(_STRUCT)
        check(lib.linattn_recipe_get(i, filled))
        found.append(structs.result(Recipe, filled))
    return tuple(found)


def recipe(name):
    """The recipe of that name, such as "setting1"; InvalidArgument lists the known ones."""
    filled = structs.new(_STRUCT)
    check(lib.linattn_recipe_find(name.encode(), filled))
    return structs.result(Recipe, filled)
