"""Expression graphs: scalar nodes, shared by value and simplified as they are built.

A `Graph` owns its nodes. Asking twice for the same operation on the same operands gives the same node, so common
sub-expressions exist once. Nodes are numbered in the order of their making, which is a topological order: no algorithm
on a graph needs recursion. What can be a node is listed in `operations`; the simplification rules are in `rules/`,
what NumPy sees of a node in `symbols.py`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from cayley.compiler.operations import BOOLEAN, OPERATIONS
from cayley.compiler.typing import Scalar
from cayley.errors import TraceError, UnsupportedError

_LOOKED_UP = ("a dictionary, a set or a cache looks up a symbolic value, which has no number yet: "
              "use cy.where(condition, a, b)")
_NOT_OF_TRUTHS = frozenset({"add", "subtract", "multiply", "remainder", "floor_divide", "power"})

RULES: dict[str, Callable[..., Node]] = {}
"""For each operation of the table, the function that builds it in its simplest form. Filled by `rules/`."""


def rule_of(op: str) -> Callable[..., Node]:
    """The function that builds nodes of any operation, also one that was listed later."""
    found = RULES.get(op)
    if found is None:
        from cayley.compiler.rules.functions import rule_by_table  # which builds upon this module
        return rule_by_table(op)
    return found


class Graph:
    """A table of nodes, in which equal expressions are one node.

    In a `strict` graph every operation stays as it was written: only rewrites that change no bit of any result are
    made. Otherwise the rules follow real algebra; `regroups` says whether they may also round in another way than as
    written. This is off while a function is traced, because the use of a value is not yet known. `simplify` turns
    it on where it is safe."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.regroups = False
        self.size = 0
        self._table: dict[tuple[Any, ...], Node] = {}

    def constant(self, value: float) -> Node:
        value = float(value) if self.strict else float(value) + 0.0  # -0.0 and 0.0 are one constant, unless bits count
        key: tuple[Any, ...] = ("constant", value) if value else ("constant", value, math.copysign(1.0, value))
        key = key if value == value else ("constant", "nan")
        found = self._table.get(key)
        return self._new(key, "constant", (), value) if found is None else found

    def input(self, name: str) -> Node:
        key = ("input", name)
        found = self._table.get(key)
        return self._new(key, "input", (), name) if found is None else found

    def node(self, op: str, *args: Node) -> Node:
        """The node `op(*args)` exactly as asked, without simplification."""
        key = (op, *[a.index for a in args])
        found = self._table.get(key)
        return self._new(key, op, args, None) if found is None else found

    def holding(self, op: str, value: Scalar, word: str, *args: Node) -> Node:
        """The node of an operation that holds something besides its operands, which `word` stands for."""
        key = (op, word, *[a.index for a in args])
        found = self._table.get(key)
        return self._new(key, op, args, value) if found is None else found

    def find(self, op: str, *args: Node) -> Node | None:
        """The node `op(*args)` if it has been made."""
        return self._table.get((op, *[a.index for a in args]))

    def _new(self, key: tuple[Any, ...], op: str, args: tuple[Node, ...], value: float | str | None) -> Node:
        if op not in OPERATIONS:
            raise UnsupportedError(f"there is no operation {op!r}: list it in compiler/operations")
        made = Node(self, self.size, op, args, value)
        self._table[key] = made
        self.size += 1
        return made

    def lift(self, value: Scalar) -> Node:
        """`value` as a node of this graph: a node stays itself, a real number becomes a constant."""
        if type(value) is float:
            return self.constant(value)
        if isinstance(value, Node):
            if value.graph is not self:
                raise TraceError(
                    "a symbol of one trace is used in another; pass it in as an argument instead of keeping it")
            return value
        if isinstance(value, numbers.Real):
            return self.constant(float(value))
        if getattr(value, "shape", None) == () and hasattr(value, "item"):
            return self.lift(value.item())
        raise UnsupportedError(f"a symbolic expression cannot hold a {type(value).__name__}: {value!r}")


class Node:
    """One scalar of a graph. Arithmetic on nodes builds new nodes."""

    __slots__ = ("args", "graph", "index", "op", "value")

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Node, ...], value: Scalar) -> None:
        self.graph = graph
        self.index = index
        self.op = op
        self.args = args
        self.value = value

    def __add__(self, other: Scalar) -> Scalar: return _binary("add", self, other)
    def __radd__(self, other: Scalar) -> Scalar: return _binary("add", other, self)
    def __sub__(self, other: Scalar) -> Scalar: return _binary("subtract", self, other)
    def __rsub__(self, other: Scalar) -> Scalar: return _binary("subtract", other, self)
    def __mul__(self, other: Scalar) -> Scalar: return _binary("multiply", self, other)
    def __rmul__(self, other: Scalar) -> Scalar: return _binary("multiply", other, self)
    def __truediv__(self, other: Scalar) -> Scalar: return _binary("divide", self, other)
    def __rtruediv__(self, other: Scalar) -> Scalar: return _binary("divide", other, self)
    def __pow__(self, other: Scalar) -> Scalar: return _binary("power", self, other)
    def __rpow__(self, other: Scalar) -> Scalar: return _binary("power", other, self)
    def __mod__(self, other: Scalar) -> Scalar: return _binary("remainder", self, other)
    def __rmod__(self, other: Scalar) -> Scalar: return _binary("remainder", other, self)
    def __floordiv__(self, other: Scalar) -> Scalar: return _binary("floor_divide", self, other)
    def __rfloordiv__(self, other: Scalar) -> Scalar: return _binary("floor_divide", other, self)
    def __lt__(self, other: Scalar) -> Scalar: return _binary("less", self, other)
    def __gt__(self, other: Scalar) -> Scalar: return _binary("less", other, self)
    def __le__(self, other: Scalar) -> Scalar: return _binary("less_equal", self, other)
    def __ge__(self, other: Scalar) -> Scalar: return _binary("less_equal", other, self)
    def __eq__(self, other: Scalar) -> Scalar: return _binary("equal", self, other)
    def __ne__(self, other: Scalar) -> Scalar: return _binary("not_equal", self, other)
    def __and__(self, other: Scalar) -> Scalar: return _logical("and", self, other)
    def __rand__(self, other: Scalar) -> Scalar: return _logical("and", other, self)
    def __or__(self, other: Scalar) -> Scalar: return _logical("or", self, other)
    def __ror__(self, other: Scalar) -> Scalar: return _logical("or", other, self)
    def __invert__(self) -> Scalar: return _logical("not", self)
    def __neg__(self) -> Scalar: return RULES["negative"](self)
    def __pos__(self) -> Scalar: return self
    def __abs__(self) -> Scalar: return RULES["absolute"](self)
    def __floor__(self) -> Scalar: return RULES["floor"](self)
    def __hash__(self) -> int: return hash(self._number(_LOOKED_UP))

    def conjugate(self) -> Node: return self

    def __bool__(self) -> bool:
        return bool(
            self._number("a Python branch (if, while, and, or, not, min, max, a chained comparison) needs to know "
                         "whether a symbolic value is true: use cy.where(condition, a, b), np.minimum, np.maximum, "
                         "np.logical_and"))

    def __float__(self) -> float:
        return self._number(
            "a symbolic value has no number yet: use NumPy's functions instead of those of math, and put "
            "symbols only into arrays made with dtype=object, np.stack or np.array")

    def __int__(self) -> int:
        return int(self._number("a symbolic value cannot become an integer: use np.floor"))

    def __index__(self) -> int:
        value = self._number(
            "a symbolic value cannot be an index, a length or a range: shapes must not depend on values")
        if not value.is_integer():
            raise TypeError(f"{value} is not an integer")
        return int(value)

    def _number(self, why_not: str) -> float:
        if self.op == "constant":
            return self.value
        raise TraceError(why_not)

    def __iter__(self) -> Scalar:
        raise TypeError("a symbolic scalar is not a sequence")

    def __array_ufunc__(self, ufunc: Scalar, method: Scalar, *inputs: Scalar,
                        **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        from cayley.compiler.tracing.symbols import apply_ufunc  # symbols imports this module
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Sequence[type[Any]], args: Sequence[Any],
                           options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        from cayley.compiler.tracing.array_functions import apply_function
        return apply_function(function, args, options)

    def __repr__(self) -> str:
        if self.op in ("constant", "input"):
            return str(self.value)
        return f"{self.op}({', '.join(str(a.value) if not a.args else f'#{a.index}' for a in self.args)})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "a symbol cannot be pickled or copied by itself; pickle the kernel or the program that holds it")


def _method(op: str) -> Callable[..., Node]:
    def on_nodes(self: Node, *others: Scalar) -> Node:
        return _binary(op, self, *others) if others else RULES[op](self)
    return on_nodes


for _operation in OPERATIONS.values():  # NumPy calls these by name on the elements of a plain object array
    if _operation.ufunc is not None and 1 <= _operation.arity <= 2 and not hasattr(Node, _operation.name):
        setattr(Node, _operation.name, _method(_operation.name))

numbers.Number.register(Node)  # so that np.isscalar says the same of a symbol as of its value


def _binary(op: str, a: Scalar, b: Scalar) -> Node:
    if type(a) is Node and type(b) is Node and a.graph is b.graph:
        first = a
        second = b
    elif type(b) is float:
        first = a
        second = a.graph.constant(b)
    elif type(a) is float:
        first = b.graph.constant(a)
        second = b
    else:
        graph = a.graph if isinstance(a, Node) else b.graph
        if getattr(a, "shape", ()) != () or getattr(b, "shape", ()) != ():
            return NotImplemented
        try:
            first = graph.lift(a)
            second = graph.lift(b)
        except UnsupportedError:
            return NotImplemented
    if first.op in BOOLEAN and second.op in BOOLEAN and op in _NOT_OF_TRUTHS:
        if op != "multiply":
            raise UnsupportedError(
                f"np.{op} of two truth values is not that of numbers: write & or |, or 1.0 * condition")
        op = "and"
    return RULES[op](first, second)


def _logical(op: str, *args: Scalar) -> Scalar:
    """The operators & | ~ are for truth values, as in NumPy; np.logical_and and its like take numbers too."""
    scalars = [a for a in args if getattr(a, "shape", ()) == ()]
    if not all(_is_truth(a) if isinstance(a, Node) else a in (True, False) for a in scalars):
        raise UnsupportedError(
            "& | ~ are for comparisons: use np.logical_and, np.logical_or, np.logical_not for numbers")
    return RULES[op](*args) if op == "not" else _binary(op, *args)


def _is_truth(node: Node) -> bool:
    if node.op == "where":
        return _is_truth(node.args[1]) and _is_truth(node.args[2])
    return node.op in BOOLEAN or (node.op == "constant" and node.value in (0.0, 1.0))


def apply(op: str, *args: Scalar) -> Node:
    """`op` on nodes and numbers, of which at least one is a node, in simplest form."""
    graph = next(a.graph for a in args if isinstance(a, Node))
    return rule_of(op)(*[graph.lift(a) for a in args])


def ancestors(outputs: Iterable[Node], ends: Container[int] = ()) -> list[Node]:
    """The nodes that the outputs need, in topological order, back to `ends`, the indices of nodes that are there."""
    pending = list(outputs)
    seen = {}
    while pending:
        node = pending.pop()
        if node.index not in seen and node.index not in ends:
            seen[node.index] = node
            pending.extend(node.args)
    return [seen[i] for i in sorted(seen)]


def is_constant(node: Node, value: float | None = None) -> bool:
    return node.op == "constant" and (value is None or node.value == value)


def is_power_of_two(value: float) -> bool:
    return math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5


def is_moderate(value: float) -> bool:
    """Far from overflow and underflow, in single precision too: a constant that may take the place of two others."""
    return 2.0**-60 <= abs(value) <= 2.0**60
