"""A program as the text of one CUDA kernel for states in rows, which a copying engine of the GPU moves.

A thread that reads its own row takes words that lie far from those of its neighbours: in single precision that keeps
the first cache busier than the memory. Here the rows of a tile are copied as they lie into one of two buffers in shared
memory, while the tile before is computed from the other; results go back the same way. Blocks stay, and take every
so-and-so-manieth tile. A tile that is not full, and all of them where an operand does not begin at a multiple of
`ALIGNED` bytes, are copied word by word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import pack

from cayley.compiler.c_expressions import block, helper_names
from cayley.compiler.counts import count
from cayley.compiler.cuda_functions import CudaDialect, cuda_dialect
from cayley.compiler.cuda_source import (
    Operand,
    Statements,
    Strides,
    kernel_name,
    kernel_of,
    operands_of,
    states_computed,
)
from cayley.compiler.names import unique
from cayley.compiler.program import Program, Variable
from cayley.compiler.single_precision import in_precision

TILE = 64  # states, one for each thread of a block
ALIGNED = 16  # bytes
BUSY = {"float": 0, "double": 22}
"""Operations for each number that is moved, beyond which it pays: in double precision threads with fewer wait for no
cache. Of the copy of the same bytes on an H200, each reading its row and by tiles: inverse dynamics of Panda (20)
98.7 % and 95.8 %, of a general arm (25) 74.7 % and 94.6 %; in single precision 75.4 % and 99.7 %, 85.0 % and 93.3 %."""
MOST = 48 * 1024  # bytes of a block, so that four are at work at once

_SIZE = {"float": 4, "double": 8}  # bytes
_NUMBERS = 4096  # in constant memory, at most
_NAMES = ("buffers", "arrived", "rows", "made", "tiles", "straight", "whole", "words", "word", "bring", "tile", "turn",
          "buffer", "row", "last")
_EACH_TILE = "for (long long tile = blockIdx.x, turn = 0; tile < tiles; tile += gridDim.x, turn++) {"
_TURN = ("const int buffer = turn % 2;", "const int last = words(tile, 1) - 1;",
         "const int row = (int)threadIdx.x < last ? (int)threadIdx.x : last;")
_SHARED = "(unsigned)__cvta_generic_to_shared"
_ENGINE = {  # the operations of the engine, each with its parameters
    "open": ("unsigned long long *barrier", f'"mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"({_SHARED}(barrier))'),
    "expect": ("unsigned long long *barrier, unsigned bytes",
               f'"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"({_SHARED}(barrier)), "r"(bytes)'),
    "wait": ("unsigned long long *barrier, unsigned parity",
             r'"{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\n'
             rf'bra again;\ndone:\n}}" :: "r"({_SHARED}(barrier)), "r"(parity)'),
    "fetch": ("void *target, const void *source, unsigned bytes, unsigned long long *barrier",
              '"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: '
              f'"r"({_SHARED}(target)), "l"(source), "r"(bytes), "r"({_SHARED}(barrier))'),
    "put": ("void *target, const void *source, unsigned bytes",
            '"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: '
            f'"l"(target), "r"({_SHARED}(source)), "r"(bytes)'),
    "commit": ("", '"cp.async.bulk.commit_group;" ::'),
    "taken": ("", '"cp.async.bulk.wait_group.read 0;" ::'),
    "written": ("", '"cp.async.bulk.wait_group 0;" ::'),
    "fence": ("", '"fence.proxy.async.shared::cta;" ::')}


def pays(program: Program, precision: str, strides: Sequence[Strides]) -> bool:
    """Whether all operands are rows or the same for all states, and moving them by tiles is faster."""
    variables = [*program.inputs, *program.outputs]
    rows = [v for v, known in zip(variables, strides, strict=True) if _is_moved(v, known)]
    same = [v for v, known in zip(program.inputs, strides, strict=False) if known[0] == 0]
    if len(rows) + len(same) < len(variables):
        return False
    lengths = [len(v.nodes) for v in rows]
    is_busy = count(program).total > BUSY[precision] * sum(lengths)
    return (max(lengths, default=0) * _SIZE[precision] > ALIGNED and is_busy
            and memory_of_tiles(program, precision, strides) <= MOST)


def memory_of_tiles(program: Program, precision: str, strides: Sequence[Strides]) -> int:
    """In bytes, of a block: two barriers, two buffers for inputs and one for outputs."""
    read = _read(program)
    inputs = sum(len(v.nodes) for v, known in zip(program.inputs, strides, strict=False)
                 if v.name in read and _is_moved(v, known))
    return ALIGNED + TILE * (2 * inputs + sum(len(v.nodes) for v in program.outputs)) * _SIZE[precision]


def cuda_rows(program: Program, precision: str, strides: Sequence[Strides]) -> str:
    """The text of the kernel `kernel_name(program)(count, pointer, ...)` for operands that are rows, or of which inputs
    are the same for all states."""
    name = kernel_name(program)
    dialect = cuda_dialect(precision)
    program = in_precision(program, precision)
    taken = {*helper_names(name), *_NAMES, "count", f"{name}_numbers", *[f"{name}_{each}" for each in _ENGINE]}
    inputs, outputs = operands_of(program, taken, strides)
    read = _read(program)
    fetched = _rows([o for o in inputs if o.variable.name in read], taken, "rows")
    put = _rows(outputs, taken, "made")
    numbers = _Tabled(dialect.real, dialect.infinity, dialect.nan, dialect.helper, f"{name}_numbers")
    does = states_computed(program, numbers if precision == "double" else dialect, fetched, put, taken)
    tiles = _Tiles(name, dialect.real, [o for o in fetched if isinstance(o, _Row)],
                   [o for o in put if isinstance(o, _Row)])
    idle = [f"(void){name};" for o in inputs if o.variable.name not in read for name in (o.pointer, *o.unknown)]
    return kernel_of(program, dialect, inputs, outputs, [*idle, *does.idle, *tiles.around(does)],
                     [*_engine(name), *numbers.declared], (TILE,))


def _read(program: Program) -> set[str]:
    """The inputs of which something is read, by name."""
    uses = program.uses()
    return {v.name for v in program.inputs if any(uses[node.index] for node in v.nodes)}


def _is_moved(variable: Variable, known: Strides) -> bool:
    """Rows, one after another, or columns."""
    return known in ((len(variable.nodes), 1), (1, None))


@dataclass(frozen=True)
class _Row(Operand):
    """An operand that is moved: the pointer to this thread's row of it, and where its rows begin in a buffer."""

    buffer: str = ""
    place: int = 0
    own: str = ""

    def at(self, place: int) -> str:
        return f"{self.own}[{place * TILE if self.gap else place}]"

    @property
    def length(self) -> int:
        return len(self.variable.nodes)

    @property
    def gap(self) -> str:
        """From column to column, if it has columns."""
        return self.strides[-1] if self.known[-1] is None else ""

    @property
    def this(self) -> str:
        """Where this thread's numbers begin among those of a tile."""
        return "row" if self.gap else f"row*{self.length}"

    def copies(self, target: str) -> list[tuple[str, str, int]]:
        """What lies together: where it is in a buffer, where in the operand, and how many numbers for each state."""
        if not self.gap:
            return [(target, f"{self.pointer} + tile*{self.length * TILE}", self.length)]
        return [(f"{target} + {k * TILE}", f"{self.pointer} + tile*{TILE} + {k}*{self.gap}", 1)
                for k in range(self.length)]


def _rows(operands: Sequence[Operand], taken: set[str], buffer: str) -> list[Operand]:
    """Those that are rows one after another in a buffer, the others where they are."""
    found: list[Operand] = []
    place = 0
    for o in operands:
        if _is_moved(o.variable, o.known):
            own = unique(f"{o.pointer}_row", taken)
            taken.add(own)
            found.append(_Row(o.variable, o.pointer, o.strides, o.known, o.turn, buffer, place, own))
            place += len(o.variable.nodes)
        else:
            found.append(o)
    return found


@dataclass(frozen=True)
class _Tiles:
    """The loop of a block over its tiles."""

    name: str
    real: str
    fetched: list[_Row]
    put: list[_Row]

    def around(self, does: Statements) -> list[str]:
        """What a thread does in all."""
        turn = [*_TURN, f"if (whole(tile)) {self.name}_wait(arrived + buffer, turn/2 % 2);", "else __syncthreads();",
                *[f"const {self.real} *const {o.own} = rows + (buffer*{self._length} + {o.place})*{TILE} + {o.this};"
                  for o in self.fetched],
                *[f"{self.real} *const {o.own} = made + {o.place * TILE} + {o.this};" for o in self.put],
                *does.loads, f"if (threadIdx.x == 0) {self.name}_taken();", "__syncthreads();",
                "bring(tile + 2*(long long)gridDim.x, buffer);", *does.lines, *does.stores, *self._sent()]
        return [*self._opened(), *self._bringing(), _EACH_TILE, *[f"    {line}" for line in turn], "}",
                f"if (threadIdx.x == 0) {self.name}_written();"]

    @property
    def _length(self) -> int:
        return sum(o.length for o in self.fetched)

    def _opened(self) -> list[str]:
        moved = (*self.fetched, *self.put)
        begins = " |\n        ".join([*[f"(unsigned long long){o.pointer}" for o in moved],
                                      *[f"(unsigned long long)({o.gap}*{_SIZE[self.real]})" for o in moved if o.gap]])
        return [f"extern __shared__ __align__({ALIGNED}) unsigned char buffers[];",
                "unsigned long long *const arrived = (unsigned long long *)buffers;",
                f"{self.real} *const rows = ({self.real} *)(buffers + {ALIGNED});",
                f"{self.real} *const made = rows + {2 * self._length * TILE};",
                f"const long long tiles = (count + {TILE - 1})/{TILE};",
                f"const bool straight = ({begins}) % {ALIGNED} == 0;",
                f"const auto whole = [&](long long tile) {{ return straight && count - tile*{TILE} >= {TILE}; }};",
                "const auto words = [&](long long tile, int length) {",
                f"    return (int)(count - tile*{TILE} < {TILE} ? count - tile*{TILE} : {TILE})*length;", "};",
                "if (threadIdx.x == 0) {",
                *[f"    {self.name}_{each};" for each in ("open(arrived)", "open(arrived + 1)", "fence()")], "}",
                "__syncthreads();"]

    def _bringing(self) -> list[str]:
        """The inputs of a tile come into a buffer."""
        copies = [each for o in self.fetched for each in o.copies(f"rows + (buffer*{self._length} + {o.place})*{TILE}")]
        bulk = [f"{self.name}_fence();", f"{self.name}_expect(arrived + buffer, {self._bytes(self._length)});",
                *[f"{self.name}_fetch({target}, {source}, {self._bytes(length)}, arrived + buffer);"
                  for target, source, length in copies]]
        return ["const auto bring = [&](long long tile, int buffer) {", "    if (tile >= tiles) return;",
                "    if (whole(tile)) {", "        if (threadIdx.x == 0) {", *[f"            {line}" for line in bulk],
                "        }", "        return;", "    }", *[line for each in copies for line in _by_words(*each)],
                "};", "bring(blockIdx.x, 0);", "bring(blockIdx.x + (long long)gridDim.x, 1);"]

    def _sent(self) -> list[str]:
        """The outputs of a tile go where they belong, once all threads have made theirs."""
        copies = [(target, source, length) for o in self.put
                  for source, target, length in o.copies(f"made + {o.place * TILE}")]
        return [f"{self.name}_fence();", "__syncthreads();", "if (!whole(tile)) {",
                *[line for each in copies for line in _by_words(*each)], "} else if (threadIdx.x == 0) {",
                *[f"    {self.name}_put({target}, {source}, {self._bytes(length)});"
                  for target, source, length in copies], f"    {self.name}_commit();", "}"]

    def _bytes(self, length: int) -> int:
        return length * TILE * _SIZE[self.real]


def _by_words(target: str, source: str, length: int) -> list[str]:
    return [f"    for (int word = threadIdx.x; word < words(tile, {length}); word += {TILE})",
            f"        ({target})[word] = ({source})[word];"]


def _engine(name: str) -> list[str]:
    return [block(f"static __device__ __forceinline__ void {name}_{each}({parameters})",
                  [f'asm volatile({assembly} : "memory");']) for each, (parameters, assembly) in _ENGINE.items()]


@dataclass(frozen=True)
class _Tabled(CudaDialect):
    """Numbers for which an instruction has no room are in constant memory: to build one takes two more."""

    table: str = ""
    values: dict[float, int] = field(default_factory=dict)

    def number(self, value: float) -> str:
        size = abs(value)
        is_short = pack("<d", size)[:4] == bytes(4)  # its lower half is zero, as of infinity and of NaN
        if is_short or (size not in self.values and len(self.values) == _NUMBERS):
            return super().number(value)
        place = self.values.setdefault(size, len(self.values))
        return f"{'-' if value < 0 else ''}{self.table}[{place}]"

    @property
    def declared(self) -> list[str]:
        entries = ", ".join(super(_Tabled, self).number(value) for value in self.values)
        return [f"static __constant__ double {self.table}[] = {{{entries}}};"] if self.values else []
