"""Robust control by a sliding mode: whatever a bounded error of the model does, s = e' + slope e is driven to zero.

    tau = M a + C(q, qd) v + g + kd s + (b + reach) sat(s / layer)        v = target' + slope e        a = v'
    d(s^T M s / 2)/dt <= -s^T kd s - reach |s|_1        wherever all |s| >= layer: the reaching condition
b (nv) bounds what the model is wrong by: a constant `bound`, and |Y| uncertainty of parameters that may be wrong by so
much (`unknown_parameters`). The sliding surface s = 0 is reached in finite time, and there the error dies as
e' = -slope e, whatever the arm is. Within the boundary layer the law is linear in s: the error ends within layer /
slope, and the forces are smooth. Without a layer they chatter; it should be some times what s moves in a period,
(b + reach) period / M. Source: Slotine & Li, Applied Nonlinear Control, 1991, 7.1-7.2 and 9.1 (of arms), reaching
condition (7.5), boundary layer (7.23); spec S3-48."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.control.arms import ArmLike, finite_or, law_ports, positive_gains_of, tree_for
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.laws.passivity_law import passive_gains, reference, reference_forces, unknown_parameters
from cayley.errors import SignatureError
from cayley.systems import Record, System

_TINY = 1e-300


def sliding_mode(arm: ArmLike, kd: ArrayLike, slope: ArrayLike, bound: ArrayLike, layer: ArrayLike, *,
                 reach: ArrayLike = 0.0, uncertainty: ArrayLike | None = None,
                 parameters: str | Sequence[str] | None = None, payload: str | None = None,
                 joint_terms: Sequence[str] = (), name: str = "sliding mode") -> System:
    """Sliding-mode control with a boundary layer.

    Inputs: `q`, `qd`, `target`, `target_qd`, `target_qdd`. Output: `tau`. All gains (nv), or one for all: kd [N m
    s/rad], slope [1/s], the `bound` of the model error and the `reach` added to it [N m], and the half-width
    `layer` [rad/s] of the boundary layer, which may be zero. `uncertainty` (k) is how much the `parameters`, or the
    numbers of a `payload`, may be wrong: choices as in `adaptive`. Forces are zero where their inputs are not finite.
    The controller has no memory, so nothing winds up.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> law = sliding_mode(arm, kd=5.0, slope=8.0, bound=0.0, layer=0.1, reach=1.0,
    ...                    payload="tool", parameters=["m"], uncertainty=1.0)
    >>> run = cy.connect(arm.with_payload("tool", 0.7), law).simulate(
    ...     {"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=2.0, inputs={"target": [0.5, -0.3]})
    >>> bool((abs(run.end["q"] - [0.5, -0.3]) < 0.1 / 8.0).all())
    True
    """
    tree = tree_for(arm, "sliding-mode control", single=True)
    n = tree.nv
    gains = passive_gains(tree, 0.0, kd, slope)
    sizes = {name: positive_gains_of(value, n, name, zero=True)
             for name, value in (("bound", bound), ("reach", reach), ("layer", layer))}
    drives = DriveDynamics.of(tree, "sliding-mode control")
    wrong = _Uncertainty.of(drives, uncertainty, parameters, payload, joint_terms)
    forces = reference_forces(drives)

    def law(u: Record, p: Record) -> Array:
        kd, slope, bound, reach, layer = map(drives.picked, (p.kd, p.slope, p.bound, p.reach, p.layer))
        _, v, a, s = reference(drives, u, slope)
        most = bound + reach + wrong.bound(u.q, u.qd, v, a)
        return finite_or(drives.spread(forces(u.q, u.qd, v, a) + kd * s + most * _switched(s, layer)), 0.0)

    return System(name, inputs=law_ports(tree, "q qd target target_qd target_qdd"), outputs={"tau": n},
                  parameters={"kd": gains["kd"], "slope": gains["slope"], **sizes}, output=lambda t, x, u, p: law(u, p))


class _Uncertainty(NamedTuple):
    """`bound(q, qd, v, a)`: what forces (nv) may be wrong by, for parameters that may be; a text."""

    bound: Text

    @classmethod
    def of(cls, drives: DriveDynamics, amounts: ArrayLike | None, parameters: str | Sequence[str] | None,
           payload: str | None, joint_terms: Sequence[str]) -> _Uncertainty:
        if amounts is None:
            if (parameters, payload, tuple(joint_terms)) != (None, None, ()):
                raise SignatureError("parameters that may be wrong take an `uncertainty`: by how much")
            return cls(lambda q, qd, v, a: 0.0)
        unknown = unknown_parameters(drives.tree, parameters, payload, joint_terms)
        given = positive_gains_of(amounts, unknown.size, "uncertainty", zero=True)
        Y = unknown.regressor(drives)
        return cls(lambda q, qd, v, a: abs(Y(q, qd, v, a)) @ given)


def _switched(s: Array, layer: Array) -> Array:
    """s / layer within the layer, the sign of s outside."""
    return where(abs(s) < layer, s / np.maximum(layer, _TINY), np.sign(s))
