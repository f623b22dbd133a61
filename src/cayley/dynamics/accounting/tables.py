"""The published tables of operations, counted again: beside what is printed stands what the texts of this package cost.

    by the rules    of Table 5.1: first cycles outside the loops, all others at full price, what one more link costs on
                    a base that moves in every way; nothing is left out because it is not needed later
    zeros folded    structural zeros of all cycles used, and what no joint force depends on left out
    compiled        what the compiler makes of the same text for one arm: shared and merged terms too
Figures are multiplications M and additions A; a division counts as a multiplication; sines, cosines and tangents F are
counted apart. Sources: Balafoutis & Patel 5.3.2, Tables 5.1-5.3 (spec 4.2-4.6); Mladenova, Tables 2 and 3 (spec section
6, E-75)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.accounting import formulas as published
from cayley.dynamics.accounting.counted_run import (
    GENERAL,
    check_joints,
    generic_arm,
    generic_state,
    named,
    nothing_idle,
    operations_by_equation,
    total,
)
from cayley.dynamics.accounting.counting_scalar import Cost, Tape
from cayley.dynamics.accounting.formulas import NO_FIGURES, Figures, Formula
from cayley.dynamics.accounting.operation_table import (
    OperationTable,
    OperationTables,
    compiled,
    printed_column,
    summed,
    table_by_equation,
    with_total,
)
from cayley.dynamics.inverse.methods import DEFAULT, METHODS
from cayley.dynamics.inverse.passes import STILL, Base
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import ConventionError
from cayley.geometry.rotations.costs import StepCost as TableCost
from cayley.geometry.rotations.costs import dynamics_claims, jacobian_claims
from cayley.kinematics.jacobians.formed_jacobian import By, formed_jacobian
from cayley.kinematics.jacobians.vector_parameter_chain import joint_pairs, pair_rate_map, vector_parameter_jacobian
from cayley.kinematics.jacobians.velocity import jacobian
from cayley.model.tree import Tree


class TabulatedRecursion(NamedTuple):
    """A recursive method: the beginnings of the numbers of its equations, forward and backward."""

    module: str
    forward: str
    backward: str


ALGORITHM_53 = TabulatedRecursion("luh_walker_paul", "5.2.23", "5.2.24")
ALGORITHM_56 = TabulatedRecursion("tensor_newton_euler", "5.3.7", "5.3.8")
ALGORITHM_57 = TabulatedRecursion("augmented_links", "5.3.45", "5.3.46")


def table_rules(method: TabulatedRecursion, twist: float) -> dict[str, Figures]:
    """The cost of each equation by the rules of Table 5.1, all twists being equal and all joints revolute."""
    at_rest = _wrenches(method, [twist], moving=False)
    one = _wrenches(method, [twist])
    two = _wrenches(method, [twist, twist])
    figures = {}
    for equation in two:
        cycle = two[equation].minus(one.get(equation, Cost()))
        first = Cost()
        if equation.startswith((method.forward, method.backward)):
            first = (at_rest if equation.startswith(method.forward) else one).get(equation, Cost())
        figures[equation] = Figures.linear(cycle.multiplications, first.multiplications - cycle.multiplications,
                                           cycle.additions, first.additions - cycle.additions)
    return {equation: f for equation, f in figures.items() if str(f) != str(NO_FIGURES)}


def _wrenches(method: TabulatedRecursion, twists: Sequence[float], moving: bool = True) -> dict[str, Cost]:
    """Operations by equation for the wrenches of all joints, without those that put a wrench together."""
    tape = Tape()
    chain = serial_chain(generic_arm(twists, gravity=(0.0, 0.0, 0.0 if moving else -9.81)))
    q, qd, qdd = (tape.inputs(x) for x in generic_state(len(twists)))
    base: Any = Base(*[tape.inputs([0.3, -0.8, 0.6]) for _ in range(3)]) if moving else STILL
    found = import_module(f"cayley.dynamics.inverse.{method.module}").reactions(chain, q, qd, qdd, base=base)
    return {e: cost for e, cost in tape.costs(np.asarray(found, dtype=object).reshape(-1)).items() if e != "5.3.38"}


RIGHT_ANGLE = np.pi / 2
_RECURSIONS = {"luh-walker-paul": ALGORITHM_53, "tensor-newton-euler": ALGORITHM_56, "augmented-links": ALGORITHM_57}


def operation_tables(n: int = 6) -> OperationTables:
    """Tables 5.1 to 5.3 of Balafoutis & Patel and Tables 3 and 2 of Mladenova, published and counted: formulas, and
    values for one n.

    >>> tables = operation_tables(6)
    >>> [table.title.split(":")[0] for table in tables]
    ['Table 5.1', 'Table 5.2', 'Table 5.3', 'Table 3 of Mladenova', 'Table 2 of Mladenova']
    """
    check_joints(n)
    return OperationTables((table_51(n), table_52(n), table_53(n), table_3(n), table_2(n)))


def table_51(n: int = 6) -> OperationTable:
    """Algorithm 5.7, equation by equation, by the rules of the source.

    >>> print(table_51().figures("total", "general, counted"))
    93n-69, 81n-66
    """
    columns = {"general, published": printed_column(published.TABLE_51, "general", published.TABLE_51_TOTAL),
               "general, counted": with_total(table_rules(ALGORITHM_57, GENERAL)),
               "0 or 90, published": printed_column(published.TABLE_51, "special", published.TABLE_51_TOTAL),
               "90, counted": with_total(table_rules(ALGORITHM_57, RIGHT_ANGLE)),
               "0, counted": with_total(table_rules(ALGORITHM_57, 0.0))}
    notes = (
        "The source has 3 M for gravity and 5 M for mu_1; with g sin, g cos of alpha_1 stored and no sums merged they "
        "are 2 and 6.",
        "Gravity is along z_0: spec E-28. Any other direction costs (5.3.45e) 2 M and 2 A more.")
    return table_by_equation("Table 5.1: Algorithm 5.7, general twists and twists of 0 or 90 degrees", columns, n,
                             notes)


def table_52(n: int = 6) -> OperationTable:
    """Algorithm 5.7 with nothing computed that is zero or not needed, for n >= 2.

    >>> print(table_52().figures("total", "general, counted"))
    93n-111, 81n-103
    """
    columns = {"general, published": printed_column(published.TABLE_52, "general", published.TABLE_52_TOTAL),
               "general, counted": with_total(nothing_idle("augmented-links")),
               "0 or 90, published": printed_column(published.TABLE_52, "special", published.TABLE_52_TOTAL),
               "corrected": printed_column(published.TABLE_52_CORRECTED, "special", published.TABLE_52_CORRECTED_TOTAL),
               "90, counted": with_total(nothing_idle("augmented-links", twist=RIGHT_ANGLE)),
               "0, counted": with_total(nothing_idle("augmented-links", twist=0.0))}
    notes = (
        "The printed additions of (5.3.46a) contradict the rule that gives all others: spec E-26. Other rows are upper "
        "bounds: E-27.",
        "If all twists are 0 the axes are parallel, and most of the motion is zero.")
    return table_by_equation("Table 5.2: Algorithm 5.7 without idle operations, n >= 2", columns, n, notes)


def table_53(n: int = 6) -> OperationTable:
    """The comparison of the source; what this package has of it is counted by both rules and compiled.

    >>> print(table_53().figures("Luh et al. [14]", "by the rules"))
    117n-94, 90n-78
    """
    methods = {
        "Hollerbach 4x4 [14]": "hollerbach-4x4", "Hollerbach 3x3 [14]": "hollerbach-3x3",
        "Luh et al. [14]": "luh-walker-paul", "Angeles et al. [45]": "kane", "Algorithm 5.6": "tensor-newton-euler",
        "Algorithm 5.7, Table 5.1": "augmented-links", "Algorithm 5.7, Table 5.2": "augmented-links",
        "the default of this package": DEFAULT}
    notes = (
        "By the same rules Algorithm 5.7 saves 20 % of the multiplications of Algorithm 5.3, not what 852 and 489 "
        "suggest: the rest is better kernels.",
        "The sums of Angeles et al. are counted as they are written, not customised as in the source.")
    return _comparison("Table 5.3: general twists, all joints revolute", published.TABLE_53, methods, n, notes)


def table_3(n: int = 6) -> OperationTable:
    """Table 3 of Mladenova, with the figures for Luh and Orin put right (spec E-75).

    >>> print(table_3().figures("vector-parameter", "published"))
    138n-53, 143n-66
    """
    methods = {
        "Hollerbach 4x4": "hollerbach-4x4", "Hollerbach 3x3": "hollerbach-3x3", "Luh, Armstrong": "luh-walker-paul",
        "vector-parameter": "vector-parameter-newton-euler", "vector-parameter, Lagrange": "vector-parameter-lagrange",
        "screws": "screws", "Uicker, Kahn": "uicker-kahn", "Waters": "waters", "the default of this package": DEFAULT}
    notes = (
        "Printed for six joints alone: Uicker, Kahn 37823 and 39462, Waters 3256 and 5652; the multiplications are "
        "below their own leading terms (spec E-75).",
        "The vector-parameter method is said to have the fewest multiplications at n = 6, 775, but has 1567 operations "
        "beside 1395.")
    title = "Table 3 of Mladenova: dynamics, general twists, all joints revolute"
    return _comparison(title, _dynamics_claims(), methods, n, notes)


def method_table(n: int = 6) -> OperationTable:
    """All methods: formulas for arms with general twists whose joints turn, and what is compiled for n joints."""
    given = {
        "hollerbach-4x4": published.TABLE_53["Hollerbach 4x4 [14]"],
        "hollerbach-3x3": published.TABLE_53["Hollerbach 3x3 [14]"],
        "luh-walker-paul": published.TABLE_53["Luh et al. [14]"], "kane": published.TABLE_53["Angeles et al. [45]"],
        "featherstone": published.IN_THE_TEXT["Featherstone, Algorithm 5.4"],
        "tensor-newton-euler": published.TABLE_53["Algorithm 5.6"],
        "augmented-links": published.TABLE_53["Algorithm 5.7, Table 5.2"],
        "vector-parameter-newton-euler": _dynamics_claims()["vector-parameter"]}
    return _comparison("Methods of inverse dynamics, general twists, all joints revolute", given,
                       dict(zip(METHODS, METHODS, strict=True)), n, ())


def _dynamics_claims() -> dict[str, Figures]:
    one, two = dynamics_claims(1), dynamics_claims(2)
    return {name: replace(_claimed(one[name], two[name]), functions=None) for name in one}


def joint_kind_table(patterns: Sequence[str] = ("RRRRRR", "PRRRRR", "RRPRRR", "PPPRRR", "PPPPPP")) -> OperationTable:
    """The savings by prismatic joints: methods of inverse dynamics for arms with general twists, a letter R or P for
    each joint, structural zeros folded.

    >>> table = joint_kind_table(["RRR", "RPR"])
    >>> print(table.figures("augmented-links", "RRR"), "beside", table.figures("augmented-links", "RPR"))
    168, 140 beside 144, 117
    """
    sizes = {len(kinds) for kinds in patterns}
    if len(sizes) != 1:
        raise ConventionError(f"arms of as many joints are compared, at least one of them: not {list(patterns)}")
    rows = {method: {kinds: _folded(method, kinds) for kinds in patterns} for method in PRISMATIC_METHODS}
    notes = ("The rotation of a prismatic joint is constant, and its rate turns nothing.",
             "(5.3.46c) costs 1 M and 1 A for a prismatic joint in Algorithm 5.7, and nothing in Algorithm 5.6.")
    return OperationTable("Inverse dynamics with prismatic joints, general twists", tuple(patterns), rows,
                          sizes.pop(), notes)


PRISMATIC_METHODS = ("luh-walker-paul", "featherstone", "rodriguez", "kane", "tensor-newton-euler", "augmented-links",
                     DEFAULT)


def _folded(method: str, kinds: str) -> Figures:
    cost = total(operations_by_equation(method, generic_arm([GENERAL] * len(kinds), kinds)))
    return Figures.constant(cost.multiplications + cost.divisions, cost.additions, 0)


def _comparison(title: str, given: Mapping[str, Figures], methods: Mapping[str, str], n: int,
                notes: tuple[str, ...]) -> OperationTable:
    rows: dict[str, dict[str, Figures]] = {name: {"published": figures} for name, figures in given.items()}
    for name, method in methods.items():
        rows.setdefault(name, {}).update(_counted(method, n))
    return OperationTable(title, ("published", "by the rules", "zeros folded", "compiled"), rows, n, notes)


def _counted(method: str, n: int) -> dict[str, Figures]:
    text = named(method).text(generic_arm([GENERAL] * n), "inverse_dynamics")
    found = {"zeros folded": summed(nothing_idle(method)),
             "compiled": compiled(text, f"({n}),({n}),({n})->({n})", ("q", "qd", "qdd"))}
    rules = {"by the rules": summed(table_rules(_RECURSIONS[method], GENERAL))} if method in _RECURSIONS else {}
    return {**rules, **found}


def table_2(n: int = 6) -> OperationTable:
    """Table 2 of Mladenova, Jacobians by matrices and by vector-parameters: what is claimed, and what this package
    compiles for the same frames, with n // 2 for the one in the middle.

    >>> print(table_2().figures("Paul", "by matrices"))
    30n-25, 15n-22
    """
    rows = {a.method: {"by matrices": _claimed(a.matrices, b.matrices),
                       "by vector-parameters": _claimed(a.vector_parameters, b.vector_parameters)}
            for a, b in zip(jacobian_claims(1), jacobian_claims(2), strict=True)}
    arm = generic_arm([GENERAL] * n)
    for method, (formed_in, referred_to) in _frames_of_table_2(arm).items():
        for column, by in _COUNTED.items():
            text = partial(_formed, arm, formed_in, referred_to, by)
            rows[method][column] = _jacobian_cost(n, text)
    for axes in ("world", "body"):
        rows[f"this package, {axes} axes"] = {"by matrices": _jacobian_cost(n, partial(_by_matrices, arm, axes))}
    rows["this package, world axes"]["by vector-parameters"] = _jacobian_cost(n, partial(_by_parameters, arm))
    notes = (
        "Claimed by vector-parameters: fewer multiplications and functions, but more of both operations together, in "
        "every row.",
        "Compiled, a fixed turn before each joint costs vector-parameters more than it costs matrices.",
        "Counted vector-parameters are homogeneous, [cos : sin e] of half angles, finite at half-turns: two functions "
        "a joint.")
    return OperationTable("Table 2 of Mladenova: Jacobians",
                          ("by matrices", "by vector-parameters", *_COUNTED), rows, n, notes)


_COUNTED: dict[str, By] = {"matrices, counted": "matrices", "vector-parameters, counted": "vector-parameters"}


def _frames_of_table_2(arm: Tree) -> dict[str, tuple[str, str]]:
    """The frame in which each method forms its Jacobian, and to which it refers it."""
    middle = arm.bodies[arm.nv // 2].name
    return {"Waldron": ("world", "world"), "Ribble": ("body", "world"), "Renaud": (middle, middle),
            "Paul": ("body", "body"), "Orin and Schrader": ("body", "body")}


def _formed(arm: Tree, formed_in: str, referred_to: str, by: By, q: Array) -> Array:
    return formed_jacobian(arm, q, arm.bodies[-1].name, formed_in=formed_in, referred_to=referred_to, by=by)


def _claimed(at_one: TableCost, at_two: TableCost) -> Figures:
    return Figures(*[
        Formula.linear(two - one, 2 * one - two)
        for one, two in ((at_one.multiplications, at_two.multiplications), (at_one.additions, at_two.additions),
                         (at_one.functions, at_two.functions))])


def _by_matrices(arm: Tree, axes: str, q: Array) -> Array:
    return jacobian(arm, q, arm.bodies[-1].name, axes=axes)


def _by_parameters(arm: Tree, q: Array) -> Array:
    """J(q) = J_V dc/dq."""
    tip = arm.bodies[-1].name
    pairs = joint_pairs(arm, q, tip)
    return vector_parameter_jacobian(arm, pairs.c, pairs.t, tip) @ pair_rate_map(arm, q, tip)


def _jacobian_cost(n: int, text: Callable[[Any], Any]) -> Figures:
    return compiled(text, f"({n})->(6,{n})", ("q",), functions=True)
