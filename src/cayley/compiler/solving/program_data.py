"""The data of a quadratic or cone program as they are given: what they are called, their shapes, their structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.interior_point import ConeProgram
from cayley.compiler.solving.linear import chosen
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.symbols import rounding, symbols
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError

INFINITE = 1e20


class ProgramData(NamedTuple):
    """The arguments as arrays of numbers or symbols, None where one is absent; `cones` are pairs of F and g."""

    P: Any
    q: Any
    A: Any = None
    b: Any = None
    G: Any = None
    lower: Any = None
    upper: Any = None
    cones: tuple[tuple[Any, Any], ...] = ()

    def named(self) -> dict[str, Array]:
        """All arrays that are there, by name."""
        single = {name: value for name, value in zip(self._fields[:-1], self, strict=False) if value is not None}
        for k, (F, g) in enumerate(self.cones):
            single |= {f"F of cone {k}": F, f"g of cone {k}": g}
        return single

    @staticmethod
    def of_named(arrays: Sequence[tuple[str, Array]]) -> ProgramData:
        """The same from names and arrays."""
        single: dict[str, Any] = {name: array for name, array in arrays if name in ProgramData._fields}
        several = [array for name, array in arrays if name not in ProgramData._fields]
        cones = tuple(zip(several[::2], several[1::2], strict=True))
        return ProgramData(None, None)._replace(cones=cones, **single)

    def graph(self) -> Graph | None:
        """The graph of the symbols among the data, if there are any."""
        return next((x.graph for array in self.named().values() if array.dtype == object for x in array.flat
                     if isinstance(x, Node)), None)

    def checked(self, name: str) -> ProgramData:
        """The data as arrays whose shapes fit; an error names the first that does not."""
        cones = tuple((_array(name, f"F of cone {k}", F), _array(name, f"g of cone {k}", g))
                      for k, (F, g) in enumerate(_pairs(name, self.cones)))
        single = {label: _array(name, label, value) for label, value in zip(self._fields[:-1], self, strict=False)}
        made = self._replace(**single, cones=cones)
        for label, value in (("P", made.P), ("q", made.q)):
            if value is None:
                raise SignatureError(f"{name} needs {label}: give an array, of zeros if nothing depends on it")
        for one, other in (("A", "b"), ("b", "A")):
            if getattr(made, one) is not None and getattr(made, other) is None:
                raise SignatureError(f"{name} has {one} without {other}: A x = b needs both")
        for label, array, core, why in made._cores():
            if array.shape[max(0, array.ndim - len(core)):] != core:
                raise SignatureError(f"{name} needs {label} of shape {spelled(core)}, {why}, not of shape "
                                     f"{array.shape}")
            if made.graph() is not None and array.ndim != len(core):
                raise SignatureError(f"{name} solves one program within a kernel: {label} has the shape {array.shape}, "
                                     f"not {spelled(core)}")
        return made

    def nearby(self, name: str, start: Sequence[Any]) -> tuple[Array, ...]:
        """A solution of nearly the same program, as arrays whose shapes fit."""
        n, p, m = self.q.shape[-1], 0 if self.b is None else self.b.shape[-1], self.rows
        found = tuple(_array(name, "start", value) for value in start)
        if len(found) != 3 or [array.shape[-1:] for array in found] != [(n,), (p,), (m,)]:
            raise SignatureError(f"{name} starts from a former result, or from its x, equalities and inequalities, of "
                                 f"the shapes ({n},), ({p},) and ({m},), not {', '.join(str(a.shape) for a in found)}")
        return found

    @property
    def rows(self) -> int:
        """The number of rows with bounds."""
        bounds = [bound for bound in (self.lower, self.upper) if bound is not None]
        return self.G.shape[-2] if self.G is not None else bounds[0].shape[-1] if bounds else 0

    def _cores(self) -> Iterator[tuple[str, Array, tuple[int, ...], str]]:
        """Each array with its name, the shape that its last axes must have, and why."""
        n = self.q.shape[-1] if self.q.ndim else 0
        if not n:
            raise SignatureError(f"the program needs q of shape (n), at least one number, not of shape {self.q.shape}")
        yield "q", self.q, (n,), "a number for each unknown"
        yield "P", self.P, (n, n), "as many rows and columns as q has entries"
        for matrix, vectors in (("A", ("b",)), ("G", ("lower", "upper"))):
            array = getattr(self, matrix)
            if array is not None:
                rows = array.shape[-2] if array.ndim > 1 else 1
                yield matrix, array, (rows, n), "a column for each unknown"
            else:
                rows = n
            for label in vectors:
                if getattr(self, label) is not None:
                    yield label, getattr(self, label), (rows,), f"a number for each row of {matrix}" if (
                        array is not None) else "a number for each unknown"
        for k, (F, g) in enumerate(self.cones):
            rows = F.shape[-2] if F.ndim > 1 else 1
            yield f"F of cone {k}", F, (rows, n), "a column for each unknown"
            yield f"g of cone {k}", g, (rows,), "a number for each row of F"


def spelled(core: tuple[int, ...]) -> str:
    """A shape whose leading axes are free."""
    return f"({', '.join(map(str, core))})"


def _pairs(name: str, cones: Sequence[Any]) -> Sequence[Any]:
    for k, cone in enumerate(cones):
        if not isinstance(cone, (tuple, list)) or len(cone) != 2:
            raise SignatureError(f"{name} takes cones as pairs (F, g), of which t = F x + g has t[0] >= |t[1:]|; cone "
                                 f"{k} is {'none' if not isinstance(cone, (tuple, list)) else f'{len(cone)} things'}")
    return cones


def _array(name: str, label: str, value: Any) -> Any:  # noqa: ANN401 (None stays None)
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype != object and not np.issubdtype(array.dtype, np.number) and array.dtype != bool:
        raise SignatureError(f"{name} needs numbers for {label}, not an array of {array.dtype}")
    return array if array.dtype in (object, np.float32) else array.astype(float)


class ProgramLayout(NamedTuple):
    """The equations and sides that the rows of G became: those with bounds that are the same are equations after the
    given ones."""

    equations: int
    equal_rows: tuple[int, ...]

    def inequalities(self, program: ConeProgram, y: Array, z: Array) -> Array:
        """The multipliers of the rows of G, positive at an upper bound."""
        found = program.on_rows(program.factor * z)
        for k, row in enumerate(self.equal_rows):
            found[row] = y[self.equations + k]
        return found


    def sides(self, program: ConeProgram, start: tuple[Array, ...]) -> tuple[Array, Array, Array, Sequence[int]]:
        """x and the multipliers of equations and sides, given those of a result, and the rows of the sides."""
        x, y, z = start
        sides = [np.maximum(factor * z[row], 0.0) for factor, row in zip(program.factor, program.rows, strict=True)]
        return x, symbols([*y, *[z[row] for row in self.equal_rows]]), symbols(sides), program.rows


def as_program(given: ProgramData, graph: Graph) -> tuple[ConeProgram, ProgramLayout]:
    """The program that the steps solve. A bound that is infinite by its value becomes 0 x <= 1."""
    n = len(given.q)
    A = np.zeros((0, n)) if given.A is None else given.A
    b = np.zeros(0) if given.b is None else given.b
    G = np.eye(n) if given.G is None else given.G
    if given.rows == 0:
        G = np.zeros((0, n))
    m = len(G)
    lower = np.full(m, -np.inf) if given.lower is None else given.lower
    upper = np.full(m, np.inf) if given.upper is None else given.upper
    equal = tuple(r for r in range(m) if _same(lower[r], upper[r]))
    sides = [(r, sign, sign * bound[r]) for sign, bound in ((1.0, upper), (-1.0, lower)) for r in range(m)
             if r not in equal and not _is_infinite(bound[r])]
    finite = [abs(bound) < INFINITE for _, _, bound in sides]
    P = np.asarray(given.P, dtype=object)
    P = np.array([[P[i, j] if P[i, j] is P[j, i] else 0.5 * (P[i, j] + P[j, i]) for j in range(n)] for i in range(n)],
                 dtype=object)
    regular = np.sqrt(rounding(graph.constant(1.0)))
    return ConeProgram(
        symbols(P), symbols(given.q), symbols(np.concatenate([A, G[list(equal)]])),
        symbols(np.concatenate([b, upper[list(equal)]])), symbols(G), [r for r, _, _ in sides],
        symbols([chosen(f, sign, 0.0) for f, (_, sign, _) in zip(finite, sides, strict=True)]),
        symbols([chosen(f, bound, 1.0) for f, (_, _, bound) in zip(finite, sides, strict=True)]),
        [(symbols(F), symbols(g)) for F, g in given.cones], regular, regular), ProgramLayout(len(b), equal)


def _same(lower: Scalar, upper: Scalar) -> bool:
    if isinstance(lower, Node) or isinstance(upper, Node):
        return lower is upper
    return bool(lower == upper)


def _is_infinite(bound: Scalar) -> bool:
    value = bound.value if isinstance(bound, Node) and bound.op == "constant" else bound
    return not isinstance(value, Node) and bool(abs(value) >= INFINITE)
