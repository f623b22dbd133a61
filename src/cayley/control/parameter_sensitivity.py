"""How a motion depends on constants of the mechanism: dq(t)/dp and dqd(t)/dp beside q(t) and qd(t), under the same
forces.

    D y'' + V y' + P y = dtau/dp - (dID/dp at fixed q, qd, qdd)         y = dq/dp
D, V, P and the derivative of inverse dynamics ID are those of the running state, so there is no error but that of the
integration. Parameters are
    MassParameter     a moment of a link about its origin, "m(link2)", "uy(link2)", "Jxz(link2)", ..: ID is linear in it
    PayloadMass       the mass of a particle fixed to a frame: ID is affine in it
    Displacement      of a joint's place, along or about an axis: dID/dp is the column P of a joint there that is not driven
Source: Balafoutis & Patel 7.1, spec R8.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.control.tracking import followed, rate_kernel
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.identification.regressor import linear_model
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.linearised.kernels import linearize_kernel, sensitivities_text
from cayley.dynamics.linearised.state_space import turning_of_perturbations
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ModelError
from cayley.kinematics.frame_kernels import sized
from cayley.model.joint_kinds import Motion
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree


class Parameter(Protocol):
    """A constant of a mechanism."""

    def force_change(self, tree: Tree) -> Callable[[Any, Any, Any], Any]:
        """The text of dID/dp (nv) at q, qd, qdd."""
        ...


class MassParameter(NamedTuple):
    """A moment of a link by its name in `identification.linear_model(tree).names`; the others stay what they are."""

    name: str

    def force_change(self, tree: Tree) -> Callable[[Any, Any, Any], Any]:
        model = linear_model(tree)
        if self.name not in model.names:
            raise ModelError(f"{tree.name} has no parameter {self.name!r}; it has {', '.join(model.names)}")
        place = model.names.index(self.name)
        return lambda q, qd, qdd: model.text(q, qd, qdd)[:, place]


class PayloadMass(NamedTuple):
    """The mass [kg] of a particle at a point (3) of a named frame."""

    frame: str
    at: Any = (0.0, 0.0, 0.0)

    def force_change(self, tree: Tree) -> Callable[[Any, Any, Any], Any]:
        loaded = minimal_links(tree.with_payload(self.frame, 1.0, center=self.at))
        bare = minimal_links(tree)
        return lambda q, qd, qdd: inverse_dynamics(loaded, q, qd, qdd) - inverse_dynamics(bare, q, qd, qdd)


class Displacement(NamedTuple):
    """A shift (`Prismatic(axis)`) [m] or turn (`Revolute(axis)`) [rad] of the place of a named joint in its parent, in
    the joint's axes.
    """

    joint: str
    motion: Motion

    def force_change(self, tree: Tree) -> Callable[[Any, Any, Any], Any]:
        number = tree.joint_number(self.joint)
        extended = _with_joint_before(tree, number, self.motion)
        added = tree.v_slices[number].start
        others = [k for k in range(tree.nv + 1) if k != added]
        place = tree.q_slices[number].start
        column = sensitivities_text(extended)

        def text(q: Any, qd: Any, qdd: Any) -> Any:
            still = np.zeros(1)
            return column(np.concatenate([q[:place], still, q[place:]]),
                          *[np.concatenate([x[:added], still, x[added:]]) for x in (qd, qdd)]).P[others, added]

        return text


def _with_joint_before(tree: Tree, number: int, motion: Motion) -> Tree:
    """The mechanism with one more joint of one velocity at the place of another, which then moves with it."""
    if motion.nv != 1:
        raise ModelError(f"a displacement is along or about one axis, not {motion.word}")
    old = tree.joints[number]
    between = Body(f"place of {old.name}", 0.0)
    joints = list(tree.joints)
    joints[number:number + 1] = [Joint(f"displacement of {old.name}", old.parent, between.name, motion, old.placement),
                                 replace(old, parent=between.name, placement=np.eye(4))]
    return replace(Tree.of(tree.name, [*tree.bodies, between], joints, gravity=tree.gravity), included=tree.included)


@dataclass(frozen=True, eq=False)
class SensitiveMotion:
    """A motion and its derivatives by k parameters, at times (T): q (T, nq), qd (T, nv), dq (T, nv, k) and dqd (T, nv,
    k).

    dq is along the velocities, where coordinates are more than these.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    dq: np.ndarray
    dqd: np.ndarray


def trajectory_sensitivity(tree: Tree, parameters: Sequence[Parameter], q: Any, qd: Any, forces: Callable[[float], Any],
                           times: Any, *, force_changes: Callable[[float], Any] | None = None, dq: Any = 0.0,
                           dqd: Any = 0.0, tolerance: float = 1e-10) -> SensitiveMotion:
    """The motion from a state under `forces(t)` (nv), and its derivatives by the parameters; the first of the times is
    the start.

    `force_changes(t)` (nv, k): dtau/dp, if the forces depend on the parameters; `dq`, `dqd` (nv, k), if the initial
    state does.

    >>> from cayley.model.catalogue import load_robot
    >>> arm, load = load_robot("s1_g1"), PayloadMass("link2", (0.8, 0.0, 0.0))
    >>> found = trajectory_sensitivity(arm, [load], np.zeros(2), np.zeros(2), lambda t: np.zeros(2), [0, 0.1])
    >>> found.dq.shape
    (2, 2, 1)
    """
    n = tree.nv
    k = len(parameters)
    forward = forward_dynamics_kernel(tree)
    rate = rate_kernel(tree)
    sensitivities = linearize_kernel(tree)
    change = _changes(tree, parameters)

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        here = np.ascontiguousarray(x[:tree.nq])
        velocity = np.ascontiguousarray(x[tree.nq:tree.nq + n])
        y, dy = x[tree.nq + n:].reshape(2, n, k)
        acceleration = forward(here, velocity, np.asarray(forces(t), dtype=float))
        D, V, P = sensitivities(here, velocity, acceleration)
        applied = 0.0 if force_changes is None else force_changes(t)
        ddy = np.linalg.solve(D, applied - change(here, velocity, acceleration) - V @ dy - P @ y)
        turned = dy + turning_of_perturbations(tree, velocity) @ y
        return np.concatenate([rate(here, velocity), acceleration, turned.ravel(), ddy.ravel()])

    start = np.concatenate([q, qd, np.broadcast_to(dq, (n, k)).ravel(), np.broadcast_to(dqd, (n, k)).ravel()])
    first = tree.nq + n
    t, rows = followed(tree.name, slope, start, times, tolerance)
    return SensitiveMotion(t, rows[:, :tree.nq], rows[:, tree.nq:first], rows[:, first:first + n * k].reshape(-1, n, k),
                           rows[:, first + n * k:].reshape(-1, n, k))


def _changes(tree: Tree, parameters: Sequence[Parameter]) -> Kernel:
    """`changes(q, qd, qdd)`: dID/dp (nv, k)."""
    if not parameters:
        raise ModelError(
            f"name at least one parameter of {tree.name}: a MassParameter, a PayloadMass or a Displacement")
    texts = [parameter.force_change(tree) for parameter in parameters]

    def changes(q: Any, qd: Any, qdd: Any) -> Any:
        return np.stack([text(q, qd, qdd) for text in texts], axis=1)

    return kernel(sized(tree, f"(q),(v),(v)->(v,{len(texts)})"))(changes)
