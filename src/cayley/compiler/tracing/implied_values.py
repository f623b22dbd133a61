"""Implied values: the number comes from one computation, the derivative from another.

The solution x of r(x, p) = 0 is found by eliminations, choices of pivots, iterations. What it does when p changes is
not found by going back through all that, but from the equations it solves: dx = -J^-1 dr. So x is written twice. Its
number is what was computed. Its derivative is that of `h - J(h)^-1 r(h, p)`, in which h is that number, *held*: it has
no derivative, and neither has what is held of J.

In a derivative every held value is released: the solution stands in its place, with its own derivative. So derivatives
of every order are right, and none goes through the way on which the number was found. Programs that are to be evaluated
need no marks: `plain` takes them off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cayley.compiler.operations import MARKS
from cayley.compiler.tracing.graph import Node, ancestors
from cayley.compiler.tracing.program import Program, build_again, rebuild
from cayley.compiler.typing import Scalar

_KEPT = MARKS - {"independent"}


@dataclass(frozen=True)
class ImpliedValues:
    """Values that are implied together.

    `places` are their held numbers, `laws` have their derivatives, `tag` is on whatever else is held."""

    tag: Node
    places: tuple[Node, ...]
    laws: tuple[Node, ...]

    @staticmethod
    def of(node: Node) -> ImpliedValues:
        """The group that an implied node belongs to."""
        _, tag, *pairs = node.args
        return ImpliedValues(tag, tuple(pairs[::2]), tuple(pairs[1::2]))

    @property
    def values(self) -> list[Node]:
        """The implied nodes themselves; a number that is the same whatever the inputs are needs no law."""
        pairs = [node for pair in zip(self.places, self.laws, strict=True) for node in pair]
        return [place.args[0] if place.op == "held" and place.args[0].op == "constant" else
                self.tag.graph.node("implied", place, self.tag, *pairs) for place in self.places]


def implied(numbers: Sequence[Node],
            law: Callable[[list[Node], Callable[[Any], Any]], Sequence[Node]]) -> ImpliedValues:
    """The group of these numbers with the derivatives of `law(places, hold)`, whose own numbers do not matter.

    `places` are the numbers, held; `hold` holds a scalar that depends on them or on anything else."""
    graph = numbers[0].graph
    places = [held_apart(number) for number in numbers]
    tag = graph.constant(graph.size)

    def hold(scalar: Scalar) -> Scalar:
        return scalar if not isinstance(scalar, Node) or scalar.op == "constant" else graph.node("held", scalar, tag)

    return ImpliedValues(tag, tuple(places), tuple(graph.lift(s) for s in law(places, hold)))


def held_apart(number: Node) -> Node:
    """The number as a node of its own: equal numbers that are held apart can be differentiated by one at a time."""
    return number.graph.node("held", number, number.graph.constant(number.graph.size))


def followed(node: Node) -> Node:
    """The node whose derivative an implied node has."""
    group = ImpliedValues.of(node)
    return next(law for place, law in zip(group.places, group.laws, strict=True) if place is node.args[0])


def released(nodes: Sequence[Node], among: Iterable[Node]) -> list[Node]:
    """The nodes with solutions in the place of what is held of them, for all `among` some in topological order."""
    groups = {tuple(a.index for a in node.args[1:]): ImpliedValues.of(node) for node in among if node.op == "implied"}
    made = list(nodes)
    for group in groups.values():  # in topological order: what is solved within another problem comes first
        made = released_from(group, made)
    return made


def released_from(group: ImpliedValues, nodes: Sequence[Node]) -> list[Node]:
    """The nodes with the values of one group in the place of what is held of them."""
    own = group.values
    new = {place.index: value for place, value in zip(group.places, own, strict=True)}
    for node in ancestors(nodes, {value.index for value in own} | new.keys()):
        operands = [new.get(a.index, a) for a in node.args]
        if node.op == "held" and node.args[1] is group.tag:
            new[node.index] = operands[0]
        elif any(a is not b for a, b in zip(operands, node.args, strict=True)):
            new[node.index] = build_marked(node, operands)
    return [new.get(node.index, node) for node in nodes]


def build_marked(node: Node, operands: Sequence[Node]) -> Node:
    """`node` on new operands, in simplest form, with its marks."""
    return operands[0].graph.node(node.op, *operands) if node.op in _KEPT else build_again(node, operands)


def is_marked(program: Program) -> bool:
    """True if some of its values are implied."""
    return any(node.op in _KEPT for node in program.nodes)


def plain(program: Program) -> Program:
    """The program without marks, for those who evaluate it."""
    return rebuild(program) if any(node.op in MARKS for node in program.nodes) else program
