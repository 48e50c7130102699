"""The library's enumerations as IntEnum classes, made from its declarations: enum linattn_median_rule is MedianRule.LOWER, .MEAN.

Wherever one is wanted, a member, its number or its name in any case will do: rule=Rule.ADAM, rule=1, rule="adam"."""
import operator
import os.path
import re
from enum import IntEnum

from ._cdef import COMMENTS, SOURCE


def _prefix(names):
    """What the members' names begin with, up to an underscore."""
    common = os.path.commonprefix(names) if len(names) > 1 else names[0]
    return common[:common.rfind("_") + 1]


def _make(tag, body):
    members = dict(re.findall(r"(\w+) = (-?\d+)", body))
    prefix = _prefix(list(members))
    name = "".join(word.capitalize() for word in tag.split("_")[1:])
    made = IntEnum(name, {member[len(prefix):]: int(members[member]) for member in members}, module=__name__)
    made.__doc__ = f"enum {tag}"
    return made


# The declarations are parsed already, but asking cffi for an enumeration takes milliseconds.
BY_TAG = {tag: _make(tag, body) for tag, body in re.findall(r"^enum (linattn_\w+) \{(.*?)\}", SOURCE, re.MULTILINE | re.DOTALL)}
globals().update({made.__name__: made for made in BY_TAG.values()})
__all__ = [made.__name__ for made in BY_TAG.values()]


def of_field(struct, field):
    """The enumeration of a struct's field, or None; its comment in the header begins with the enumeration's name."""
    match = re.match(r"enum (linattn_\w+)", COMMENTS.get(struct, {}).get(field, ""))
    return BY_TAG[match.group(1)] if match else None


def number(kind, value, name):
    """The number of a member that is given as such, as a number or by name. The library says which numbers it takes."""
    if isinstance(value, str):
        if value.upper() not in kind.__members__:
            raise ValueError(f'{name} is "{value}"; allowed: {", ".join(member.lower() for member in kind.__members__)}')
        return int(kind[value.upper()])
    try:
        chosen = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is of type {type(value).__name__}; wanted: {kind.__name__}, its number or its name") from None
    if not -2**31 <= chosen < 2**31:
        raise ValueError(f"{name} is {chosen}; allowed: a number of {kind.__name__}")
    return chosen


def member(kind, value):
    """The member with that number; the number itself when a newer library has one more."""
    try:
        return kind(value)
    except ValueError:
        return value
