"""Signatures of kernels, written as NumPy writes those of generalized ufuncs: `(n),(n,3)->(n)`."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cayley.errors import SignatureError, shown

Dimension = int | str
Dimensions = tuple[Dimension, ...]
_OPERAND = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_OPERANDS = rf"\s*{_OPERAND}\s*(?:,\s*{_OPERAND}\s*)*"


@dataclass(frozen=True)
class Signature:
    """The core shapes of inputs and outputs; a dimension is a number or a name that is bound at the first use."""

    inputs: tuple[Dimensions, ...]
    outputs: tuple[Dimensions, ...]

    @staticmethod
    def parse(text: str) -> Signature:
        """
        >>> Signature.parse("(n),(3,n)->()")
        Signature(inputs=(('n',), (3, 'n')), outputs=((),))
        """
        if not isinstance(text, str) or not re.fullmatch(rf"{_OPERANDS}->{_OPERANDS}", text):
            raise SignatureError(
                f"{text!r} is not a signature: write the core shapes of inputs and outputs as in '(n),(3,n)->(n)', "
                "with () for a scalar")
        inputs, outputs = ([_dimensions(operand, text) for operand in re.findall(_OPERAND, side)]
                           for side in text.split("->"))
        return Signature(tuple(inputs), tuple(outputs))

    @property
    def names(self) -> tuple[str, ...]:
        """The free dimensions of the inputs, in order of appearance."""
        return tuple(dict.fromkeys(d for shape in self.inputs for d in shape if isinstance(d, str)))

    def bind(self, shapes: Sequence[tuple[int, ...]], labels: Sequence[str]) -> dict[str, int]:
        """The free dimensions, from the shapes of the arguments; leading axes beyond the core are the batch."""
        bound: dict[str, int] = {}
        for label, core, shape in zip(labels, self.inputs, shapes, strict=True):
            if len(shape) < len(core):
                raise SignatureError(f"argument {label!r} has shape {shape}, but its core shape is {spell(core)}: "
                                     f"it needs at least {len(core)} axes")
            for dimension, size in zip(core, shape[len(shape) - len(core):], strict=True):
                expected = bound.setdefault(dimension, size) if isinstance(dimension, str) else dimension
                if size != expected:
                    meaning = f" with {dimension} = {expected}" if isinstance(dimension, str) else ""
                    raise SignatureError(
                        f"argument {label!r} has shape {shape}, which does not fit {spell(core)}{meaning}")
        return bound

    def check_bound(self, bound: Mapping[str, int], kernel: str) -> None:
        missing = [name for name in self.names if name not in bound]
        unknown = [name for name in bound if name not in self.names]
        if missing or unknown:
            said = (f"needs {', '.join(f'{m}=...' for m in missing)}" if missing
                    else f"has no dimension {', '.join(unknown)}")
            raise SignatureError(f"{kernel} with signature {self} {said}")
        for name, size in bound.items():
            if not isinstance(size, int) or size < 0:
                raise SignatureError(f"dimension {name} of {kernel} must be a whole number, not {shown(size)}")

    def input_shapes(self, bound: Mapping[str, int]) -> list[tuple[int, ...]]:
        return [tuple(bound[d] if isinstance(d, str) else d for d in shape) for shape in self.inputs]

    def __str__(self) -> str:
        return f"{','.join(map(spell, self.inputs))}->{','.join(map(spell, self.outputs))}"


def joined_batch(batches: Sequence[tuple[int, ...]], labels: Sequence[str]) -> tuple[int, ...]:
    """The shape that leading axes broadcast to."""
    if len(set(batches)) == 1:
        return batches[0]
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        named = ", ".join(f"{label} {batch}" for label, batch in zip(labels, batches, strict=True))
        raise SignatureError(f"the leading axes of the arguments do not broadcast: {named}") from None


def check_names(names: Sequence[str], whose: str, *, identifiers: bool = True) -> None:
    """Check that names differ, and that those which become fields are identifiers."""
    for k, name in enumerate(names):
        if name in names[:k]:
            raise SignatureError(f"the name {name!r} is given to two {whose}")
        if identifiers and (not str(name).isidentifier() or keyword.iskeyword(name) or name.startswith("_")):
            raise SignatureError(
                f"{name!r} cannot be a name for one of the {whose}: it must be an identifier of Python, "
                "no keyword, and not begin with an underscore")


def spell(shape: Sequence[Dimension]) -> str:
    return f"({','.join(map(str, shape))})"


def _dimensions(operand: str, text: str) -> Dimensions:
    words = re.findall(r"\w+", operand)
    for word in words:
        if not (word.isdecimal() or word.isidentifier()):
            raise SignatureError(f"{word!r} in {text!r} is neither a number nor a name")
    return tuple(int(w) if w.isdecimal() else w for w in words)
