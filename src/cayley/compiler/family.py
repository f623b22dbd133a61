"""Kernels that differ by something other than numbers: the frame of a pose, the axes of a Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cayley.compiler.kernel import Kernel
from cayley.errors import SignatureError

_FOR_THE_CALL = frozenset({"out", "dtype", "casting", "order"})


class KernelFamily:
    """`family(q, "tool", axes="world")` computes; `family.of("tool", axes="world")` is the kernel that does it."""

    def __init__(self, make: Callable[..., Kernel], arrays: int, name: str, doc: str | None = None):
        self._make, self._arrays, self._kernels = make, arrays, {}  # type: ignore[var-annotated]
        self.__name__, self.__doc__ = name, doc or make.__doc__

    def of(self, *choice: Any, **named: Any) -> Kernel:
        """The kernel of one choice; made once."""
        key = (choice, tuple(sorted(named.items())))
        if key not in self._kernels:
            self._kernels[key] = self._make(*choice, **named)
        return self._kernels[key]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if len(arguments) < self._arrays:
            raise SignatureError(f"{self.__name__} takes {self._arrays} arrays first, then what distinguishes its kernels")
        call = {key: named.pop(key) for key in list(named) if key in _FOR_THE_CALL}
        return self.of(*arguments[self._arrays:], **named)(*arguments[:self._arrays], **call)

    def __repr__(self) -> str:
        return f"<kernels {self.__name__}>"
