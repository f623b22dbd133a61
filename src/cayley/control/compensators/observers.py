"""Observers of the state of a linear plant (Luenberger) and of forces on an arm that its model does not know: these
from its momentum, without a force sensor and without accelerations.

    p = M qd        p' = tau + C^T qd - g - friction + d        z' = tau + C^T qd - g - friction + r
    r = gain (p - z)        then  r' = gain (d - r)
so that r is the disturbance d (nv), joint by joint through a filter of first order: of a constant one, d (1 -
exp(-gain t)). d is the force of a collision, a payload, friction: all that the model does not know. Source: De Luca &
Mattone, Actuator failure detection and isolation using generalized momenta, 2003, (7)-(10); Haddadin, De Luca &
Albu-Schaeffer 2017, IV.E; spec S3-48."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, law_ports, positive_gains_of, tree_for
from cayley.control.drive_dynamics import DriveDynamics
from cayley.dynamics.closed_form import coriolis_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import passive_forces, rotor_coriolis_matrix, rotor_inertias
from cayley.dynamics.rigid_links.energies import generalized_momentum
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SignatureError
from cayley.systems import Block, Record, State, System


class _Momentum(NamedTuple):
    """The momentum of the drives and its rate by all known forces but tau, each (m)."""

    value: Array
    rate: Array


def momentum_observer(arm: ArmLike, gain: ArrayLike, *, name: str = "momentum observer") -> System:
    """Disturbance observer: the forces (nv) on an arm that are not in its model.

    Inputs `q`, `qd`, and the `tau` that acts, which is that after its limits: then a drive that saturates is no
    disturbance, and nothing winds up. Output `disturbance` [N m, N]; the state `impulse` (nv), zero if a start does not
    give it: it is p of an arm that starts at rest, and one that starts in motion is seen as pushed, for some 1 / gain.
    gain (nv) [1/s], or one for all, is the bandwidth. While a measurement is not finite, the disturbance of the joints
    that feel it is zero and the state is held; the resulting error decays with the gain.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> seen = momentum_observer(arm, 20.0)
    >>> loop = cy.connect(arm.system(wrenches=["tool"]), arm.control.pd_with_gravity(100.0, 20.0), seen)
    >>> push = {"target": [0.3, 0.2], "wrench_tool": [0.0, 5.0, 0.0, 0.0, 0.0, 0.0]}
    >>> run = loop.simulate({"q": [0.3, 0.2], "qd": [0.0, 0.0]}, until=2.0, inputs=push)
    >>> bool(abs(run["disturbance"][-1] - arm.jacobian(run.end["q"], "tool", axes="body")[1] * 5.0).max() < 1e-4)
    True
    """
    tree = tree_for(arm, "the momentum observer", driven=False)
    drives = DriveDynamics.of(tree, "the momentum observer")
    free = tree.spanning_tree() if tree.is_constrained else tree
    links = links_of(free)
    grouped = minimal_links(free)
    rotors = rotor_inertias(free)
    rest = np.zeros(tree.nv)

    def momentum(q: Array, qd: Array) -> _Momentum:
        here = drives.at(q)
        C = coriolis_matrix(links, q, qd) + rotor_coriolis_matrix(free, qd)
        known = inverse_dynamics(grouped, q, rest, rest) + passive_forces(free, q, qd)
        value = generalized_momentum(links, q, qd) + rotors * qd
        return _Momentum(here.forces(value), here.momentum_rate(q, qd, value, C.T @ qd - known))

    def disturbance(x: State, u: Record, p: Record) -> Array:
        return drives.picked(p.gain) * (momentum(u.q, u.qd).value - x.impulse)

    return System(
        name, state={"impulse": Block((drives.count,), default=0.0)},
        inputs={**law_ports(tree, "q qd"), "tau": tree.nv},
        outputs={"disturbance": tree.nv}, parameters={"gain": positive_gains_of(gain, tree.nv, "gain")},
        derivative=lambda t, x, u, p: finite_or(
            drives.picked(u.tau) + momentum(u.q, u.qd).rate + disturbance(x, u, p), 0.0),
        output=lambda t, x, u, p: finite_or(drives.spread(disturbance(x, u, p)), 0.0))


def luenberger_observer(A: ArrayLike, B: ArrayLike, C: ArrayLike, gain: ArrayLike, *, name: str = "observer") -> System:
    """The estimate of the state of dx/dt = A x + B u, y = C x, from `u` (m) and `y` (k): `estimate` (n) is its state
    and its output.

        d estimate / dt = A estimate + B u + gain (y - C estimate)
    The error dies as exp((A - gain C) t). A Kalman-Bucy filter is one with the gain that its Riccati equation gives.

    >>> luenberger_observer([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[3.0], [2.0]])
    <system observer: state estimate; inputs u, y; outputs estimate>
    """
    a, b, c, g = (np.asarray(M, dtype=float) for M in (A, B, C, gain))
    n = len(a)
    if a.shape != (n, n) or b.shape[:1] != (n,) or c.shape[1:] != (n,) or g.shape != (n, len(c)) or b.ndim != 2:
        raise SignatureError("A (n, n), B (n, m), C (k, n) and the gain (n, k) do not go together: they have the "
                             f"shapes {a.shape}, {b.shape}, {c.shape} and {g.shape}")
    return System(
        name, state={"estimate": n}, inputs={"u": b.shape[1], "y": len(c)},
        derivative=lambda t, x, u, p: a @ x.estimate + b @ u.u + g @ (u.y - c @ x.estimate))
