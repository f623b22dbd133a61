"""Kernels that differ by something other than numbers: the frame of a pose, the axes of a Jacobian.

`@family("q")` turns a method that makes a kernel for one choice into a function that takes the arrays first, then the choice:

    @family("q")
    def jacobian(self, frame, *, axes): ...              makes the kernel of one frame and one kind of axes
    arm.jacobian(q, "tool", axes="world")                computes
    arm.jacobian.of("tool", axes="world")                is the kernel that does it; it is made once

The function is written from the method's signature, as dataclasses write theirs: keywords that it knows by name cost a call nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from typing import Any, Protocol

from cayley.compiler.kernel import Kernel
from cayley.errors import SignatureError

_FOR_THE_CALL = frozenset({"out", "dtype", "casting", "order"})
_CALL = """
def bind(kernels, general):
    def {name}({arrays}, {parameters}, **options):
        if not options:
            try:
                kernel = kernels[{choice}]
            except (KeyError, TypeError):  # not made yet, or a choice that is an array
                pass
            else:
                return kernel({arrays})
        return general([{arrays}], [{choice}], options)
    return {name}
"""


class Given:
    """A choice that is not made beforehand: the kernel takes it as one more array."""

    def __repr__(self) -> str:
        return "GIVEN"


GIVEN = Given()


class KernelFamily(Protocol):
    """`family(q, "tool", axes="world")` computes; `family.of("tool", axes="world")` is the kernel."""

    __name__: str

    def __call__(self, *arguments: Any, **named: Any) -> Any: ...

    def of(self, *choice: Any, **named: Any) -> Kernel: ...


class family:
    """Of a method that makes a kernel, the attribute that is called. `arrays` are the names of the arrays that come first; `given`, of
    choices that may be arrays too: the method then gets `GIVEN`, and its kernel one more input for each, in this order."""

    def __init__(self, *arrays: str, given: Sequence[str] = ()):
        self._arrays, self._given = arrays, given

    def __call__(self, make: Callable[..., Kernel]) -> family:
        self._make, self._name = make, make.__name__
        self._signature = inspect.signature(make).replace(return_annotation=inspect.Signature.empty)
        parameters = [p.replace(annotation=p.empty) for p in list(self._signature.parameters.values())[1:]]
        self._signature = self._signature.replace(parameters=parameters)
        self._bind = self._written([p.name for p in parameters])
        update_wrapper(self, make)
        return self

    def _written(self, names: Iterable[str]) -> Callable:
        space: dict[str, Any] = {}
        exec(_CALL.format(name=self._name, arrays=", ".join(self._arrays), parameters=str(self._signature)[1:-1],
                          choice="".join(f"{name}, " for name in names)), space)
        return space["bind"]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        made = vars(instance)[self._name] = self._made(instance)
        return made

    def _made(self, instance: Any) -> KernelFamily:
        kernels: dict[tuple, Kernel] = {}

        def chosen(choice: Sequence[Any]) -> Kernel:
            key = tuple(choice)
            if key not in kernels:
                kernels[key] = self._make(instance, **dict(zip(self._signature.parameters, choice, strict=True)))
            return kernels[key]

        def of(*choice: Any, **named: Any) -> Kernel:
            """The kernel of one choice; made once. `GIVEN` stands for a choice that is an array."""
            bound = self._signature.bind(*choice, **named)
            bound.apply_defaults()
            words, arrays = self._split(list(bound.arguments.values()))
            if arrays:
                raise SignatureError(f"{self._name}.of takes no arrays: say GIVEN, and give the array to the kernel after its others")
            return chosen(words)

        def general(arrays: list[Any], choice: list[Any], options: dict[str, Any]) -> Any:
            unknown = sorted(options.keys() - _FOR_THE_CALL)
            if unknown:
                raise TypeError(f"{self._name} has no option {unknown[0]!r}; it has {', '.join(self._signature.parameters)}, "
                                f"{', '.join(sorted(_FOR_THE_CALL))}")
            words, more = self._split(choice)
            return chosen(words)(*arrays, *more, **options)

        call = self._bind(kernels, general)
        call.of, call.__doc__, call.__module__ = of, self.__doc__, self._make.__module__
        return call

    def _split(self, choice: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The choice with `GIVEN` for the arrays in it, and these arrays; other choices that are sequences become tuples."""
        words, arrays = list(choice), []
        for k, name in enumerate(self._signature.parameters):
            if name in self._given and not (words[k] is None or isinstance(words[k], (str, Given))):
                arrays.append(words[k])
                words[k] = GIVEN
            elif isinstance(words[k], list) or hasattr(words[k], "tolist"):
                words[k] = _plain(words[k])
        return words, arrays


def _plain(choice: Any) -> Any:
    """A list or array as a tuple, which can be the key of a kernel."""
    listed = choice.tolist() if hasattr(choice, "tolist") else choice
    return tuple(map(_plain, listed)) if isinstance(listed, (list, tuple)) else listed
