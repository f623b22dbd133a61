"""A loop that a program calls, as LLVM assembly: turns around the functions of its body, for all lanes together.

The state is in one of two rows of memory, from which a turn makes the other. A lane that has stopped stands still, by
selection; when all lanes have, the loop ends, before the rest of the turn is computed. A turn whose text selects the
present state under some condition is left where that holds in all lanes: `idle`."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.native.control_flow import AssemblyText
from cayley.compiler.native.llvm import Core, element_size
from cayley.compiler.native.vector_assembly import Assembly
from cayley.compiler.tracing.loop import ProgramLoop
from cayley.compiler.tracing.loop_body import idle


class LoopCore:
    """The function of a loop, called as those of a `Core` are."""

    parts: Sequence[object] = ((),)
    crossing: Sequence[int] = ()

    def __init__(self, loop: ProgramLoop, width: int, precision: str, *, fused: bool, callees: dict[str, Core]) -> None:
        self.loop = loop
        self.width = width
        self.precision = precision
        name = loop.key[:16]
        body = loop.guarded if width > 1 else loop.simplified  # one lane leaves the loop where it stops
        with_idle = None if loop.stops else idle(body)
        self.skips = with_idle is not None
        self.turn = Core(with_idle or body, width, precision, fused=fused, callee=f"{name}_turn", callees=callees,
                         has_first=loop.stops or self.skips, is_dense=True)
        callees[f"{loop.key} turn"] = self.turn
        self.names = [f"core{width}_{name}_0"]
        self._row = len(self.turn.program.results)
        self.room = 2 * self._row + self.turn.room

    def declare(self, assembly: Assembly) -> None:
        kinds = ", ".join(["ptr"] * (len(self.loop.sizes) + 4))
        assembly.declarations.update((name, f"declare void @{name}({kinds}, i64)") for name in self.names)

    def part(self, number: int) -> Assembly:
        """The assembly of the function."""
        assembly = Assembly()
        assembly.is_plain = True
        self.turn.declare(assembly)
        inputs = [f"ptr noalias readonly %in{k}" for k in range(len(self.loop.sizes))]
        rest = ["ptr noalias writeonly %out", "ptr noalias %earlier", "ptr noalias %between", "ptr noalias %frames",
                "i64 %step"]
        assembly.functions[self.names[number]] = (
            f"define void @{self.names[number]}({', '.join([*inputs, *rest])}) alignstack(64) nounwind {{\n"
            + "\n".join(self._text().lines) + "\n  ret void\n}")
        return assembly

    def _text(self) -> AssemblyText:
        text = AssemblyText()
        loop = self.loop
        n, kept = (len(v.nodes) for v in self.turn.program.outputs[:2])
        arrays = iter(f"%in{k}" for k in range(len(loop.sizes)))
        start = next(arrays) if n else "%frames"
        scanned = [next(arrays) for _ in loop.scanned]
        constants = next(arrays, "%frames")
        rows = ["%frames", self._at(text, "%frames", str(self._row))]
        room = self._at(text, "%frames", str(2 * self._row))
        inner = self._at(text, room, str(len(self.turn.crossing)))
        self._copy(text, start, rows[0], n, str(self.width))

        def pair(count: str) -> list[str]:
            odd = text.let(f"trunc i64 {count} to i1")
            return [text.let(f"select i1 {odd}, ptr {a}, ptr {b}") for a, b in (rows[::-1], rows)]

        def turn(count: str, end: str) -> None:
            now, then = pair(count)
            place = text.let(f"sub i64 {loop.turns - 1}, {count}") if loop.backwards else count
            entries = [self._at(text, array, text.let(f"mul i64 {place}, {len(v.nodes)}"))
                       for array, v in zip(scanned, loop.scanned, strict=True)]
            pointers = ", ".join(f"ptr {p}" for p in (now, *entries, constants, then, room, room, inner))
            calls = [f"call void @{name}({pointers})" for name in self.turn.names]
            text.lines += [f"  {call}" for call in calls[:self.turn.first_parts]]
            if loop.stops:
                stop = self._at(text, then, str(n + kept))
                text.require(text.any_lane(self.width, self.precision, stop, "oeq"), end)
            rest = [f"  {call}" for call in calls[self.turn.first_parts:]]
            if self.skips:
                moves = text.any_lane(self.width, self.precision, self._at(text, then, str(n)), "oeq")
                text.when(moves, lambda: text.lines.extend(rest),
                          lambda: self._copy(text, now, then, n, str(self.width)))
            else:
                text.lines += rest
            if kept:
                first = text.let(f"add i64 {text.let(f'mul i64 {place}, {kept}')}, {n}")
                target = self._at(text, "%out", text.let(f"mul i64 {first}, %step"), 1)
                self._copy(text, self._at(text, then, str(n)), target, kept, "%step")

        done = text.repeat_until("0", str(loop.turns), 1, turn)
        self._copy(text, pair(done)[0], "%out", n, "%step")
        return text

    @property
    def _size(self) -> int:
        return self.width * element_size(self.precision)

    def _at(self, text: AssemblyText, pointer: str, element: str, lanes: int = 0) -> str:
        """The place of an element of all lanes, or of one of so many lanes."""
        offset = text.let(f"mul i64 {element}, {lanes or self.width}")
        return text.let(f"getelementptr {self.precision}, ptr {pointer}, i64 {offset}")

    def _copy(self, text: AssemblyText, source: str, target: str, count: int, step: str) -> None:
        """Elements side by side to places with a step between them."""
        kind = f"<{self.width} x {self.precision}>"

        def one(k: str) -> None:
            value = text.let(f"load {kind}, ptr {self._at(text, source, k)}, align {self._size}")
            offset = text.let(f"mul i64 {k}, {step}")
            place = text.let(f"getelementptr {self.precision}, ptr {target}, i64 {offset}")
            text.do(f"store {kind} {value}, ptr {place}, align {self._size}")

        if count:
            text.repeat("0", str(count), 1, one)
