"""The library's own elementary functions as CUDA: what `elementary` writes for vectors of lanes, for one thread.

No branches, no calls and no arrays: so nothing of a kernel must be kept in memory because of a sine. Products are
rounded by themselves where the functions say so, whatever the compiler would fuse."""

from __future__ import annotations

import numpy as np

from cayley.compiler.c.c_expressions import Dialect, block, is_helper
from cayley.compiler.elementary import emitter
from cayley.compiler.elementary.trigonometric import sincos
from cayley.compiler.native.vector_assembly import Assembly, Lanes, Value
from cayley.compiler.operations import OPERATIONS, OWN
from cayley.errors import UnsupportedError

_TYPES = {"double": "double", "float": "float", "i64": "unsigned long long", "i32": "unsigned", "i1": "int"}
_SIGNED = {"i64": "(long long)", "i32": "(int)"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<", "lshr": ">>",
          "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}
_PRODUCT = {"double": "__dmul_rn", "float": "__fmul_rn"}
_AS_INTEGER = {"double": ("i64", "(unsigned long long)__double_as_longlong"),
               "float": ("i32", "(unsigned)__float_as_int")}
_AS_NUMBER = {"i64": ("double", "__longlong_as_double((long long)"), "i32": ("float", "__int_as_float((int)")}


OWN_DIVISION = True

# A quotient as CUDA makes it itself, but without a branch to a slow way. What is not finite on the way is so because of
# the operands, and the product with the first guess is then right. A divisor nearer to zero than any normal number, and
# one so large that its reciprocal is no normal number, count as zero and as infinite.
_QUOTIENT = {"float": """{helper} __forceinline__ float {name}(float a, float b)
{{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    const float better = fmaf(fmaf(-b, r, 1.0f), r, r);
    const float q = __fmul_rn(a, better);
    const float rest = fmaf(-b, q, a);
    return rest - rest == 0.0f ? fmaf(rest, better, q) : __fmul_rn(a, r);
}}""", "double": """{helper} __forceinline__ double {name}(double a, double b)
{{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    const double e = fma(-b, r, 1.0);
    const double close = fma(fma(e, e, e), r, r);
    const double better = fma(fma(-b, close, 1.0), close, close);
    const double q = __dmul_rn(a, better);
    const double rest = fma(-b, q, a);
    return rest - rest == 0.0 ? fma(rest, better, q) : __dmul_rn(a, r);
}}"""}


class CudaDialect(Dialect):
    """CUDA: elementary functions are the library's own, and a sine comes with its cosine. Loops are inlined, so that
    their arrays are registers."""

    @property
    def looped(self) -> str:
        return f"{self.helper} __forceinline__"

    def stop(self, code: str) -> list[str]:
        """All threads of a warp leave a loop at once: those that leave it by themselves would go on by themselves."""
        return [f"const bool stops = {code};", "if (__all_sync(__activemask(), stops)) break;"]

    def change(self, name: str, code: str, *, may_stop: bool) -> str:
        return f"{name} = stops ? {name} : {code};" if may_stop else super().change(name, code, may_stop=may_stop)

    def is_helper(self, op: str) -> bool:
        return (op == "divide" and OWN_DIVISION) or is_helper(op) or _is_own(op)

    def sincos(self, prefix: str) -> str:
        return f"{prefix}_sincos"

    def define(self, op: str, prefix: str, found: dict[str, str]) -> None:
        if op in ("sin", "cos"):
            found.setdefault("sincos", self._sine_and_cosine(self.sincos(prefix)))
        elif op == "divide":
            found.setdefault(op, _QUOTIENT[self.real].format(helper=self.helper, name=f"{prefix}_{op}"))
        elif _is_own(op):
            found.setdefault(op, self._own(op, f"{prefix}_{op}"))
        else:
            super().define(op, prefix, found)

    def _sine_and_cosine(self, name: str) -> str:
        thread = Thread(self)
        results = sincos(thread, Value(thread, "x", self.real))
        stores = [f"*{target} = {value.name};" for target, value in zip(("sine", "cosine"), results, strict=True)]
        head = f"void {name}({self.real} x, {self.real} *sine, {self.real} *cosine)"
        return block(f"{self.helper} __forceinline__ {head}", [*thread.lines, *stores])

    def _own(self, op: str, name: str) -> str:
        operation = OPERATIONS[op]
        thread = Thread(self)
        operands = [Value(thread, letter, self.real) for letter in "abc"[:operation.arity]]
        result = emitter(operation)(thread, *operands)
        parameters = ", ".join(f"{self.real} {operand.name}" for operand in operands)
        return block(f"{self.helper} {self.real} {name}({parameters})", [*thread.lines, f"return {result.name};"])


def _is_own(op: str) -> bool:
    """An elementary function of the compiler itself; a rest, which every language has exactly, is none."""
    operation = OPERATIONS[op]
    return operation.is_function and operation is OWN.get(op) and not (operation.is_whole or operation.c_helper)


class Thread(Lanes):
    """The arithmetic of one thread, as statements of CUDA."""

    is_straight = True

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(Assembly(), 1, dialect.real)
        self._dialects = {real: type(dialect)(real, *_specials(real)) for real in ("double", "float")}

    def stated(self, expression: str, kind: str) -> Value:
        """Append one statement and name its result."""
        self._count += 1
        self.lines.append(f"const {_TYPES[kind]} t{self._count} = {expression};")
        return Value(self, f"t{self._count}", kind)

    def line(self, instruction: str, kind: str) -> Value:
        raise UnsupportedError(f"a thread has no instruction {instruction.partition(' ')[0]!r}")

    def constant(self, value: float | int | bool, kind: str | None = None) -> Value:
        kind = kind or self.precision
        if kind == "i1":
            return Value(self, str(int(value)), kind)
        if kind in _SIGNED:
            return Value(self, f"{int(value)}{'ull' if kind == 'i64' else 'u'}", kind)
        spelled = self._dialects[kind].number(float(np.float32(value)) if kind == "float" else float(value))
        return Value(self, f"({spelled})" if spelled.startswith("-") else spelled, kind)

    def binary(self, op: str, a: Value | float, b: Value | float) -> Value:
        left, right = self.pair(a, b)
        if op == "mul" and left.kind in _PRODUCT:
            return self.stated(f"{_PRODUCT[left.kind]}({left.name}, {right.name})", left.kind)
        return self.stated(f"{left.name} {_SIGNS[op]} {right.name}", left.kind)

    def bits(self, op: str, a: Value, b: Value | float) -> Value:
        left, right = self.pair(a, b)
        return self.stated(f"{left.name} {_SIGNS[op]} {right.name}", left.kind)

    def compare(self, relation: str, a: Value, b: Value | float) -> Value:
        left, right = self.pair(a, b)
        cast = _SIGNED.get(left.kind, "")
        return self.stated(f"{cast}{left.name} {_SIGNS[relation]} {cast}{right.name}", "i1")

    def intrinsic(self, name: str, *args: Value, flags: str = "") -> Value:
        kind = args[0].kind
        return self.stated(f"{self._dialects[kind].function(name)}({', '.join(a.name for a in args)})", kind)

    def negative(self, a: Value) -> Value:
        return self.stated(f"-{a.name}", a.kind)

    def select(self, condition: Value, a: Value | float, b: Value | float) -> Value:
        left, right = self.pair(a, b)
        return self.stated(f"{condition.name} ? {left.name} : {right.name}", left.kind)

    def as_integer(self, a: Value) -> Value:
        kind, function = _AS_INTEGER[a.kind]
        return self.stated(f"{function}({a.name})", kind)

    def as_number(self, a: Value) -> Value:
        kind, function = _AS_NUMBER[a.kind]
        return self.stated(f"{function}{a.name})", kind)

    def cast(self, op: str, a: Value, kind: str) -> Value:
        return self.stated(f"({_TYPES[kind]}){a.name}", kind)


def _specials(real: str) -> tuple[str, str]:
    """Infinity and NaN, which NVRTC does not have by name."""
    if real == "double":
        return "__longlong_as_double(0x7ff0000000000000LL)", "__longlong_as_double(0x7ff8000000000000LL)"
    return "__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)"


def cuda_dialect(precision: str) -> CudaDialect:
    """Numbers of this precision as CUDA spells them."""
    if precision not in ("double", "float"):
        raise UnsupportedError(f"CUDA must be written in 'double' or 'float', not {precision!r}")
    return CudaDialect(precision, *_specials(precision), helper="static __device__")
