"""A mechanism with constraints as a system: the state (q, qd), joint forces as inputs, and what the state is brought
back onto after each step, loops that are closed and velocities that keep them so."""

from __future__ import annotations

from cayley.compiler.linear import ldl_solve
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
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
    """The system of a mechanism with loops, rods, couplings or mimic joints: blocks `q` and `qd`, input `tau`. Start it
    from a closed configuration, with a velocity that the constraints allow.

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

    manifold = Configurations(tree)

    def rates(q: Array, qd: Array) -> Array:
        return constraints.jacobian(tree, q)[rows] @ qd

    def nearest(A: Array, left: Array) -> Array:
        """The smallest velocity v with A v = left."""
        return A.T @ ldl_solve(A @ A.T, left)

    def project(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q = x["q"]
        for _ in range(_ROUNDS):
            A = constraints.jacobian(tree, q)[rows]
            q = manifold.step(q, -nearest(A, constraints.residual(tree, q)[rows]))
        A = constraints.jacobian(tree, q)[rows]
        return {"q": q, "qd": x["qd"] - nearest(A, A @ x["qd"])}

    return System(
        tree.name,
        state={"q": Block((tree.nq,), manifold=manifold, velocity="qd"), "qd": Block((tree.nv,))},
        inputs={"tau": Port((tree.nv,), default=0.0)},
        derivative=lambda t, x, u, p: accelerations(x.q, x.qd, u["tau"]),
        power=lambda t, x, u, p: (u["tau"] - friction_forces(free, x.qd)) @ x.qd,
        energy=lambda t, x, u, p: kinetic(x.q, x.qd) + potential(x.q),
        constraints={"constraints": lambda t, x, u, p: constraints.residual(tree, x.q)[rows],
                     "their rates": lambda t, x, u, p: rates(x.q, x.qd)}, project=project, timed=False)


