"""LLVM assembly with control flow: fresh names, loops and branches."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from cayley.compiler.native.llvm import element_size

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class AssemblyText:
    """Lines of assembly with fresh names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers = count()

    def let(self, instruction: str) -> str:
        name = f"%x{next(self._numbers)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, stem: str) -> str:
        return f"{stem}{next(self._numbers)}"

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def require(self, condition: str, otherwise: str) -> None:
        """Go on if the condition holds, and to the label `otherwise` if not."""
        fine = self.label("fine")
        self.do(f"br i1 {condition}, label %{fine}, label %{otherwise}")
        self.place(fine)

    def repeat(self, start: str, stop: str, step: int, body: Callable[..., Any]) -> None:
        """`body(counter)` for counter = start, start + step, ... < stop."""
        self.repeat_until(start, stop, step, lambda counter, _: body(counter))

    def repeat_until(self, start: str, stop: str, step: int, body: Callable[[str, str], Any]) -> str:
        """`body(counter, end)` for counter = start, start + step, ... < stop, or until it goes to the label `end`; the
        counter then."""
        before, test, inside, latch, after = (self.label(s) for s in ("before", "test", "inside", "latch", "after"))
        self.do(f"br label %{before}")
        self.place(before)
        self.do(f"br label %{test}")
        self.place(test)
        counter = f"%i{next(self._numbers)}"
        following = f"%i{next(self._numbers)}"
        self.do(f"{counter} = phi i64 [{start}, %{before}], [{following}, %{latch}]")
        more = self.let(f"icmp slt i64 {counter}, {stop}")
        self.do(f"br i1 {more}, label %{inside}, label %{after}")
        self.place(inside)
        body(counter, after)
        self.do(f"br label %{latch}")
        self.place(latch)
        self.do(f"{following} = add i64 {counter}, {step}")
        self.do(f"br label %{test}")
        self.place(after)
        return counter

    def when(self, condition: str, then: Callable[..., Any], otherwise: Callable[..., Any] | None = None) -> None:
        yes, no, after = (self.label(s) for s in ("yes", "no", "after"))
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.place(yes)
        then()
        self.do(f"br label %{after}")
        self.place(no)
        if otherwise:
            otherwise()
        self.do(f"br label %{after}")
        self.place(after)

    def any_lane(self, width: int, precision: str, place: str, relation: str) -> str:
        """True if in one of the lanes the number at a place has this relation to zero."""
        kind = f"<{width} x {precision}>"
        numbers = self.let(f"load {kind}, ptr {place}, align {width * element_size(precision)}")
        lanes = self.let(f"fcmp {relation} {kind} {numbers}, zeroinitializer")
        mask = self.let(f"bitcast <{width} x i1> {lanes} to i{width}")
        return self.let(f"icmp ne i{width} {mask}, 0")

    def offset(self, pointer: str, *terms: tuple[str, str]) -> str:
        """pointer + sum of products, in bytes."""
        for a, b in terms:
            pointer = self.let(f"getelementptr i8, ptr {pointer}, i64 {self.let(f'mul i64 {a}, {b}')}")
        return pointer
