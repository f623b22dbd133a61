"""Sums, differences and signs: zeros vanish, signs travel outwards, constants gather, like terms join."""

from __future__ import annotations

from collections.abc import Callable

from cayley.compiler.rules import as_written
from cayley.compiler.rules.common import coefficient, fold, in_order, number, rule
from cayley.compiler.tracing.graph import RULES, Node, is_constant, is_moderate

_SUMS = ("add", "subtract")


@rule("add")
def add(a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    if a.graph.strict:
        return as_written.add(a, b)
    if (known := _known(lambda x, y: x + y, a, b)) is not None:
        return known
    if is_constant(a, 0.0):
        return b
    if is_constant(b, 0.0):
        return a
    if a.op == "negative":
        return negative(add(a.args[0], b.args[0])) if b.op == "negative" else subtract(b, a.args[0])
    if b.op == "negative":
        return subtract(a, b.args[0])
    if a.op == "constant" and a.value < 0:
        return subtract(b, a.graph.constant(-a.value))
    if b.op == "constant" and b.value < 0:
        return subtract(a, a.graph.constant(-b.value))
    for simpler in (_gathered_sum, _cancelled, _sums_cancelled, _like_sum, _pythagoras):
        if (found := simpler(a, b)) is not None:
            return found
    return a.graph.node("add", *in_order(a, b))


@rule("subtract")
def subtract(a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    if a.graph.strict:
        return as_written.subtract(a, b)
    if (known := _known(lambda x, y: x - y, a, b)) is not None:
        return known
    if a is b:
        return a.graph.constant(0.0)
    if is_constant(b, 0.0):
        return a
    if is_constant(a, 0.0):
        return negative(b)
    if a.op == "negative":
        return subtract(b.args[0], a.args[0]) if b.op == "negative" else negative(add(a.args[0], b))
    if b.op == "negative":
        return add(a, b.args[0])
    if b.op == "constant" and b.value < 0:
        return add(a, a.graph.constant(-b.value))
    if a.op == "constant" and a.value < 0:
        return negative(add(a.graph.constant(-a.value), b))
    for simpler in (_gathered_difference, _difference_cancelled, _differences_cancelled, _like_difference):
        if (found := simpler(a, b)) is not None:
            return found
    if a.graph.find("subtract", b, a) is not None:
        return negative(a.graph.node("subtract", b, a))
    return a.graph.node("subtract", a, b)


@rule("negative")
def negative(a: Node) -> Node:
    a = number(a)
    if a.op == "constant":
        return a.graph.constant(-a.value)
    return a.args[0] if a.op == "negative" else a.graph.node("negative", a)


def _known(function: Callable[..., float], a: Node, b: Node) -> Node | None:
    """The sum of constants; a constant that is NaN is the sum with anything, and nothing takes it away again."""
    if a.op != "constant" and b.op != "constant":
        return None
    nan = next((x for x in (a, b) if x.op == "constant" and x.value != x.value), None)
    return fold(function, a, b) if nan is None else nan


def _offset(node: Node) -> tuple[float, int, Node] | None:
    """`node` as (k, sign, x) with node = k + sign x, for a sum with a constant in it."""
    if node.op == "add" and node.args[0].op == "constant":
        return node.args[0].value, 1, node.args[1]
    if node.op == "subtract" and node.args[0].op == "constant":
        return node.args[0].value, -1, node.args[1]
    if node.op == "subtract" and node.args[1].op == "constant":
        return -node.args[1].value, 1, node.args[0]
    return None


def _gathered_sum(a: Node, b: Node) -> Node | None:
    """k1 + (k2 + x) = (k1 + k2) + x."""
    constant, other = (a, b) if a.op == "constant" else (b, a)
    return _gathered(constant, 1, other) if constant.op == "constant" else None


def _gathered_difference(a: Node, b: Node) -> Node | None:
    """k1 - (k2 + x) = (k1 - k2) - x, and (k1 + x) - k2 = (k1 - k2) + x."""
    if a.op == "constant":
        return _gathered(a, -1, b)
    return _gathered(a.graph.constant(-b.value), 1, a) if b.op == "constant" else None


def _gathered(constant: Node, sign: int, other: Node) -> Node | None:
    """constant + sign other, if the other is a sum with a constant in it too."""
    if not constant.graph.regroups or (parts := _offset(other)) is None:
        return None
    value, inner_sign, x = parts
    total = constant.value + sign * value
    if total != 0.0 and not is_moderate(total):
        return None
    together = constant.graph.constant(total)
    return add(together, x) if sign * inner_sign > 0 else subtract(together, x)


def _cancelled(a: Node, b: Node) -> Node | None:
    """(x - y) + y = x."""
    for p, q in ((a, b), (b, a)):
        if p.op == "subtract" and p.args[1] is q:
            return p.args[0]
    return None


def _difference_cancelled(a: Node, b: Node) -> Node | None:
    """(x + y) - y = x, x - (x + y) = -y, (x - y) - x = -y, x - (x - y) = y."""
    if a.op == "add" and (a.args[0] is b or a.args[1] is b):
        return a.args[1] if a.args[0] is b else a.args[0]
    if b.op == "add" and (b.args[0] is a or b.args[1] is a):
        return negative(b.args[1] if b.args[0] is a else b.args[0])
    if a.op == "subtract" and a.args[0] is b:
        return negative(a.args[1])
    if b.op == "subtract" and b.args[0] is a:
        return b.args[1]
    return None


def _sums_cancelled(a: Node, b: Node) -> Node | None:
    """(x - y) + (y + z) = x + z."""
    if a.op not in _SUMS or b.op not in _SUMS:
        return None
    return _without_opposites(_two_terms(a), _two_terms(b))


def _differences_cancelled(a: Node, b: Node) -> Node | None:
    """(x + y) - (y + z) = x - z."""
    if a.op not in _SUMS or b.op not in _SUMS:
        return None
    return _without_opposites(_two_terms(a), [(-sign, x) for sign, x in _two_terms(b)])


def _two_terms(node: Node) -> list[tuple[int, Node]]:
    """A sum or difference as its two terms with their signs."""
    return [(1, node.args[0]), (1 if node.op == "add" else -1, node.args[1])]


def _without_opposites(these: list[tuple[int, Node]], those: list[tuple[int, Node]]) -> Node | None:
    for i, (sign, x) in enumerate(these):
        for j, (other, y) in enumerate(those):
            if x is y and sign == -other and x.op != "constant":
                return _signed_sum(these[1 - i], those[1 - j])
    return None


def _signed_sum(one: tuple[int, Node], two: tuple[int, Node]) -> Node:
    s, x = one
    t, y = two
    if s == t:
        return add(x, y) if s > 0 else negative(add(x, y))
    return subtract(x, y) if s > 0 else subtract(y, x)


def _like_sum(a: Node, b: Node) -> Node | None:
    return _like_terms(a, b, 1.0)


def _like_difference(a: Node, b: Node) -> Node | None:
    return _like_terms(a, b, -1.0)


def _like_terms(a: Node, b: Node, sign: float) -> Node | None:
    """c1 x + c2 x = (c1 + c2) x."""
    c, x = coefficient(a)
    d, y = coefficient(b)
    if x is not y or x.op == "constant":
        return None
    total = c + sign * d
    may_join = (c == d or a.graph.regroups) and (total == 0.0 or is_moderate(total))
    if not may_join:
        return None
    return RULES["multiply"](a.graph.constant(total), x)


def _pythagoras(a: Node, b: Node) -> Node | None:
    """sin^2 + cos^2 = 1."""
    if a.op == b.op == "multiply" and a.args[0] is a.args[1] and b.args[0] is b.args[1]:
        s = a.args[0]
        c = b.args[0]
        if {s.op, c.op} == {"sin", "cos"} and s.args[0] is c.args[0]:
            return a.graph.constant(1.0)
    return None
