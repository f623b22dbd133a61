"""Whole-program simplification: what the rules cannot see because it depends on how often a value is used.

Factoring never adds an operation: only sums and products that nothing else uses are taken apart. Terms of a sum that
cancel go."""

from __future__ import annotations

from collections import Counter

from cayley.compiler.tracing.calls import expanded, worth_calling
from cayley.compiler.tracing.exact_values import visible
from cayley.compiler.tracing.graph import RULES, Graph, Node, is_moderate
from cayley.compiler.tracing.implied_values import plain
from cayley.compiler.tracing.program import Build, Program, build_again, rebuild, without_collection

_SUM = ("add", "subtract", "negative")
_MOST_TERMS = 64
_MOST_FACTORS = 16


def simplify(program: Program) -> Program:
    """The program with constants gathered, common factors taken out and repeated divisors inverted once.

    A strict program stays as it is. All of this rounds in another way than as written, so it stops at values that are
    seen to the last bit."""
    program = plain(program)
    if program.is_strict:
        return expanded(program)
    with without_collection():
        return _shared_reciprocals(factored(_regrouped(worth_calling(program))))


def _regrouped(program: Program) -> Program:
    return _rebuilt_but_visible(program, build_again)


def _rebuilt_but_visible(program: Program, build: Build) -> Program:
    """The program made anew by `build`, what is visible as it was."""
    graph = Graph()
    seen = visible(program)

    def build_one(node: Node, operands: list[Node]) -> Node:
        graph.regroups = node.index not in seen
        return build(node, operands) if graph.regroups else build_again(node, operands)

    return rebuild(program, build_one, graph=graph)


def factored(program: Program) -> Program:
    """a b + a c = a (b + c), wherever the products are used nowhere else."""
    uses = program.uses()
    inner = _inner_sums(program, uses)
    terms: dict[int, list[tuple[float, Node]]] = {}  # of a sum, by its old index
    products: dict[int, list[Node]] = {}  # the factors of a product, by its old index
    leaves: dict[int, list[Node]] = {}  # the factors of a term, by its new index

    def leaf(old: Node, new: Node) -> Node:
        if old.op == "multiply" and uses[old.index] == 1:
            leaves[new.index] = products[old.index]
        return new

    def build(node: Node, operands: list[Node]) -> Node:
        made = build_again(node, operands)
        if node.op == "multiply":
            factors = [
                products.get(a.index, [new]) if uses[a.index] == 1 else [new]
                for a, new in zip(node.args, operands, strict=True)]
            products[node.index] = factors[0] + factors[1] if len(factors[0]) + len(factors[1]) <= _MOST_FACTORS else [
                made]
        if node.op not in _SUM:
            return made
        signs = {"add": (1.0, 1.0), "subtract": (1.0, -1.0), "negative": (-1.0,)}[node.op]
        collected = [
            (sign * s, t) for a, new, sign in zip(node.args, operands, signs, strict=True)
            for s, t in (terms.pop(a.index) if a.index in terms and a.index in inner else [(1.0, leaf(a, new))])]
        if len(collected) > _MOST_TERMS:
            return made
        terms[node.index] = collected
        return made if node.index in inner else _factored_sum(collected, leaves, made)

    return _rebuilt_but_visible(program, build)


def _inner_sums(program: Program, uses: dict[int, int]) -> set[int]:
    """Sums whose only use is inside another sum."""
    return {
        a.index
        for node in program.nodes if node.op in _SUM for a in node.args if a.op in _SUM and uses[a.index] == 1}


def _factored_sum(terms: list[tuple[float, Node]], leaves: dict[int, list[Node]], otherwise: Node) -> Node:
    left = _without_opposites(terms)
    products = [(sign, _moderate(leaves.get(node.index, [node])) or [node]) for sign, node in left]
    if len(left) < len(terms):
        return _factor_out(products) if left else otherwise.graph.constant(0.0)
    seen: set[int] = set()
    for _, factors in products:
        if len(factors) > 1:
            own = {f.index for f in factors}
            if not seen.isdisjoint(own):
                return _factor_out(products)
            seen |= own
    return otherwise


def _moderate(factors: list[Node]) -> list[Node]:
    """The factors, unless there is a constant among them so large or small that two of them could overflow together."""
    return factors if all(f.op != "constant" or is_moderate(f.value) for f in factors) else []


def _without_opposites(terms: list[tuple[float, Node]]) -> list[tuple[float, Node]]:
    """The terms of a sum without those that cancel: + x and - x."""
    total: Counter[int] = Counter()
    for sign, node in terms:
        total[node.index] += int(sign)
    left = []
    for sign, node in terms:
        if node.op == "constant" or total[node.index] * sign > 0:
            total[node.index] -= int(sign)
            left.append((sign, node))
    return left


def _factor_out(terms: list[tuple[float, list[Node]]]) -> Node:
    """The sum of signed products, the most frequent common factor taken out first."""
    count = Counter(f.index for _, factors in terms if len(factors) > 1 for f in {f.index: f for f in factors}.values())
    best, often = max(count.items(), key=lambda item: item[1], default=(0, 0))
    if often < 2:
        return _added([(sign, _product(factors)) for sign, factors in terms])
    shared = next(f for _, factors in terms for f in factors if f.index == best)
    inside = [(sign, _without(factors, shared)) for sign, factors in terms
              if len(factors) > 1 and any(f is shared for f in factors)]
    outside = [(sign, factors) for sign, factors in terms if len(factors) == 1 or not any(f is shared for f in factors)]
    return _factor_out([*outside, (1.0, [shared, _factor_out(inside)])])


def _without(factors: list[Node], shared: Node) -> list[Node]:
    place = next(k for k, f in enumerate(factors) if f is shared)
    return factors[:place] + factors[place + 1:]


def _product(factors: list[Node]) -> Node:
    first, *rest = factors
    for factor in rest:
        first = RULES["multiply"](first, factor)
    return first


def _added(terms: list[tuple[float, Node]]) -> Node:
    sign, total = terms[0]
    total = total if sign > 0 else RULES["negative"](total)
    for sign, term in terms[1:]:
        total = RULES["add" if sign > 0 else "subtract"](total, term)
    return total


def _shared_reciprocals(program: Program) -> Program:
    """a / x and b / x become a y and b y with y = 1 / x; x is taken to be a normal number, whose inverse is finite."""
    seen = visible(program)
    divisors = Counter(node.args[1].index for node in program.nodes if node.op == "divide" and node.index not in seen)
    if all(often == 1 for often in divisors.values()):
        return program

    def build(node: Node, operands: list[Node]) -> Node:
        if node.op == "divide" and divisors[node.args[1].index] > 1:
            return _by_reciprocal(*operands)
        return build_again(node, operands)

    return _rebuilt_but_visible(program, build)


def _by_reciprocal(a: Node, b: Node) -> Node:
    inverse = RULES["divide"](b.graph.constant(1.0), b)
    if a.op == "constant" and a.value > 0.0 and a.value != 1.0 and inverse.op == "divide":
        return a.graph.node("multiply", a, inverse)  # the rule for products would make it a / b again
    return RULES["multiply"](a, inverse)
