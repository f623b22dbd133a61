"""Straight-line vector arithmetic, written as Python expressions and emitted as LLVM assembly.

`Lanes` collects the lines of one function body; a `Value` is a vector of `width` lanes in it. No fast-math flag is ever
set and fused products are asked for by name, so each lane is rounded in the same way whatever the width."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cayley.compiler.typing import Scalar

if TYPE_CHECKING:
    pass

_SUFFIX = {"double": "f64", "float": "f32"}
_INTEGER = {"double": "i64", "float": "i32"}


@dataclass
class Assembly:
    """A module under construction: declarations and whole functions, each kept once, by name. A `plain` one is as good
    as it can be: optimising it would only take time."""

    declarations: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    is_plain: bool = False

    def text(self) -> str:
        return "\n".join([*self.declarations.values(), *self.functions.values()]) + "\n"


@dataclass(frozen=True)
class Value:
    """A vector of numbers (`double`, `float`), integers (`i64`, `i32`) or truth values (`i1`)."""

    lanes: Lanes
    name: str
    kind: str

    def __add__(self, other: Value | float) -> Value: return self.lanes.binary("add", self, other)
    def __radd__(self, other: float) -> Value: return self.lanes.binary("add", other, self)
    def __sub__(self, other: Value | float) -> Value: return self.lanes.binary("sub", self, other)
    def __rsub__(self, other: float) -> Value: return self.lanes.binary("sub", other, self)
    def __mul__(self, other: Value | float) -> Value: return self.lanes.binary("mul", self, other)
    def __rmul__(self, other: float) -> Value: return self.lanes.binary("mul", other, self)
    def __truediv__(self, other: Value) -> Value: return self.lanes.binary("div", self, other)
    def __rtruediv__(self, other: float) -> Value: return self.lanes.binary("div", other, self)
    def __neg__(self) -> Value: return self.lanes.negative(self)
    def __and__(self, other: Value | float) -> Value: return self.lanes.bits("and", self, other)
    def __or__(self, other: Value | float) -> Value: return self.lanes.bits("or", self, other)
    def __xor__(self, other: Value) -> Value: return self.lanes.bits("xor", self, other)
    def __lshift__(self, other: float) -> Value: return self.lanes.bits("shl", self, other)
    def __rshift__(self, other: float) -> Value: return self.lanes.bits("lshr", self, other)
    def __invert__(self) -> Value: return self.lanes.bits("xor", self, True if self.kind == "i1" else -1)
    def __lt__(self, other: Value | float) -> Value: return self.lanes.compare("lt", self, other)
    def __le__(self, other: Value) -> Value: return self.lanes.compare("le", self, other)
    def __gt__(self, other: Value | float) -> Value: return self.lanes.compare("gt", self, other)
    def __ge__(self, other: Scalar) -> Scalar: return self.lanes.compare("ge", self, other)
    def equals(self, other: Value | float) -> Value: return self.lanes.compare("eq", self, other)

    @property
    def typed(self) -> str:
        return f"{self.lanes.vector(self.kind)} {self.name}"


class Lanes:
    """The body of one function on vectors of `width` lanes in the working `precision` ("double" or "float")."""

    is_straight = False
    """Whether nothing may leave the straight way: there are no branches, and single precision does without double."""

    def __init__(self, assembly: Assembly, width: int, precision: str = "double", *, fused: bool = True) -> None:
        self.assembly = assembly
        self.width = width
        self.precision = precision
        self.fused = fused
        self.lines: list[str] = []
        self.block: str | None = None
        """The label of the block under construction; None as long as the body is the one block it was begun in."""
        self._count = 0

    def vector(self, kind: str) -> str:
        return f"<{self.width} x {kind}>"

    def fresh(self) -> str:
        self._count += 1
        return f"%t{self._count}"

    def line(self, instruction: str, kind: str) -> Value:
        """Append one instruction and name its result."""
        name = self.fresh()
        self.lines.append(f"{name} = {instruction}")
        return Value(self, name, kind)

    def constant(self, value: float | int | bool, kind: str | None = None) -> Value:
        kind = kind or self.precision
        return Value(self, f"splat ({kind} {literal(value, kind)})", kind)

    def lift(self, value: Value | float, like: Value) -> Value:
        return value if isinstance(value, Value) else self.constant(value, like.kind)

    def pair(self, a: Value | float, b: Value | float) -> tuple[Value, Value]:
        like = next((v for v in (a, b) if isinstance(v, Value)), self.constant(0.0))
        return self.lift(a, like), self.lift(b, like)

    def binary(self, op: str, a: Value | float, b: Value | float) -> Value:
        a, b = self.pair(a, b)
        op = op if a.kind.startswith("i") else f"f{op}"
        return self.line(f"{op} {a.typed}, {b.name}", a.kind)

    def bits(self, op: str, a: Value, b: Value | float) -> Value:
        a, b = self.pair(a, b)
        return self.line(f"{op} {a.typed}, {b.name}", a.kind)

    def compare(self, relation: str, a: Value, b: Value | float) -> Value:
        """Ordered for numbers (false for NaN), signed for integers."""
        a, b = self.pair(a, b)
        if a.kind.startswith("i"):
            return self.line(f"icmp {relation if relation == 'eq' else 's' + relation} {a.typed}, {b.name}", "i1")
        return self.line(f"fcmp o{relation} {a.typed}, {b.name}", "i1")

    def intrinsic(self, name: str, *args: Value, flags: str = "") -> Value:
        """`llvm.<name>` on vectors of the kind of its first argument."""
        kind = args[0].kind
        symbol = f"@llvm.{name}.v{self.width}{_SUFFIX.get(kind, kind)}"
        if symbol not in self.assembly.declarations:
            types = ", ".join(self.vector(a.kind) for a in args)
            self.assembly.declarations[symbol] = f"declare {self.vector(kind)} {symbol}({types})"
        return self.line(f"call {flags}{self.vector(kind)} {symbol}({', '.join([a.typed for a in args])})", kind)

    def fma(self, a: Value | float, b: Value | float, c: Value | float) -> Value:
        """a b + c, rounded once. On a machine without the instruction LLVM calls the C library: correct, slow."""
        like = next(x for x in (a, b, c) if isinstance(x, Value))
        return self.intrinsic("fma", *[self.lift(x, like) for x in (a, b, c)])

    def multiply_add(self, a: Scalar, b: Scalar, c: Scalar) -> Value:
        """a b + c, rounded once where the machine can, for sums whose accuracy does not depend on it."""
        return self.fma(a, b, c) if self.fused else a * b + c

    def negative(self, a: Value) -> Value: return self.line(f"fneg {a.typed}", a.kind)
    def sqrt(self, a: Value) -> Value: return self.intrinsic("sqrt", a)
    def absolute(self, a: Value) -> Value: return self.intrinsic("fabs", a)
    def floor(self, a: Value) -> Value: return self.intrinsic("floor", a)
    def nearest(self, a: Value) -> Value: return self.intrinsic("rint", a)
    def minimum(self, a: Value, b: Value) -> Value: return self.intrinsic("minimum", a, b, flags="nsz ")
    def maximum(self, a: Value, b: Value) -> Value: return self.intrinsic("maximum", a, b, flags="nsz ")
    def with_sign_of(self, a: Value | float, b: Value) -> Value: return self.intrinsic("copysign", self.lift(a, b), b)

    def select(self, condition: Value, a: Value | float, b: Value | float) -> Value:
        a, b = self.pair(a, b)
        return self.line(f"select {condition.typed}, {a.typed}, {b.typed}", a.kind)

    def as_integer(self, a: Value) -> Value:
        """The bit pattern of a number."""
        kind = _INTEGER[a.kind]
        return self.line(f"bitcast {a.typed} to {self.vector(kind)}", kind)

    def as_number(self, a: Value) -> Value:
        kind = "double" if a.kind == "i64" else "float"
        return self.line(f"bitcast {a.typed} to {self.vector(kind)}", kind)

    def convert(self, a: Value, kind: str) -> Value:
        """Between the two precisions."""
        return a if a.kind == kind else self.cast("fpext" if kind == "double" else "fptrunc", a, kind)

    def cast(self, op: str, a: Value, kind: str) -> Value:
        """LLVM's own conversions by name: `trunc`, `zext`, `sitofp`, ..."""
        return self.line(f"{op} {a.typed} to {self.vector(kind)}", kind)

    def polynomial(self, x: Value, coefficients: Scalar) -> Value:
        """Horner's rule; coefficients from the constant term up."""
        *rest, result = coefficients
        for c in reversed(rest):
            result = self.multiply_add(result, x, c)
        return result

    def any(self, condition: Value) -> str:
        """The name of an `i1` that says whether the condition holds in some lane."""
        symbol = f"@llvm.vector.reduce.or.v{self.width}i1"
        self.assembly.declarations[symbol] = f"declare i1 {symbol}({self.vector('i1')})"
        name = self.fresh()
        self.lines.append(f"{name} = call i1 {symbol}({condition.typed})")
        return name

    def rarely(self, condition: Value, values: Sequence[Value], replacements: Callable[[],
                                                                                       Sequence[Value]]) -> list[Value]:
        """`values`, replaced in the lanes where the condition holds; the code of `replacements()` is jumped over if
        there are none.

        That code should call a function marked `cold`, by which LLVM knows the branch to be rarely taken."""
        label = self.fresh()[1:]
        before = f"{label}.before"
        rare = f"{label}.rare"
        after = f"{label}.after"
        needed = self.any(condition)
        self.begin(before)
        self.begin(rare, f"br i1 {needed}, label %{rare}, label %{after}")
        replaced = [self.select(condition, new, old) for new, old in zip(replacements(), values, strict=True)]
        end = self.block
        self.begin(after)
        return [self.line(f"phi {self.vector(old.kind)} [ {old.name}, %{before} ], [ {new.name}, %{end} ]", old.kind)
                for new, old in zip(replaced, values, strict=True)]

    def begin(self, block: str, branch: str | None = None) -> None:
        """End the current block with a branch, by default to the new one, and begin that."""
        self.lines += [branch or f"br label %{block}", f"{block}:"]
        self.block = block

    def call(self, symbol: str, arguments: Sequence[Value], kinds: Sequence[str]) -> list[Value]:
        """A function of the module that takes vectors and returns a structure of vectors of these kinds."""
        structure = self.structure(kinds)
        result = self.fresh()
        self.lines.append(f"{result} = call {structure} {symbol}({', '.join(a.typed for a in arguments)})")
        return [self.line(f"extractvalue {structure} {result}, {i}", kind) for i, kind in enumerate(kinds)]

    def lane_by_lane(self, symbol: str, a: Value, kinds: Sequence[str]) -> list[Value]:
        """A function defined on vectors of one lane, called for each lane in turn."""
        if self.width == 1:
            return self.call(symbol, [a], kinds)
        wide = f"{symbol}.{self.width}"
        if wide not in self.assembly.functions:
            self.assembly.functions[wide] = _loop_over_lanes(self, symbol, wide, a.kind, kinds)
        return self.call(wide, [a], kinds)

    def structure(self, kinds: Sequence[str]) -> str:
        return f"{{ {', '.join(map(self.vector, kinds))} }}"

    def argument(self, name: str, kind: str) -> Value:
        return Value(self, f"%{name}", kind)

    def define(self, symbol: str, arguments: Sequence[Value], results: Sequence[Value],
               attributes: str = "nounwind") -> None:
        """Add this body to the module as an internal function for `call`."""
        structure = self.structure([r.kind for r in results])
        built = "poison"
        for i, r in enumerate(results):
            name = self.fresh()
            self.lines.append(f"{name} = insertvalue {structure} {built}, {r.typed}, {i}")
            built = name
        body = "\n".join([*self.lines, f"ret {structure} {built}"])
        head = f"define internal {structure} {symbol}({', '.join(a.typed for a in arguments)}) {attributes}"
        self.assembly.functions[symbol] = f"{head} {{\n{body}\n}}"


def _loop_over_lanes(lanes: Lanes, symbol: str, wide: str, kind: str, kinds: Sequence[str]) -> str:
    one = Lanes(lanes.assembly, 1)
    many = lanes.structure(kinds)
    single = one.structure(kinds)
    vectors = [lanes.vector(k) for k in kinds]
    lines = [
        f"define internal {many} {wide}({lanes.vector(kind)} %a) cold noinline nounwind {{",
        "entry:", "br label %loop",
        "loop:", "%lane = phi i32 [ 0, %entry ], [ %next, %loop ]",
        *[f"%before{i} = phi {v} [ zeroinitializer, %entry ], [ %after{i}, %loop ]" for i, v in enumerate(vectors)],
        f"%element = extractelement {lanes.vector(kind)} %a, i32 %lane",
        f"%argument = bitcast {kind} %element to {one.vector(kind)}",
        f"%results = call {single} {symbol}({one.vector(kind)} %argument)",
    ]
    for i, (k, v) in enumerate(zip(kinds, vectors, strict=True)):
        lines += [
            f"%vector{i} = extractvalue {single} %results, {i}",
            f"%scalar{i} = bitcast {one.vector(k)} %vector{i} to {k}",
            f"%after{i} = insertelement {v} %before{i}, {k} %scalar{i}, i32 %lane"]
    lines += [
        "%next = add i32 %lane, 1", f"%more = icmp slt i32 %next, {lanes.width}",
        "br i1 %more, label %loop, label %done", "done:"]
    built = "poison"
    for i, v in enumerate(vectors):
        lines.append(f"%built{i} = insertvalue {many} {built}, {v} %after{i}, {i}")
        built = f"%built{i}"
    return "\n".join([*lines, f"ret {many} {built}", "}"])


def literal(value: float | int | bool, kind: str) -> str:
    """A constant in LLVM's spelling; floats by their bits, so that nothing is rounded on the way."""
    if kind == "i1":
        return "true" if value else "false"
    if kind.startswith("i"):
        return str(int(value))
    # rounds, and gives infinity where float overflows
    exact = ctypes.c_float(value).value if kind == "float" else float(value)
    return f"0x{struct.unpack('<Q', struct.pack('<d', exact))[0]:016X}"
