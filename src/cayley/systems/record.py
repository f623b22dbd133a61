"""Named values: what the texts of a system are given for its state, inputs and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cayley.compiler.typing import Array
from cayley.errors import SignatureError, check_known


class NoSuchValue(SignatureError, AttributeError):
    """A name that is none of a record's, asked for as an attribute: `hasattr` says no."""


class Record:
    """Values by name, as attributes (`x.current`) or by index (`x["motor.current"]`), in the order of their layout.

    >>> u = Record("inputs of motor", {"voltage": 12.0})
    >>> u.voltage, list(u)
    (12.0, ['voltage'])
    >>> u.volts
    Traceback (most recent call last):
    cayley.systems.record.NoSuchValue: the inputs of motor have no 'volts': did you mean 'voltage'?
    """

    def __init__(self, whose: str, values: Mapping[str, Any]) -> None:
        self._whose = whose
        self._values = dict(values)

    def __getitem__(self, name: str) -> Array:
        if name not in self._values:
            check_known([name], self._values, f"the {self._whose} have no", "there are")
        return self._values[name]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except SignatureError as missing:
            raise NoSuchValue(*missing.args) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{self._whose}: {', '.join(f'{name} = {value}' for name, value in self._values.items())}>"

    def replaced(self, values: Mapping[str, Any]) -> Record:
        """The same with some values changed."""
        return Record(self._whose, self._values | dict(values))
