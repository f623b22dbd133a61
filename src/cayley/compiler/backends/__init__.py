"""Backends, which turn programs into code or text: LLVM for this processor, C, CUDA, JavaScript and others. Each is one
module and one line here.

A backend is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from cayley.errors import UnsupportedError, did_you_mean

if TYPE_CHECKING:
    from cayley.compiler.backends.protocol import Backend

BACKENDS: dict[str, Backend | str] = {
    "llvm": "cayley.compiler.backends.llvm",
    "c": "cayley.compiler.backends.c",
    "cuda": "cayley.compiler.backends.cuda",
    "python": "cayley.compiler.backends.python",
    "fortran": "cayley.compiler.backends.fortran",
    "javascript": "cayley.compiler.backends.javascript",
    "latex": "cayley.compiler.backends.latex",
}
"""By the names of `kernel.on(...)` and `cayley export --language`: a backend, or the module that has it as `BACKEND`.
"""


def backend_named(name: str) -> Backend:
    """The backend of this name."""
    if name not in BACKENDS:
        advice = did_you_mean(name, tuple(BACKENDS), otherwise=f"; there are {', '.join(BACKENDS)}")
        raise UnsupportedError(f"there is no backend {name!r}{advice}")
    found = BACKENDS[name]
    return import_module(found).BACKEND if isinstance(found, str) else found
