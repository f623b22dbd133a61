"""A mechanism with constraints as a system: the state (q, qd), joint forces as inputs, and what the state is brought
back onto after each step, loops that are closed and velocities that keep them so."""

from __future__ import annotations

from cayley.compiler.linear import ldl_solve
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.open_tree.configurations import Configurations
from cayley.dynamics.rigid_links.drives import friction_forces
from cayley.dynamics.state_kernels import kinetic_energy_kernel, potential_energy_kernel
from cayley.errors import UnsupportedError
from cayley.kinematics import constraints
from cayley.kinematics.constraint_structure import constraint_structure
from cayley.model.tree import Tree
from cayley.systems.layout import State
from cayley.systems.ports import Block, Port
from cayley.systems.record import Record
from cayley.systems.system import System

_ROUNDS = 2  # of Newton's method: what one step leaves is small already, and squared by each


def constrained_system(tree: Tree) -> System:
    """The system of a mechanism with loops, rods, couplings, mimic joints or prescribed motions: blocks `q` and `qd`,
    input `tau`. Start it from a closed configuration, with a velocity that the constraints allow.

    >>> from cayley.model.catalogue import load_robot
    >>> constrained_system(load_robot("four_bar"))
    <system four_bar: state q, qd; inputs tau; outputs q, qd>
    """
    structure = constraint_structure(tree)
    if not structure.by_structure:
        raise UnsupportedError(
            f"the constraints of {tree.name} are redundant in a way that changes with its configuration: states cannot "
            "be brought back onto them yet")
    rows = list(structure.leading)
    accelerations = forward_dynamics_kernel(tree)
    free = tree.spanning_tree()
    kinetic = kinetic_energy_kernel(free)
    potential = potential_energy_kernel(free)

    needed = inverse_dynamics_kernel(free)
    manifold = Configurations(tree)

    def at(t: Scalar) -> tuple[Scalar, ...]:
        return (t,) if tree.is_timed else ()

    def rates(A: Array, t: Scalar, q: Array, qd: Array) -> Array:
        return A @ qd + constraints.rates_by_time(tree, q, *at(t))[rows]

    def jacobian(t: Scalar, q: Array) -> Array:
        return constraints.jacobian(tree, q, *at(t))[rows]

    def residual(t: Scalar, q: Array) -> Array:
        return constraints.residual(tree, q, *at(t))[rows]

    def nearest(A: Array, left: Array) -> Array:
        """The smallest velocity v with A v = left."""
        return A.T @ ldl_solve(A @ A.T, left)

    def project(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q = x["q"]
        for _ in range(_ROUNDS):
            q = manifold.step(q, -nearest(jacobian(t, q), residual(t, q)))
        A = jacobian(t, q)
        return {"q": q, "qd": x["qd"] - nearest(A, rates(A, t, q, x["qd"]))}

    def derivative(t: Scalar, x: State, u: Record, p: Record) -> Array:
        return accelerations(x.q, x.qd, u["tau"], *at(t))

    def power(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        """What joint forces put in, and the drives of prescribed motions."""
        tau = needed(x.q, x.qd, derivative(t, x, u, p)) if tree.is_timed else u["tau"]
        return (tau - friction_forces(free, x.qd)) @ x.qd

    return System(
        tree.name,
        state={"q": Block((tree.nq,), manifold=manifold, velocity="qd"), "qd": Block((tree.nv,))},
        inputs={"tau": Port((tree.nv,), default=0.0)},
        derivative=derivative, power=power,
        energy=lambda t, x, u, p: kinetic(x.q, x.qd) + potential(x.q),
        constraints={"constraints": lambda t, x, u, p: residual(t, x.q),
                     "their rates": lambda t, x, u, p: rates(jacobian(t, x.q), t, x.q, x.qd)},
        project=project, timed=tree.is_timed)
