"""The few entries of the C interfaces of Python and NumPy that compiled kernels use.

Offsets are those of the public structures of `ndarraytypes.h` and `ufuncobject.h`, counted from the size of an object's
head, which differs between builds of Python."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath as _numpy  # type: ignore[attr-defined]

from cayley.compiler.typing import Scalar, Text

HEAD = object.__basicsize__
TYPE = HEAD - 8
ARRAY = {"data": HEAD, "nd": HEAD + 8, "dimensions": HEAD + 16, "descr": HEAD + 40, "flags": HEAD + 48}
TUPLE_SIZE = HEAD
TUPLE_ITEMS = tuple.__basicsize__
BYTES_ITEMS = bytes.__basicsize__ - 1
C_CONTIGUOUS = 0x1
ALIGNED = 0x100
WRITEABLE = 0x400
FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_UFUNC_OWNER = HEAD + 72
_BUFFER_OF_TYPE = HEAD + 8 + 17 * 8
_ARRAY_FUNCTIONS = {"PyArray_Type": 2, "PyArray_Scalar": 60, "PyArray_New": 93}
_UFUNC_FROM_LOOP = 31
LOOP_FUNCTIONS = ("PyGILState_Ensure", "PyErr_NoMemory", "PyGILState_Release")
"""What a loop finds in its `data`."""

abi = f"{sys.implementation.cache_tag}|{HEAD}|{TUPLE_ITEMS}|{BYTES_ITEMS}"
"""What machine code that touches Python objects depends on."""


def _python(name: str, result: type, *arguments: type) -> Scalar:
    """A function of Python's C interface, with a prototype of its own: those of `ctypes.pythonapi` are shared by
    everybody."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


def _table(capsule: object) -> Scalar:
    pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(capsule, None)
    return ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))


def address(name: str) -> int:
    """The address of a function of Python's or NumPy's C interface."""
    if name in _ARRAY_FUNCTIONS:
        return _table(_numpy._ARRAY_API)[_ARRAY_FUNCTIONS[name]]
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def ufunc_from_loop(loop: int, type_number: int, inputs: int, outputs: int, signature: str, name: str, doc: str,
                    owner: object) -> np.ufunc:
    """A generalized ufunc around a compiled loop. It keeps `owner`, and with it the code, alive."""
    operands = inputs + outputs
    table = (ctypes.c_void_p * len(LOOP_FUNCTIONS))(*[address(function) for function in LOOP_FUNCTIONS])
    functions = (ctypes.c_void_p * 1)(loop)
    data = (ctypes.c_void_p * 1)(ctypes.addressof(table))
    types = (ctypes.c_char * operands)(*[bytes([type_number])] * operands)
    texts = [ctypes.create_string_buffer(t.encode()) for t in (name, doc)]
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3, *[ctypes.c_int] * 4, *[ctypes.c_void_p] * 2,
                                  ctypes.c_int, ctypes.c_char_p)
    make = prototype(_table(_numpy._UFUNC_API)[_UFUNC_FROM_LOOP])
    made = make(ctypes.addressof(functions), ctypes.addressof(data), ctypes.addressof(types), 1, inputs, outputs, -1,
                *[ctypes.addressof(t) for t in texts], 0, signature.encode())
    _own(made, (functions, data, table, types, texts, owner))
    return made


def _own(ufunc: np.ufunc, kept: tuple[Any, ...]) -> None:
    """Hand `kept` to the ufunc's own field for it, which it releases when it goes."""
    _python("Py_IncRef", ctypes.c_int, ctypes.py_object)(kept)
    ctypes.c_void_p.from_address(id(ufunc) + _UFUNC_OWNER).value = id(kept)


class _MethodDefinition(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_char_p)]


def function_from_code(code: int, name: str, table: bytes, owner: object) -> Text:
    """A Python function whose body is machine code `code(table, args, count, keywords)`; it keeps `owner` alive."""
    definition = _MethodDefinition(name.encode(), code, FASTCALL_WITH_KEYWORDS, None)
    make = _python("PyCMethod_New", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object,
                   ctypes.c_void_p)
    return make(ctypes.addressof(definition), table, (definition, owner), None)


def without_buffer(kind: type) -> None:
    """Take the buffer protocol from a class written in Python: nothing reads the memory of its objects any more."""
    functions = ctypes.c_void_p.from_address(id(kind) + _BUFFER_OF_TYPE).value
    ctypes.c_void_p.from_address(functions or 0).value = None
