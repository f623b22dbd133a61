"""The symbols of parameters: axes are named only where a link has more than one number of a kind.

And the parameters of drives, with what friction and springs take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from cayley.compiler.typing import Scalar
from cayley.dynamics.equations.readable_sums import Writer, product, total
from cayley.dynamics.equations.symbolic_links import ModelNumber
from cayley.dynamics.equations.trigonometric_sums import Ring, decimal
from cayley.dynamics.rigid_links.drives import DriveSpring, rotor_inertias, ties
from cayley.errors import UnsupportedError
from cayley.extras import optional_imports
from cayley.model.spring_kinds import BacklashSpring, HardeningSpring, LinearSpring
from cayley.model.tree import Tree

with optional_imports():
    import sympy


def parameter_symbols(parameters: Iterable[ModelNumber]) -> dict[str, Any]:
    """Symbols by the names of the parameters: I_1 for I_1zz, if no other inertia of link 1 is among them.

    >>> parameter_symbols([ModelNumber("I", "1", "zz", 0.05), ModelNumber("r", "2", "x", 0.1),
    ...                    ModelNumber("r", "2", "y", 0.2)])
    {'I_1zz': I_1, 'r_2x': r_2x, 'r_2y': r_2y}
    """
    listed = list(parameters)
    count = Counter((p.kind, p.place) for p in listed)
    return {p.name: sympy.Symbol((p if count[p.kind, p.place] > 1 else p._replace(axes="")).name) for p in listed}


def parameter_values(symbols: Mapping[str, Any], parameters: Mapping[str, ModelNumber]) -> dict[Any, float]:
    return {symbols[name]: float(decimal(parameters[name].value)) for name in symbols}


def writer_of(ring: Ring, q: tuple[Any, ...], symbols: Mapping[str, Any], parameters: Mapping[str, ModelNumber],
              *,
              decimals: bool, short: bool = False) -> Writer:
    """The writer of the sums of a ring, in the symbols of coordinates and of parameters. An angle is a coordinate with
    the shift of its joint, or an oblique turn."""
    angles = {symbol.name: [symbol] for symbol in (*q, *symbols.values())}
    for k, symbol in enumerate(q):
        shift = f"gamma_{k + 1}"
        if shift in parameters:
            angles[symbol.name] = [symbol, symbols.get(shift, sympy.Float(parameters[shift].value))]
    return Writer(ring, {**symbols, **{symbol.name: symbol for symbol in q}}, angles, decimals=decimals, short=short)


def drive_parameters(tree: Tree) -> dict[str, ModelNumber]:
    """The numbers of the drives that are included: J_i of rotors behind their gears, b_i and f_i of viscous and of dry
    friction, k_i, d_i and kappa_i, stiffness, damping and cubic stiffness of springs, and N_i, the gears before them.
    """
    found = []
    rotors = rotor_inertias(tree)
    for joint, columns in zip(tree.joints, tree.v_slices, strict=True):
        numbers = {"J": rotors[columns.start]} if joint.motion.nv else {}
        numbers |= {"b": joint.friction.viscous, "f": joint.friction.coulomb} if "friction" in tree.included else {}
        found += [ModelNumber(kind, str(column + 1), "", value) for column in range(columns.start, columns.stop)
                  for kind, value in numbers.items() if value]
    for tie in ties(tree):
        spring = _polynomial(tree, tie)
        numbers = {"k": spring.stiffness, "d": spring.damping, "kappa": getattr(spring, "cubic", 0.0)}
        numbers |= {} if tie.gear in (1.0, -1.0) else {"N": tie.gear}
        found += [ModelNumber(kind, str(tie.qd + 1), "", value) for kind, value in numbers.items() if value]
    return {p.name: p for p in found}


def _polynomial(tree: Tree, tie: DriveSpring) -> LinearSpring | HardeningSpring:
    """The spring, if its torque is a polynomial of its deflection."""
    if isinstance(tie.spring, LinearSpring | HardeningSpring) and not isinstance(tie.spring, BacklashSpring):
        return tie.spring
    raise UnsupportedError(f"equations of {tree.name} have springs as polynomials of deflections, and it includes "
                           f"a {tie.spring.word} spring; kernels have it")


PASSIVE = ("b", "f", "k", "d", "kappa", "N")  # the kinds of numbers of friction and springs


def passive(tree: Tree, drives: Mapping[str, ModelNumber], symbols: Mapping[str, Any], q: tuple[Any, ...],
            qd: tuple[Any, ...]) -> list[Any]:
    """F (nv): b qd + f sign(qd), and what holds the springs: -P at a joint, P / N at its motor."""
    def value(kind: str, k: int) -> Scalar:
        name = f"{kind}_{k + 1}"
        return symbols.get(name, sympy.Float(drives[name].value)) if name in drives else None

    def of(kind: str, k: int, factor: Scalar) -> list[Any]:
        return [] if value(kind, k) is None else [product(value(kind, k), factor)]

    found = [[*of("b", k, v), *of("f", k, sympy.sign(v))] for k, v in enumerate(qd)]
    for tie in ties(tree):
        k = tie.qd
        ratio = value("N", k) or sympy.Integer(int(tie.gear))
        angle = q[tie.q] - (0 if tie.qm is None else q[tie.qm] / ratio) - _exactly(_polynomial(tree, tie).rest)
        rate = qd[k] - (0 if tie.qmd is None else qd[tie.qmd] / ratio)
        held = [*of("k", k, angle), *of("kappa", k, angle**3), *of("d", k, rate)]
        found[k] += held
        if tie.qmd is not None:
            found[tie.qmd] += [-term / ratio for term in held]
    return [total(*terms) for terms in found]


def _exactly(value: float) -> Scalar:
    return sympy.Float(value) if value else sympy.Integer(0)
