"""A program as the text of one CUDA kernel for states in rows, which a copying engine of the GPU moves.

A thread that reads its own row takes words that lie far from those of its neighbours: that keeps the first cache busier
than the memory. Here the rows of a tile are copied as they lie into one of two buffers in shared memory, while the tile
before is computed from the other; results go back the same way. Blocks stay, and take every so-and-so-manieth tile. The
states after the last full tile, and all of them where an operand does not begin at a multiple of `ALIGNED` bytes, are
read and written by their threads in a loop of its own, so that the loop of tiles is short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cayley.compiler.algebras.counts import count
from cayley.compiler.c.c_expressions import block, helper_names
from cayley.compiler.cuda.cuda_functions import cuda_dialect
from cayley.compiler.cuda.cuda_source import (
    Operand,
    Statements,
    Strides,
    kernel_name,
    kernel_of,
    operands_of,
    states_computed,
    tabled,
)
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.tracing.names import unique
from cayley.compiler.tracing.program import Program, Variable

TILE = 64  # states, one for each thread of a block
ALIGNED = 16  # bytes
_LINE = 128  # bytes, of which those in shared memory come together
LONG = 64  # bytes of a row
WORTH = {"float": (0, 30), "double": (22, 30)}
"""Operations for each number that is moved, between which it pays for rows that are not long. Of the copy of the same
bytes on an H200, each thread reading its row and by tiles: in double precision inverse dynamics of Panda (20) 98.7 %
and 95.8 %, of a general arm (25) 74.7 % and 94.6 %; in single precision 75.4 % and 99.7 %, 85.0 % and 93.3 %; forward
dynamics of Panda (39) 67.5 % and 59.3 %. Of a long row a thread takes less at once than comes with it: the inertia
matrix of Panda 6.8 % and 66.4 %."""
MOST = 48 * 1024  # bytes of a block, so that four are at work at once

_SIZE = {"float": 4, "double": 8}  # bytes
_NAMES = ("buffers", "arrived", "rows", "made", "tiles", "bring", "tile", "buffer", "parity", "state")
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
    """True if all operands are rows or the same for all states, and moving them by tiles is faster."""
    variables = [*program.inputs, *program.outputs]
    rows = [v for v, known in zip(variables, strides, strict=True) if _is_row(v, known)]
    same = [v for v, known in zip(program.inputs, strides, strict=False) if known[0] == 0]
    lengths = [len(v.nodes) for v in rows]
    longest = max(lengths, default=0) * _SIZE[precision]
    if len(rows) + len(same) < len(variables) or longest <= ALIGNED:
        return False
    least, most = WORTH[precision]
    is_worth = least * sum(lengths) < count(program).total < most * sum(lengths)
    return (longest > LONG or is_worth) and memory_of_tiles(program, precision, strides) <= MOST


def memory_of_tiles(program: Program, precision: str, strides: Sequence[Strides]) -> int:
    """The memory [bytes] of a block: two barriers, two buffers for inputs and one for outputs."""
    read = _read(program)
    inputs = sum(len(v.nodes) for v, known in zip(program.inputs, strides, strict=False)
                 if v.name in read and _is_row(v, known))
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
    numbers = tabled(dialect, f"{name}_numbers")
    by_tiles = states_computed(program, numbers, fetched, put, set(taken))
    each_its_own = states_computed(program, numbers, inputs, outputs, set(taken))
    tiles = _Tiles(name, dialect.real, [o for o in fetched if isinstance(o, _Row)],
                   [o for o in put if isinstance(o, _Row)])
    return kernel_of(program, dialect, inputs, outputs,
                     [*each_its_own.idle, *tiles.around(by_tiles), *_rest(each_its_own)],
                     [*_engine(name), *numbers.declared], (TILE,))


def _read(program: Program) -> set[str]:
    """The inputs of which something is read, by name."""
    uses = program.uses()
    return {v.name for v in program.inputs if any(uses[node.index] for node in v.nodes)}


def _is_row(variable: Variable, known: Strides) -> bool:
    """Rows, one after another."""
    return known == (len(variable.nodes), 1)


@dataclass(frozen=True)
class _Row(Operand):
    """An operand that is moved: the pointer to this thread's row of it, and where its rows begin in a buffer."""

    buffer: str = ""
    place: int = 0
    own: str = ""

    def at(self, place: int) -> str:
        return f"{self.own}[{place}]"

    @property
    def length(self) -> int:
        return len(self.variable.nodes)

    @property
    def in_tile(self) -> str:
        """The beginning of the rows of a tile in the operand."""
        return f"{self.pointer} + tile*{self.length * TILE}"


def _rows(operands: Sequence[Operand], taken: set[str], buffer: str) -> list[Operand]:
    """Operands whose rows are copied one after another into a buffer; the others stay where they are."""
    found: list[Operand] = []
    place = 0
    for o in operands:
        if _is_row(o.variable, o.known):
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
        """Statements of a thread for all full tiles of its block."""
        turn = [f"{self.name}_wait(arrived + buffer, parity);",
                *[f"const {self.real} *const {o.own} = {self._fetched_at(o)} + threadIdx.x*{o.length};"
                  for o in self.fetched],
                *[f"{self.real} *const {o.own} = made + {o.place * TILE} + threadIdx.x*{o.length};" for o in self.put],
                *does.loads, f"if (threadIdx.x == 0) {self.name}_taken();", "__syncthreads();",
                "if (threadIdx.x == 0) bring(tile + 2*(long long)gridDim.x, buffer);", *does.lines, *does.stores,
                *self._sent(), "buffer ^= 1;", "parity ^= buffer == 0;"]
        return [*self._opened(), *self._bringing(), "long long tile = blockIdx.x;", "int buffer = 0;",
                "unsigned parity = 0;", "#pragma unroll 1", "for (; tile < tiles; tile += gridDim.x) {",
                *[f"    {line}" for line in turn], "}", f"if (threadIdx.x == 0) {self.name}_written();"]

    @property
    def _length(self) -> int:
        return sum(o.length for o in self.fetched)

    def _fetched_at(self, o: _Row) -> str:
        return f"rows + (buffer*{self._length} + {o.place})*{TILE}"

    def _opened(self) -> list[str]:
        begins = " |\n        ".join(f"(unsigned long long){o.pointer}" for o in (*self.fetched, *self.put))
        made = sum(o.length for o in self.put)
        return [f"extern __shared__ __align__({_LINE}) unsigned char buffers[];",
                f"{self.real} *const rows = ({self.real} *)buffers;",
                f"{self.real} *const made = rows + {2 * self._length * TILE};",
                f"unsigned long long *const arrived = (unsigned long long *)(made + {made * TILE});",
                f"const long long tiles = ({begins}) % {ALIGNED} == 0 ? count/{TILE} : 0;"]

    def _bringing(self) -> list[str]:
        """The inputs of a tile come into a buffer, those of the first two at once."""
        bulk = [f"{self.name}_fence();", f"{self.name}_expect(arrived + buffer, {self._bytes(self._length)});",
                *[f"{self.name}_fetch({self._fetched_at(o)}, {o.in_tile}, {self._bytes(o.length)}, arrived + buffer);"
                  for o in self.fetched]]
        return ["const auto bring = [&](long long tile, int buffer) {", "    if (tile >= tiles) return;",
                *[f"    {line}" for line in bulk], "};", "if (threadIdx.x == 0) {",
                *[f"    {line}" for line in (f"{self.name}_open(arrived);", f"{self.name}_open(arrived + 1);",
                                             "bring(blockIdx.x, 0);", "bring(blockIdx.x + (long long)gridDim.x, 1);")],
                "}", "__syncthreads();"]

    def _sent(self) -> list[str]:
        """The outputs of a tile go where they belong, once all threads have made theirs."""
        return [f"{self.name}_fence();", "__syncthreads();", "if (threadIdx.x == 0) {",
                *[f"    {self.name}_put({o.in_tile}, made + {o.place * TILE}, {self._bytes(o.length)});"
                  for o in self.put], f"    {self.name}_commit();", "}"]

    def _bytes(self, length: int) -> int:
        return length * TILE * _SIZE[self.real]


def _rest(does: Statements) -> list[str]:
    """Statements of a thread for states that are in no full tile."""
    first = f"tile*{TILE} + threadIdx.x"
    return ["#pragma unroll 1",
            f"for (long long state = {first}; state < count; state += (long long)gridDim.x*{TILE}) {{",
            *[f"    {line}" for line in (*does.loads, *does.lines, *does.stores)], "}"]


def _engine(name: str) -> list[str]:
    return [block(f"static __device__ __forceinline__ void {name}_{each}({parameters})",
                  [f'asm volatile({assembly} : "memory");']) for each, (parameters, assembly) in _ENGINE.items()]
