#!/usr/bin/env python3
"""Writes tests/abi/interface.c: enumeration values, and each struct's size, offsets and field types, as static assertions, and every
function's declaration, from the public headers.

What was written before stays: a field may not move or change its type, a value or a function may not change, nothing may go, a struct
may only grow. Otherwise nothing is written, and what breaks the ABI is named. `--check` only compares. Needs Python's own library
only."""
import ctypes
import re
import sys

from cdef import TOP, Interface, parameters, unnamed

sys.path.insert(0, str(TOP / "python"))
import ctypes_table  # noqa: E402  (kept like the headers by tools/cdef.py)

FILE = TOP / "tests" / "abi" / "interface.c"
HEAD = """\
/* interface.c: what programs were compiled with: values of the public enumerations, layout of the public structs, types of the public
 * functions. Compiling this file is the test. Written by tools/abi.py (make abi-ledger), which adds what is new and refuses to change
 * what is here. */
#include <linattn/linattn.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type)
#define AT(offset, type, field, of)                                                                                                \\
    _Static_assert(offsetof(type, field) == (offset) && _Generic(((type *)0)->field, of: 1, default: 0), #field " of " #type)
#define CALL(offset, type, field)                                                                                                  \\
    _Static_assert(offsetof(type, field) == (offset) && sizeof ((type *)0)->field == sizeof(void (*)(void)), #field " of " #type)
#define VALUE(name, number) _Static_assert((int)(name) == (number), "the value of " #name)

/* clang-format off */
"""

def field_line(struct, member):
    """The assertion of one member."""
    callback = re.search(r"\(\*(\w+)\)", member)
    array = re.fullmatch(r"char (\w+)\[\d+\]", member)
    name = callback.group(1) if callback else array.group(1) if array else re.search(r"(\w+)$", member).group(1)
    offset = getattr(getattr(ctypes_table, struct), name).offset
    if callback:
        return f"CALL({offset}, {struct}, {name});"
    return f"AT({offset}, {struct}, {name}, {'char *' if array else unnamed(member)});"


def types_only(text):
    """A function's or a callback's declaration without names of parameters, which may change."""
    head, inner = re.fullmatch(r"(.*?(?:\(\*\w+\)|\w+))\((.*)\)", text).groups()
    return f"{head}({', '.join(unnamed(part) for part in parameters(inner)) or 'void'});"


def promises():
    """The assertions and declarations, a line each; by name, so that what is new comes between."""
    interface = Interface()
    lines = [f"VALUE({name}, {number});" for name, number in sorted(interface.constants.items()) if "VERSION_" not in name]
    lines += ["", "#if SIZE_MAX == UINT64_MAX /* every 64-bit machine the library is for */"]
    for struct, members in sorted(interface.structs.items()):
        lines += ["", f"SIZE({struct}, {ctypes.sizeof(getattr(ctypes_table, struct))});"]
        lines += [field_line(struct, member) for member in members]
    lines += ["#endif", ""] + [types_only(text) for _, text in sorted(interface.callbacks.items())]
    return lines + [""] + [types_only(text) for _, text in sorted(interface.functions.items())]


def broken(before, now):
    """What stood there and is no more. A struct's size may grow."""
    sizes = {match.group(1): int(match.group(2)) for match in map(re.compile(r"SIZE\((\w+), (\d+)\);").fullmatch, now) if match}
    for line in before:
        size = re.fullmatch(r"SIZE\((\w+), (\d+)\);", line)
        if size and sizes.get(size.group(1), 0) >= int(size.group(2)):
            continue
        if line.endswith(";") and line not in now:
            yield line


def main():
    now = promises()
    text = HEAD + "\n".join(now) + "\n"
    before = FILE.read_text() if FILE.exists() else ""
    gone = list(broken(before[len(HEAD):].splitlines(), set(now)))
    if gone:
        sys.exit("abi.py: the headers break the ABI; no longer so:\n    " + "\n    ".join(gone))
    if sys.argv[1:] == ["--check"]:
        if text != before:
            sys.exit(f"{FILE.relative_to(TOP)} lacks what is new in the headers: run make abi-ledger")
    else:
        FILE.write_text(text)


if __name__ == "__main__":
    main()
