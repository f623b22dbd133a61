"""The order in which the operations are computed, and the products that are fused into the sum that uses them."""

from __future__ import annotations

from collections.abc import Iterator

from cayley.compiler.operations import PARTNER
from cayley.compiler.tracing.exact_values import visible
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.program import Program


def schedule(program: Program) -> list[Node]:
    """The operations to carry out, operands first: the order, of those tried, that keeps the fewest values alive."""
    uses = program.uses()
    orders = [_paired(order) for order in (program.nodes, _depth_first(program))]
    operations = [[n for n in order if n.args] for order in orders]
    return min(operations, key=lambda order: _pressure(order, uses))


def _depth_first(program: Program) -> list[Node]:
    """Each output in turn, the operand that was made last first: what is computed is used soon."""
    done: set[int] = set()
    order: list[Node] = []
    pending: list[tuple[Node, bool]] = [(node, False) for node in reversed(program.results)]
    while pending:
        node, ready = pending.pop()
        if node.index in done:
            continue
        if ready:
            done.add(node.index)
            order.append(node)
        else:
            pending.append((node, True))
            pending.extend((a, False) for a in sorted(node.args, key=lambda a: a.index) if a.index not in done)
    return order


def _paired(order: list[Node]) -> list[Node]:
    """A sine and a cosine of one angle side by side, since they are computed together."""
    partner = {(n.op, n.args[0].index): n for n in order if n.op in PARTNER}
    result: list[Node] = []
    placed: set[int] = set()
    for node in order:
        pair = [node]
        if node.op in PARTNER and (other := partner.get((PARTNER[node.op], node.args[0].index))) is not None:
            pair.append(other)
        for member in pair:
            if member.index not in placed:
                placed.add(member.index)
                result.append(member)
    return result


def _pressure(order: list[Node], uses: dict[int, int]) -> int:
    """The sum over time of the number of live values; inputs and constants are read from memory and do not count."""
    return sum(_alive(order, uses))


def most_alive(program: Program) -> int:
    """The number of values that are alive at once, at most."""
    return max(_alive(schedule(program), program.uses()), default=0)


def _alive(order: list[Node], uses: dict[int, int]) -> Iterator[int]:
    left = dict(uses)
    alive = 0
    for node in order:
        for operand in node.args:
            if operand.args:
                left[operand.index] -= 1
                alive -= left[operand.index] == 0
        alive += 1
        yield alive


def fused_products(program: Program) -> dict[int, int]:
    """For each sum that is computed as a fused multiply-add, the index of the product in it.

    A product is absorbed only if every one of its uses can absorb it, so that it need not be computed by itself, and
    only into sums whose last bit is not seen; a sum of a product and the same product needs it by itself."""
    if program.is_strict:
        return {}
    seen = visible(program)
    users: dict[int, list[Node]] = {}
    for node in program.nodes:
        for operand in node.args:
            if operand.op == "multiply":
                users.setdefault(operand.index, []).append(node)
    results = {node.index for node in program.results}
    absorbed: dict[int, int] = {}
    for product, sums in users.items():
        free = all(s.op in ("add", "subtract") and s.args[0] is not s.args[1] and s.index not in absorbed
                   and s.index not in seen for s in sums)
        if free and product not in results and len(sums) <= 2:
            absorbed.update((s.index, product) for s in sums)
    return absorbed
