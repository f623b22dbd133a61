"""Subroutines in Fortran, called from Python: by a compiler where there is one, and otherwise by reading the text line
by line, as far as generated text goes: declarations and assignments. What is read must be what the standard allows.
"""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess

import numpy as np

COMPILER = next((found for name in ("gfortran", "flang", "ifx") if (found := shutil.which(name))), None)
_ASSIGNMENT = re.compile(r"(?P<name>[a-z]\w*)(\((?P<place>[\d, ]+)\))? = (?P<value>.+)", re.IGNORECASE)
_DECLARATION = re.compile(
    r"real\(wp\)(, intent\((?P<way>in|out)\))? :: (?P<names>[\w, ()]+)", re.IGNORECASE)


def statements(text):
    """The statements, with continued lines joined; no line may be longer than the standard's 132 characters."""
    lines = [line for line in text.splitlines() if not line.startswith("!")]
    assert all(len(line) <= 132 and line.isascii() for line in lines)
    return [line.strip() for line in re.sub(r"\s*&\n\s*", " ", "\n".join(lines)).splitlines()]


def run(text, *arguments):
    """The outputs of the one subroutine in a text, in their order: read, not compiled."""
    head, *body, tail = statements(text)
    name, parameters = re.fullmatch(r"subroutine (\w+)\((.*)\)", head).groups()
    assert tail == f"end subroutine {name}" and body[0] == "implicit none"
    assert re.fullmatch(r"integer, parameter :: wp = kind\(1\.0(d0)?\)", body[1])
    room = {**{f: getattr(math, f) for f in ("sin", "cos", "tan", "atan", "atan2", "asin", "acos", "sqrt", "exp", "log",
                                             "tanh", "sinh", "cosh")}, "abs": abs,
            "max": max, "min": min, "merge": lambda a, b, condition: a if condition else b,
            "sign": lambda a, b: math.copysign(a, b)}
    names = [p.strip().lower() for p in parameters.split(",")]
    assert len(set(names)) == len(names)
    declared, outputs, given = {}, [], iter(arguments)
    for line in body[2:]:
        if (found := _DECLARATION.fullmatch(line)):
            for one in re.findall(r"(\w+)(\([\d, ]+\))?", found["names"]):
                label, extent = one[0].lower(), one[1]
                assert label not in declared and label not in ("wp", name.lower())
                shape = tuple(int(k) for k in extent.strip("()").split(",")) if extent else ()
                declared[label] = np.full(shape, np.nan)
                if found["way"] == "in":
                    declared[label] = np.broadcast_to(np.asarray(next(given), dtype=float), shape)
                    assert np.shape(declared[label]) == shape
                elif found["way"] == "out":
                    outputs.append(label)
            continue
        found = _ASSIGNMENT.fullmatch(line)
        assert found, line
        place = tuple(int(k) - 1 for k in found["place"].split(",")) if found["place"] else ()
        declared[found["name"].lower()][place] = eval(_in_python(found["value"]), room, _Room(declared))
    assert [n for n in names if n not in declared] == []
    return [declared[label][()] for label in outputs]


class _Room(dict):
    def __init__(self, declared):
        super().__init__()
        self.declared = declared

    def __missing__(self, name):
        array = self.declared[name.lower()]
        if array.shape == ():
            value = float(array)
            assert value == value, f"{name} is used before it is known"
            return value
        return lambda *place: float(array[tuple(k - 1 for k in place)])


def _in_python(value):
    value = re.sub(r"(?<=\d)_wp", "", value)
    for theirs, ours in ((".and.", " and "), (".or.", " or "), (".not.", " not "), ("/=", "!=")):
        value = value.replace(theirs, ours)
    return re.sub(r"\b(\d+)/(\d+)\b(?!\.)", r"(\1//\2)", value)  # integers divide as integers do in Fortran


def compiled(text, folder, *arguments, outputs):
    """The same by a compiler; `outputs` are arrays to be filled, matrices by columns."""
    path = folder / "text.f90"
    path.write_text(text)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-std=f2003", "-Wall", "-o", folder / "text.so", path], check=True,
                   cwd=folder)
    name = re.search(r"subroutine (\w+)", text)[1].lower()
    function = getattr(ctypes.CDLL(str(folder / "text.so")), f"{name}_")
    arrays = [np.asfortranarray(np.asarray(a, dtype=float)) for a in arguments]
    function(*[a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, *outputs)])
    return outputs
