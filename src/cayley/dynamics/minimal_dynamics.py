"""A mechanism in the coordinates of independent joints, which all others follow:

    qd = N pd,   qdd = N pdd + c           N (nv, m),  c = - G drift
    M_p pdd + b_p = N^T tau                M_p = N^T M N,  b_p = N^T (M c + bias)
M, bias and tau are those of all joints of the tree, p are the independent ones: m for a mobility of m. The constraints
do no work in these motions, so their forces are gone. NaN where the others do not follow the chosen joints (a dead
centre of theirs). Source: Ruggiu (4.23)-(4.29)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar, Text
from cayley.dynamics.forward.constrained import equations_text, explanation_of_constraints
from cayley.dynamics.inverse.energy_forms import acceleration_energy
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import ConventionError, UnsupportedError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.space import ConstraintSpace
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import on_its_own_variables
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree
from cayley.showing import brief


class Followed(NamedTuple):
    """The velocities and accelerations (..., nv) of all joints."""

    qd: Array
    qdd: Array


@dataclass(frozen=True, eq=False)
class MinimalDynamics:
    """The kernels of a mechanism in the velocities of independent joints. `q` is that of all joints, and closed."""

    tree: Tree
    places: tuple[int, ...]

    __repr__ = brief

    @property
    def independent(self) -> tuple[str, ...]:
        """The names of the independent velocities."""
        return tuple(self._structure.velocities[k] for k in self.places)

    @cached_property
    def motion(self) -> MechanismKernel[Followed]:
        """`motion(q, pd, pdd)`: the velocities `qd` and accelerations `qdd` (..., nv) of all joints that follow from
        those (..., m) of the independent ones."""
        return _kernel(self.tree, self._structure, self.places, "motion")

    @cached_property
    def inertia_matrix(self) -> MechanismKernel[Array]:
        """`inertia_matrix(q)`: M_p (..., m, m)."""
        return _kernel(self.tree, self._structure, self.places, "inertia_matrix")

    @cached_property
    def bias_forces(self) -> MechanismKernel[Array]:
        """`bias_forces(q, pd)`: b_p (..., m), of Coriolis, centrifugal and gravity forces, and of friction."""
        return _kernel(self.tree, self._structure, self.places, "bias_forces")

    @cached_property
    def appell_forces(self) -> MechanismKernel[Array]:
        """`appell_forces(q, pd, pdd)`: the forces (..., m) that a motion needs, M_p pdd + b_p, by Gibbs and Appell's
        equations: dS/dpdd of the accelerations that the constraints allow, on velocities too; no reactions appear."""
        return _kernel(self.tree, self._structure, self.places, "appell_forces")

    @cached_property
    def forces(self) -> MechanismKernel[Array]:
        """`forces(q, tau)`: N^T tau (..., m), what forces (..., nv) of any joints are at the independent ones."""
        return _kernel(self.tree, self._structure, self.places, "forces")

    @cached_property
    def _structure(self) -> ConstraintStructure:
        return constraint_structure(self.tree)


def minimal_dynamics(tree: Tree, independent: Sequence[str] = ()) -> MinimalDynamics:
    """The equations of motion in the velocities of named joints, or in single velocities ("plate.vx"); in those of the
    constraint structure if none are named, which are those of the actuated joints as far as they can be.

    >>> from cayley.model.catalogue import load_robot
    >>> engine = minimal_dynamics(load_robot("slider_crank"), ["crank"])
    >>> engine.motion([0.0, 0.0, 0.0], [2.0], [0.0]).qd.round(6) + 0.0
    array([ 2.  , -2.  , -0.18])
    >>> engine.inertia_matrix([0.0, 0.0, 0.0]).round(6)
    array([[0.01244]])
    """
    if tree.is_timed:
        raise UnsupportedError(f"a constraint of {tree.name} depends on time: its motion does not follow from that of "
                               "some joints alone")
    structure = constraint_structure(tree)
    if not independent:
        return MinimalDynamics(tree, structure.independent)
    places = [k for name in independent for k in _places(tree, structure, name)]
    if len(set(places)) != len(places) or len(places) != structure.mobility:
        raise ConventionError(
            f"{tree.name} has mobility {structure.mobility}: name as many independent velocities, each once, not "
            f"{', '.join(independent)}")
    return MinimalDynamics(tree, tuple(places))


def _places(tree: Tree, structure: ConstraintStructure, name: str) -> Sequence[int]:
    if name in structure.velocities:
        return [structure.velocities.index(name)]
    own = tree.v_slices[tree.joint_number(name)]
    return range(own.start, own.stop)


_KINDS = {
    "motion": ("(q),(m),(m)->(v),(v)", ("q", "pd", "pdd"), Followed._fields, "What all joints do."),
    "inertia_matrix": ("(q)->(m,m)", ("q",), ("M",), "The mass matrix."),
    "bias_forces": ("(q),(m)->(m)", ("q", "pd"), ("forces",), "Coriolis, centrifugal, gravity and friction forces."),
    "appell_forces": ("(q),(m),(m)->(m)", ("q", "pd", "pdd"), ("forces",), "What a motion needs, by Gibbs and Appell."),
    "forces": ("(q),(v)->(m)", ("q", "tau"), ("forces",), "What forces of all joints are."),
}


@of_a_mechanism
def _kernel(tree: Tree, structure: ConstraintStructure, places: tuple[int, ...], what: str) -> MechanismKernel[Any]:
    signature, inputs, outputs, sentence = _KINDS[what]
    text = _texts(tree, structure, places)[what]

    def of_one_state(*state: Array) -> Array:
        return text(*state)

    names = ", ".join(structure.velocities[k] for k in places)
    described(tree, of_one_state, sentence, f"In the velocities of {names}, which the others follow.")
    return kernel(sized(tree, signature.replace("m", str(len(places)))), name=what, inputs=inputs, outputs=outputs,
                  units=units_of(tree), kind=MechanismKernel,
                  explain=explanation_of_constraints(tree, structure, places))(of_one_state)


def _texts(tree: Tree, structure: ConstraintStructure, places: tuple[int, ...]) -> dict[str, Text]:
    rows = list(structure.used)
    rest = np.zeros(tree.nv)

    def basis(q: Array) -> Array:
        return ConstraintSpace.of(tree, q).followers(places).N

    def motion(q: Array, pd: Array, pdd: Scalar) -> Followed:
        space = ConstraintSpace.of(tree, q)
        qd = space.followers(places).N @ pd
        return Followed(qd, space.followed(places, pdd, -constraints.drift(tree, q, qd)[rows]))

    def inertia_matrix(q: Array) -> Array:
        N = basis(q)
        return N.T @ equations_text(tree, structure)(q, rest, rest).M @ N

    def bias_forces(q: Array, pd: Array) -> Array:
        qd, c = motion(q, pd, np.zeros(len(places)))
        M, f, _, _ = equations_text(tree, structure)(q, qd, rest)
        return basis(q).T @ (M @ c - f)

    def appell_forces(q: Array, pd: Array, pdd: Array) -> Array:
        free = tree.spanning_tree()
        links = links_of(free)
        found = on_its_own_variables(
            lambda q, pd, pdd: jacobian(acceleration_energy(links, q, *motion(q, pd, pdd)), pdd), (len(places),), q, pd,
            pdd, inside=links.has_symbols)
        return found + basis(q).T @ drive_forces(free, q, *motion(q, pd, pdd))

    def forces(q: Array, tau: Array) -> Array:
        return basis(q).T @ tau

    return {"motion": motion, "inertia_matrix": inertia_matrix, "bias_forces": bias_forces,
            "appell_forces": appell_forces, "forces": forces}
