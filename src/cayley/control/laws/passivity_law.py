"""Passivity-based control: it shapes the energy of an arm, and cancels nothing that does no work.

    tau = M a + C(q, qd) v + g + kd s + kp e        v = target' + slope e        a = v'        s = v - qd
    M s' + C s + kd s + kp e = 0        V = s^T M s / 2 + e^T kp e / 2        V' = -s^T kd s - e^T slope kp e
With slope = 0 it is PD+ of Paden & Panja: V' = -e'^T kd e', and the error goes to zero by LaSalle's theorem (that of
Matrosov for targets that move); with slope > 0 and kp = 0 that of Slotine & Li, of which s dies exponentially. Of a
model that is wrong by d the loop is M s' + C s + kd s + kp e = d, bounded for bounded d. Sources: Paden & Panja,
Globally asymptotically stable PD+ controller, 1988; Slotine & Li 1987; spec S3-48.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, law_ports, positive_gains_of, tree_for
from cayley.control.compensators.compensation import Compensator, compensated
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.laws.gravity_law import Lyapunov
from cayley.control.reference_forces import reference, reference_forces
from cayley.dynamics.state_kernels import kinetic_energy_kernel
from cayley.errors import SignatureError
from cayley.model.tree import Tree
from cayley.systems import Record, System

_WHAT = "passivity-based control"


def passivity_based(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, slope: ArrayLike = 0.0, *,
                    compensator: Compensator | None = None, name: str = "passivity-based") -> System:
    """Passivity-based tracking: PD+ of Paden and Panja, or with a slope that of Slotine and Li.

    Inputs `q`, `qd`, `target`, and its `target_qd` and `target_qdd`, zero if nothing drives them; output `tau`. kd [N m
    s/rad, N s/m] is positive, kp [N m/rad, N/m] and slope [1/s] are not negative, and not both zero. Forces are zero
    where they depend on what is not finite; the law remembers nothing. A `compensator` adds to it; see `compensated`.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> loop = cy.connect(arm, passivity_based(arm, kp=0.0, kd=20.0, slope=5.0))
    >>> run = loop.simulate({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=4.0, inputs={"target": [0.5, -0.3]})
    >>> run.end["q"].round(6)
    array([ 0.5, -0.3])
    """
    tree = tree_for(arm, _WHAT, single=True)
    drives = DriveDynamics.of(tree, _WHAT)
    forces = reference_forces(drives)

    def law(u: Record, p: Record) -> Array:
        kp, kd, slope = map(drives.picked, (p.kp, p.kd, p.slope))
        found = reference(drives, u, slope)
        return finite_or(drives.spread(forces(u.q, u.qd, found.v, found.a) + kd * found.s + kp * found.e), 0.0)

    made = System(name, inputs=law_ports(tree, "q qd target target_qd target_qdd"), outputs={"tau": tree.nv},
                  parameters=passive_gains(tree, kp, kd, slope), output=lambda t, x, u, p: law(u, p))
    return made if compensator is None else compensated(made, compensator)


def passive_gains(tree: Tree, kp: ArrayLike, kd: ArrayLike, slope: ArrayLike) -> dict[str, Array]:
    """The parameters of the laws for which V falls."""
    gains = {"kp": positive_gains_of(kp, tree.nv, "kp", zero=True), "kd": positive_gains_of(kd, tree.nv, "kd"),
             "slope": positive_gains_of(slope, tree.nv, "slope", zero=True)}
    free = np.flatnonzero(gains["kp"] + gains["slope"] == 0)
    if len(free):
        raise SignatureError(f"with neither kp nor slope nothing brings joint {tree.joint_names[free[0]]!r} back to "
                             "its target: one of them is positive")
    return gains


def passivity_based_lyapunov(arm: ArmLike, kp: ArrayLike, kd: ArrayLike,
                             slope: ArrayLike = 0.0) -> Kernel[Lyapunov]:
    """`lyapunov(q, qd, target, target_qd)`: V [J] of the arm under the law, and its rate [W], never positive.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> passivity_based_lyapunov(arm, 50.0, 10.0)([0.1, 0.2], [0.0, 1.0], [0.1, 0.3], [0.0, 0.0]).rate
    np.float64(-10.0)
    """
    tree = tree_for(arm, _WHAT, single=True)
    drives = DriveDynamics.of(tree, _WHAT)
    kp, kd, slope = map(drives.picked, passive_gains(tree, kp, kd, slope).values())
    kinetic = kinetic_energy_kernel(tree)

    def lyapunov(q: Array, qd: Array, target: Array, target_qd: Array) -> Lyapunov:
        e = drives.picked(target - q)
        s = drives.picked(target_qd - qd) + slope * e
        return Lyapunov(kinetic(q, drives.at(q).velocity(s)) + e @ (kp * e) / 2, -s @ (kd * s) - e @ (slope * kp * e))

    n = tree.nv
    return kernel(f"({n}),({n}),({n}),({n})->(),()", outputs=Lyapunov._fields)(lyapunov)
