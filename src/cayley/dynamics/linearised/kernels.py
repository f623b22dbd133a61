"""The kernels of linearised dynamics: of inverse dynamics, D, V and P; of forward dynamics, the derivatives by state
and forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.complementarity import held_solve
from cayley.compiler.solving.linear import is_zero
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.dynamics.closed_form import gravity_forces
from cayley.dynamics.forward.dry_friction import resistance
from cayley.dynamics.forward.singular_inertia import explanation, guarded
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.linearised.methods import DEFAULT, METHODS
from cayley.dynamics.rigid_links import drives
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.methods import KernelWithMethods, MethodKernel
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.explained_calls import with_explained_calls
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import has_changing_directions
from cayley.kinematics.mechanism_kernel import Made, described, of_a_mechanism, units_of
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

WithMethods = TypeVar("WithMethods", bound="KernelWithMethods[Any]")
_MANY = 5  # velocities on the way to a tip beyond which the closed form is cheaper


@with_explained_calls
class Linearize(KernelWithMethods[Sensitivities]):
    """`linearize(q, qd, qdd)`: D, V and P (..., nv, nv) with dtau = D dqdd + V dqd + P dq."""

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]  # its own arguments, which are as many as its signature has
                self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: tuple[Array, ...] | None = None,
                dtype: DTypeLike | None = None) -> Sensitivities: ...


@shown_briefly
class ForwardDerivatives(NamedTuple):
    """dqdd = by_q dq + by_qd dqd + by_tau dtau, each (nv, nv), at the accelerations qdd (nv)."""

    qdd: Array
    by_q: Array
    by_qd: Array
    by_tau: Array


def linearize_kernel(tree: Tree) -> Linearize:
    """The sensitivity matrices by the cheaper of the closed form and the differentiated graph, with all methods by
    name.

    >>> from cayley.model.catalogue import load_robot
    >>> found = linearize_kernel(load_robot("s1_g1"))([0.3, -0.7], [0.5, 1.2], [-0.4, 0.8])
    >>> found.V.round(10) + 0.0
    array([[ 0.92767347, 1.31420408],
           [-0.38653061, 0. ]])
    """
    if tree.is_constrained:
        return _constrained(tree, "constrained_linearize_kernel", Linearize, made_by=linearize_kernel)
    default = _cheaper(tree, lambda method: _by_method(tree, method, Linearize))
    return default.with_methods(tree, METHODS, lambda method: _by_method(tree, method, MethodKernel),
                                made_by=linearize_kernel)


def forward_derivatives_kernel(tree: Tree) -> KernelWithMethods[ForwardDerivatives]:
    """`forward_derivatives(q, qd, tau)`: the accelerations, and their derivatives by state and forces.

    >>> from cayley.model.catalogue import load_robot
    >>> found = forward_derivatives_kernel(load_robot("s1_g1"))([0.3, -0.7], [0.0, 0.0], [0.0, 0.0])
    >>> found.by_qd + 0.0
    array([[0., 0.],
           [0., 0.]])
    """
    if tree.is_constrained:
        return _constrained(tree, "constrained_derivatives_kernel", KernelWithMethods,
                            made_by=forward_derivatives_kernel)
    default = _cheaper(tree, lambda method: _forward_by_method(tree, method, KernelWithMethods))
    return default.with_methods(tree, METHODS, lambda method: _forward_by_method(tree, method, MethodKernel),
                                made_by=forward_derivatives_kernel)


def _constrained(tree: Tree, name: str, kind: type[WithMethods], *,
                 made_by: Callable[[Tree], KernelWithMethods[Any]]) -> WithMethods:
    """A kernel of `linearised.constrained`, with the methods of the tree's sensitivities by name."""
    from cayley.dynamics.linearised import constrained  # which few mechanisms need
    from cayley.kinematics.constraints.structure import constraint_structure
    structure = constraint_structure(tree)
    make = getattr(constrained, name)
    default = make(tree, structure, default_method(tree), kind)
    return default.with_methods(tree, METHODS, lambda method: make(tree, structure, method, MethodKernel),
                                made_by=made_by)


def _cheaper(tree: Tree, make: Callable[[str], Made]) -> Made:
    """The kernel with fewer operations; where many joints follow one another it is the closed form."""
    if has_changing_directions(tree) or longest_way(minimal_links(tree)) > _MANY:
        return make(default_method(tree))
    return min((make(method) for method in (DEFAULT, "differentiation")), key=_price)


def default_method(tree: Tree) -> str:
    """The closed form; where directions of joints change in the axes of what they move, differentiation."""
    return "differentiation" if has_changing_directions(tree) else DEFAULT


def _price(made: Kernel[Any]) -> int:
    cost = made.operations()
    return cost.multiplications + cost.additions


def longest_way(links: Links) -> int:
    """The velocities of all joints from the root to a tip, where they are most."""
    found: list[int] = []
    for link in links.links:
        found.append(link.motion.nv + (0 if link.parent == ROOT else found[link.parent]))
    return max(found, default=0)


@of_a_mechanism
def _by_method(tree: Tree, method: str, kind: type[Made]) -> Made:
    text = sensitivities_text(tree, method)
    described(tree, text, "D, V, P: the derivatives of inverse dynamics tau(q, qd, qdd) by qdd, qd and q.",
              f"Method: {method}.")
    return kernel(sized(tree, "(q),(v),(v)->(v,v),(v,v),(v,v)"), name="linearize", outputs=Sensitivities._fields,
                  units=units_of(tree), kind=kind)(text)


def sensitivities_text(tree: Tree, method: str | None = None) -> Callable[[Array, Array, Array], Sensitivities]:
    """The text `(q, qd, qdd) -> D, V, P` of a method, with the rotors, the viscous friction and the springs that the
    mechanism includes. Coulomb friction adds nothing where a joint moves; it jumps where one stands, and has no
    derivative there: the matrices are then those of a joint that begins to move and goes on."""
    links_alone = METHODS[method or default_method(tree)].text(tree, "sensitivities")
    rotors = np.diag(drives.rotor_inertias(tree))
    viscous = np.diag(drives.viscous_frictions(tree))

    def text(q: Array, qd: Array, qdd: Array) -> Sensitivities:
        D, V, P = links_alone(q, qd, qdd)
        springs = drives.spring_matrices(tree, q, qd)
        return Sensitivities(D + rotors, V + drives.rotor_velocity_slopes(tree, qd) + viscous + springs.damping,
                             P + springs.stiffness)

    return text


@of_a_mechanism
def _forward_by_method(tree: Tree, method: str, kind: type[Made]) -> Made:
    text = forward_derivatives_text(tree, method)
    described(tree, text, "Forward dynamics qdd(q, qd, tau), and its derivatives by q, qd and tau.",
              f"Method: {method}.")
    shapes = [(tree.nv,), *[(tree.nv, tree.nv)] * 3]
    return kernel(sized(tree, "(q),(v),(v)->(v),(v,v),(v,v),(v,v)"), name="forward_derivatives",
                  outputs=ForwardDerivatives._fields, inputs=("q", "qd", "tau"), units=units_of(tree), kind=kind,
                  explain=explanation(tree))(guarded(tree, text, shapes))


def forward_derivatives_text(tree: Tree,
                             method: str | None = None) -> Callable[[Array, Array, Array], ForwardDerivatives]:
    """The text `(q, qd, tau) -> qdd, by_q, by_qd, by_tau`.

    The velocity forces are quadratic, so they are V qd / 2: no recursion is spent on them. At the accelerations that
    follow, by_q = -D^-1 P, by_qd = -D^-1 V, by_tau = D^-1. Joints at rest that dry friction holds stay where they are:
    nothing accelerates them, and derivatives are those of the motions in which they stand."""
    chosen = METHODS[method or default_method(tree)]
    links = chosen.links(tree)
    links_alone = chosen.text(tree, "sensitivities")
    chooses = chosen.takes("asked", "sensitivities")  # what is not needed takes time to trace, if nothing else
    rotors = np.diag(drives.rotor_inertias(tree))
    viscous = np.diag(drives.viscous_frictions(tree))
    coulomb = drives.coulomb_frictions(tree)
    rubs = bool(drives.rubbing(coulomb).any())

    def text(q: Array, qd: Array, tau: Array) -> ForwardDerivatives:
        D, V, _ = links_alone(q, qd, np.zeros(tree.nv), **({"asked": "DV"} if chooses else {}))
        M = D + rotors
        V = V + drives.rotor_velocity_slopes(tree, qd)
        smooth = viscous @ qd + drives.spring_forces(tree, q, qd)
        forces = tau - V @ qd / 2 - gravity_forces(links, q) - smooth
        friction, going = resistance(M, forces, coulomb, qd) if rubs else (0.0, np.ones(tree.nv))
        qdd = held_solve(M, forces + friction, going) if rubs else solve(M, forces)
        P = links_alone(q, qd, qdd, **({"asked": "P"} if chooses else {})).P
        springs = drives.spring_matrices(tree, q, qd)
        by_forces = -(P + springs.stiffness), -(V + viscous + springs.damping)
        return ForwardDerivatives(qdd, *(_solved_where(going, M, *by_forces) if rubs else _solved(M, *by_forces)))

    return text


def _solved_where(going: Array, M: Array, X: Array, Y: Array) -> tuple[Array, Array, Array]:
    """The same of the joints that go; those that are held have no velocity to change and no acceleration."""
    moves = going * going
    both = np.outer(moves, moves)
    by_q, by_qd, inverse = _solved(M * both + np.diag(1.0 - moves), moves[:, None] * X, both * Y)
    return by_q, by_qd, both * inverse


def _solved(M: Array, X: Array, Y: Array) -> tuple[Array, Array, Array]:
    """M^-1 X, M^-1 Y and M^-1: by the inverse, unless branches make M so sparse that substitution takes less."""
    n = len(M)
    identity = np.eye(n)
    if 2 * sum(not is_zero(M[i, j]) for i in range(n) for j in range(n)) > n * n:
        inverse = _mirrored(solve(M, identity))
        return inverse @ X, inverse @ Y, inverse
    found = solve(M, np.concatenate([X, Y, identity], axis=1))
    return found[:, :n], found[:, n:2 * n], _mirrored(found[:, 2 * n:])


def _mirrored(full: Array) -> Array:
    rows = [[full[max(i, j), min(i, j)] for j in range(len(full))] for i in range(len(full))]
    return np.array(rows).reshape(np.shape(full))
