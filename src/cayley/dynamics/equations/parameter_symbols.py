"""The symbols of parameters: axes are named only where a link has more than one number of a kind.

And the parameters of drives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import sympy

from cayley.compiler.typing import Scalar
from cayley.dynamics.equations.readable_sums import product, total
from cayley.dynamics.equations.symbolic_links import Parameter
from cayley.dynamics.equations.trigonometric_sums import decimal
from cayley.model.tree import Tree


def parameter_symbols(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Symbols by the names of the parameters: I_1 for I_1zz, if no other inertia of link 1 is among them.

    >>> parameter_symbols([Parameter("I", "1", "zz", 0.05), Parameter("c", "2", "x", 0.1),
    ...                    Parameter("c", "2", "y", 0.2)])
    {'I_1zz': I_1, 'c_2x': c_2x, 'c_2y': c_2y}
    """
    listed = list(parameters)
    count = Counter((p.kind, p.place) for p in listed)
    return {p.name: sympy.Symbol((p if count[p.kind, p.place] > 1 else p._replace(axes="")).name) for p in listed}


def parameter_values(symbols: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[Any, float]:
    return {symbols[name]: float(decimal(parameters[name].value)) for name in symbols}


def drive_parameters(tree: Tree) -> dict[str, Parameter]:
    """The numbers of the drives that are included: J_i of rotors behind their gears, b_i and f_i of viscous and of dry
    friction.
    """
    found = []
    for joint, columns in zip(tree.joints, tree.v_slices, strict=True):
        numbers = {"J": joint.rotor.reflected if "armature" in tree.included else 0.0}
        numbers |= {"b": joint.friction.viscous, "f": joint.friction.coulomb} if "friction" in tree.included else {}
        found += [Parameter(kind, str(column + 1), "", value) for column in range(columns.start, columns.stop)
                  for kind, value in numbers.items() if value]
    return {p.name: p for p in found}


def friction(drives: Mapping[str, Parameter], symbols: Mapping[str, Any], qd: tuple[Any, ...]) -> list[Any]:
    """F (nv): b qd + f sign(qd)."""
    def of(kind: str, k: int, factor: Scalar) -> list[Any]:
        name = f"{kind}_{k + 1}"
        return [product(symbols.get(name, sympy.Float(drives[name].value)), factor)] if name in drives else []

    return [total(*of("b", k, v), *of("f", k, sympy.sign(v))) for k, v in enumerate(qd)]
