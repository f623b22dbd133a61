"""Planar arms of uniform rods as networks, and their equations as in the tables of the source.

    M = c w' + d w - delta (f_x, f_y, m)^T + beta,     (v_x, v_y, w)^T of the tip = delta^T w
Rods in the plane of x and y, turning about z, gravity along -y; angles and rates are those of the joints.
Source: Tokad (42)-(48), Tables 1 and 2, corrected as in spec E4-12, E4-13, E4-17."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.algebras.packages import SYMPY
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, shown
from cayley.extras import optional_imports
from cayley.machines.networks.hybrid_solve import reduced
from cayley.machines.networks.instant import NetworkJoint
from cayley.machines.networks.open_network import OpenNetwork
from cayley.machines.networks.rigid_body import RigidBody
from cayley.model.joint_kinds import Revolute

if TYPE_CHECKING:
    import sympy

_PLANE = [0, 1, 5]  # of (v; w): v_x, v_y and w_z


class PlanarTables(NamedTuple):
    """c, d (n, n), delta (n, 3) and beta (n), in theta_1, ..., w_1, ..., m_1, ..., l_1, ... and g."""

    c: sympy.Matrix
    d: sympy.Matrix
    delta: sympy.Matrix
    beta: sympy.Matrix


class PlanarArrays(NamedTuple):
    """The same as arrays."""

    c: Array
    d: Array
    delta: Array
    beta: Array


def planar_arm(masses: Sequence[Scalar], lengths: Sequence[Scalar], gravity: Scalar = 9.81) -> OpenNetwork:
    """Uniform rods of masses [kg] and lengths [m] in a row, the first at the origin.

    >>> arm = planar_arm([2.0, 1.5], [0.5, 0.4])
    >>> arm.inverse_dynamics([0.3, 0.7], [0.6, -0.8], [1.0, -0.5], np.zeros((1, 6))).round(8)
    array([14.08960199,  1.77962377])
    """
    if len(masses) != len(lengths):
        raise ModelError(f"{len(masses)} masses and {len(lengths)} lengths were given: a rod has one of each")
    bodies = []
    for number, (m, l) in enumerate(zip(masses, lengths, strict=True), start=1):
        moment = m * l * l / 12
        half = np.array([l / 2, 0, 0])
        bodies.append(RigidBody(f"link{number}", m, moment * np.diag([0, 1, 1]), {"B": -half, "A": half}))
    joints = [NetworkJoint(Revolute(), np.eye(3, dtype=int))] * len(bodies)
    return OpenNetwork.chain(f"planar{len(bodies)}r", bodies, joints, gravity=[0, -gravity, 0])


def planar_tables(links: int) -> PlanarTables:
    """The equations of the arm with a number of links, in symbols: Table 1 for three, Table 2 for two.

    >>> planar_tables(2).c[1, 1]
    l_2**2*m_2/3
    """
    with optional_imports():
        import sympy
    if not isinstance(links, (int, np.integer)) or links < 1:
        raise ModelError(f"an arm must have a whole number of links, one at least, not {shown(links)}")
    symbols = [sympy.symbols(f"{letter}_1:{links + 1}", real=True) for letter in ("theta", "w", "m", "l")]
    found = _tables(links).evaluate(SYMPY, *symbols, sympy.Symbol("g"))
    return PlanarTables(*[sympy.Matrix(each).applyfunc(_tidy) for each in found])


def _tables(n: int) -> Kernel[PlanarArrays]:
    def tables(theta: Array, w: Array, m: Array, l: Array, g: Scalar) -> PlanarArrays:
        arm = planar_arm(list(m), list(l), g)
        equations = arm.equations(theta, w)
        joints = arm.joint_map(theta, w)
        d = joints.N.T @ (equations.W.P @ joints.Nd + equations.W.Q @ joints.N)
        own = reduced(equations, joints, w)
        return PlanarArrays(own.M, d, own.jacobian[_PLANE].T, own.gravity)

    return kernel(f"({n}),({n}),({n}),({n}),()->({n},{n}),({n},{n}),({n},3),({n})")(tables)


def _tidy(entry: sympy.Expr) -> sympy.Expr:
    """Products of sines and cosines as those of the sums of their angles, a bracket a mass."""
    with optional_imports():
        import sympy
    waves = sympy.expand(sympy.expand(sympy.nsimplify(entry, rational=True, tolerance=1e-12)).rewrite(sympy.exp))
    found = sympy.expand(sympy.powsimp(waves).rewrite(sympy.cos))
    masses = sorted((symbol for symbol in found.free_symbols if symbol.name.startswith("m_")), key=str)
    return sympy.collect(found, masses)
