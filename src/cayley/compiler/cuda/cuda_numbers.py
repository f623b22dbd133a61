"""The numbers of a CUDA kernel in constant memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import pack

from cayley.compiler.cuda.cuda_functions import CudaDialect

_NUMBERS = 4096  # in constant memory, at most


def tabled(dialect: CudaDialect, table: str) -> Tabled:
    """The same, with a table of this name."""
    return Tabled(dialect.real, dialect.infinity, dialect.nan, dialect.helper, table)


@dataclass(frozen=True)
class Tabled(CudaDialect):
    """Numbers for which an instruction has no room, of double precision, are in constant memory: to build one takes two
    more instructions."""

    table: str = ""
    values: dict[float, int] = field(default_factory=dict)

    def number(self, value: float) -> str:
        size = abs(value)
        is_short = pack("<d", size)[:4] == bytes(4)  # its lower half is zero, as of infinity and of NaN
        if self.real == "float" or is_short or (size not in self.values and len(self.values) == _NUMBERS):
            return super().number(value)
        place = self.values.setdefault(size, len(self.values))
        return f"{'-' if value < 0 else ''}{self.table}[{place}]"

    @property
    def declared(self) -> list[str]:
        entries = ", ".join(super(Tabled, self).number(value) for value in self.values)
        return [f"static __constant__ double {self.table}[] = {{{entries}}};"] if self.values else []
