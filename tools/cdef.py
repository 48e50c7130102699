#!/usr/bin/env python3
"""Writes what Python needs of the public headers: python/linattn/_cdef.py for cffi and python/ctypes_table.py for ctypes.

Needs a C compiler (CC, by default cc) and Python's own library only. `--check` compares with the committed files instead of writing
them, and fails when they are stale."""
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
HEADERS = TOP / "include" / "linattn"
CDEF = TOP / "python" / "linattn" / "_cdef.py"
TABLE = TOP / "python" / "ctypes_table.py"
NUMBERS = {"int": "c_int", "size_t": "c_size_t", "double": "c_double", "int32_t": "c_int32", "uint64_t": "c_uint64"}


# ---- Declarations from the headers -----------------------------------------------------------------------------------------------
def preprocess():
    """The public declarations: the compiler's output, less what comes from other headers."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    arguments = ["-E", "-std=c11", "-DLINATTN_API=", "-I", str(HEADERS.parent), "-x", "c", "-"]
    source = "#include <linattn/linattn.h>\n"
    output = subprocess.run(compiler + arguments, input=source, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    lines, ours = [], False
    for line in output.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = os.path.realpath(os.path.dirname(marker.group(1))) == str(HEADERS)
        elif ours and not line.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


def spell(tokens):
    """Tokens as text, spaced the same whatever the preprocessor did."""
    text = " ".join(tokens)
    text = re.sub(r"\* ?", "*", text)
    text = re.sub(r" ([,)\]])", r"\1", text)
    text = re.sub(r"([(\[]) ", r"\1", text)
    text = re.sub(r"(\w) ([(\[])(?!\*)", r"\1\2", text)
    return text.replace(") (", ")(").replace("* *", "**")


def declarations(text):
    """Each top-level declaration as (head, items of its braces or None, tail)."""
    depth, head, inner, tail, braces = 0, [], [], [], False
    for token in re.findall(r"\w+|<<|>>|[^\s\w]", text):
        if token == "{":
            depth, braces = depth + 1, True
        elif token == "}":
            depth -= 1
        elif token == ";" and depth == 0:
            yield spell(head), split(inner, head[0] == "enum") if braces else None, spell(tail)
            head, inner, tail, braces = [], [], [], False
        else:
            (inner if depth else tail if braces else head).append(token)


def split(tokens, is_enum):
    """The members in braces: those of an enum end with a comma, those of a struct with a semicolon."""
    return [item.strip() for item in re.split("," if is_enum else ";", spell(tokens)) if item.strip()]


def evaluate(members, known):
    """name = number for each member of an enum; what a value is made of may only be earlier members."""
    for member in members:
        name, _, value = member.partition("=")
        known[name.strip()] = eval(value, {"__builtins__": {}}, known)  # the headers are ours
        yield f"{name.strip()} = {known[name.strip()]}"


class Interface:
    """What the headers declare."""

    def __init__(self):
        self.constants, self.enums, self.structs, self.handles, self.callbacks, self.functions = {}, [], {}, [], {}, {}
        for head, members, tail in declarations(preprocess()):
            if head.startswith("enum"):
                self.enums.append((head, list(evaluate(members, self.constants))))
            elif members is not None:
                self.structs[tail] = members
            elif head.startswith("typedef struct"):
                self.handles.append(head.split()[-1])
            elif head.startswith("typedef"):
                self.callbacks[re.search(r"\(\*(\w+)\)", head).group(1)] = head
            else:
                self.functions[re.search(r"(\w+)\(", head).group(1)] = head


def comments():
    """{struct: {field: its comment}}, from the headers as they are written."""
    found = {}
    for header in sorted(HEADERS.glob("*.h")):
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", header.read_text(), re.DOTALL):
            fields = re.findall(r"(?:(\w+)(?:\[\w+\])?|\(\*(\w+)\)\([^)]*\));[ ]*(?:/\*(.*?)\*/)?|/\*.*?\*/", body, re.DOTALL)
            named = {field or callback: " ".join(text.split()) for field, callback, text in fields}
            found[name] = {field: text for field, text in named.items() if text and field not in ("struct_size", "reserved")}
    return found


# ---- cffi ------------------------------------------------------------------------------------------------------------------------
def wrapped(text, indent=""):
    return "\n".join(textwrap.wrap(text, 128, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False))


def cdef_text(interface):
    lines = []
    for head, members in interface.enums:
        lines.append(f"{head} {{\n" + "".join(f"    {member},\n" for member in members) + "};")
    lines += [f"typedef struct {name} {name};" for name in interface.handles]
    # Callbacks may take structs and structs hold callbacks: names first.
    lines += [f"typedef struct {name} {name};" for name in interface.structs]
    lines += [wrapped(text) + ";" for text in interface.callbacks.values()]
    for name, members in interface.structs.items():
        lines.append(f"struct {name} {{\n" + "".join(wrapped(member, "    ") + ";\n" for member in members) + "};")
    lines += [wrapped(text) + ";" for text in interface.functions.values()]
    return "\n".join(lines)


def quoted(text, indent):
    """A Python string, over several lines where it is long."""
    pieces = textwrap.wrap(text, 100, drop_whitespace=False) or [""]
    return ("\n" + indent).join('"' + piece.replace("\\", "\\\\").replace('"', '\\"') + '"' for piece in pieces)


def cdef_module(interface):
    version = tuple(interface.constants["LINATTN_VERSION_" + part] for part in ("MAJOR", "MINOR", "PATCH"))
    lines = [
        '"""The public headers for cffi, written by tools/cdef.py; edit the headers instead."""',
        "",
        f"VERSION = {version}",
        "",
        'SOURCE = """',
        cdef_text(interface),
        '"""',
        "",
        "# What the headers say of each field; for enumerations this begins with the enum's name.",
        "COMMENTS = {",
    ]
    for name, fields in comments().items():
        lines.append(f'    "{name}": {{')
        for field, text in fields.items():
            lines.append(f'        "{field}": ' + quoted(text, " " * 8) + ",")
        lines.append("    },")
    return "\n".join(lines + ["}", ""])


# ---- ctypes ----------------------------------------------------------------------------------------------------------------------
def parameters(text):
    """The parameters in the outer parentheses' text, split at commas that are in no further parentheses."""
    return [] if text == "void" else [part.strip() for part in re.split(r",(?![^(]*\))", text)]


def ctype(interface, text):
    """The ctypes expression of a C type; handles are addresses."""
    match = re.fullmatch(r"(?:const )?(?:struct )?(\w+) ?(\**)", text)
    base, stars = match.group(1), len(match.group(2))
    if base in interface.callbacks:
        return base
    if base == "void" or base in interface.handles:
        base, stars = ("c_void_p" if stars else "None"), max(stars - 1, 0)
    elif base == "char":
        base, stars = "c_char_p", stars - 1
    else:
        base = NUMBERS.get(base, base)
    return "POINTER(" * stars + base + ")" * stars


def unnamed(parameter):
    """A parameter's type: all but its name."""
    return re.fullmatch(r"(.*?\**)\s*\b\w+", parameter).group(1).strip()


def signature(interface, text):
    """(result, [parameters]) of a function's or a callback's declaration."""
    text = text.replace("typedef ", "")
    result, inner = re.fullmatch(r"(.*?[ *])(?:\(\*\w+\)|\w+)\((.*)\)", text).groups()
    return ctype(interface, result.strip()), [ctype(interface, unnamed(part)) for part in parameters(inner)]


def field(interface, member):
    """(name, ctypes expression) of a struct's member."""
    callback = re.search(r"\(\*(\w+)\)", member)
    if callback:
        result, inner = signature(interface, member)
        return callback.group(1), f"CFUNCTYPE({', '.join([result] + inner)})"
    array = re.fullmatch(r"char (\w+)\[(\d+)\]", member)
    if array:
        return array.group(1), f"c_char * {array.group(2)}"
    return re.search(r"(\w+)$", member).group(1), ctype(interface, unnamed(member))


def table_module(interface):
    lines = [
        '"""liblinattn for ctypes, written by tools/cdef.py; edit the headers instead.',
        "",
        "    library = declare(ctypes.CDLL(path))",
        "",
        "gives every function its argtypes and restype. Handles are c_void_p: make one by `s = c_void_p()` and pass byref(s).",
        'Keep every callback referenced for as long as the library may call it."""',
        "from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint64, "
        "c_void_p",
        "",
    ]
    lines += [f"{name} = {value}" for name, value in interface.constants.items()] + ["", ""]
    for name in interface.structs:
        lines += [f"class {name}(Structure):", "    pass", "", ""]
    for name, text in interface.callbacks.items():
        result, inner = signature(interface, text)
        lines.append(f"{name} = CFUNCTYPE({', '.join([result] + inner)})")
    for name, members in interface.structs.items():
        lines += ["", f"{name}._fields_ = ["]
        for member in members:
            spelled = "    (\"%s\", %s)," % field(interface, member)
            lines.append(wrapped(spelled))
        lines.append("]")
    lines += ["", "# name: (restype, argtypes)", "FUNCTIONS = {"]
    for name, text in interface.functions.items():
        result, inner = signature(interface, text)
        lines.append(wrapped(f'    "{name}": ({result}, [{", ".join(inner)}]),'))
    lines += [
        "}",
        "",
        "",
        "def declare(library):",
        '    """Gives every function of the library its types, and returns the library."""',
        "    for name, (restype, argtypes) in FUNCTIONS.items():",
        "        function = getattr(library, name)",
        "        function.restype, function.argtypes = restype, argtypes",
        "    return library",
        "",
    ]
    return "\n".join(lines)


def main():
    interface = Interface()
    written = {CDEF: cdef_module(interface), TABLE: table_module(interface)}
    for path, text in written.items():
        if sys.argv[1:] == ["--check"]:
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.relative_to(TOP)} is stale: run tools/cdef.py")
        else:
            path.write_text(text)


if __name__ == "__main__":
    main()
