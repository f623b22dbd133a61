"""Adaptive control of Slotine and Li: it tracks with a model that it corrects while it moves.

    tau = M a + C(q, qd) v + g + Y theta + kd s + kp e        theta' = rate Y^T s
    V = s^T M s / 2 + e^T kp e / 2 + (theta - true)^T rate^-1 (theta - true) / 2        V' = -s^T kd s - e^T slope kp e
theta (k) is how far the unknown parameters are from the model's, Y (nv, k) their regressor at the reference velocity v
and its rate a (`reference_forces`). V never grows: errors go to zero, whatever the motion. The estimates become right
only if the motion excites them: the mean of Y^T Y along the target must be regular (persistent excitation). Rates are
in proportion to the squares of what the numbers may be wrong by. Without excitation noise lets estimates drift:
`leakage` pulls them back to the model, and leaves a small error instead, and `bounds` keep them.
Source: Slotine & Li, On the adaptive control of robot manipulators, 1987, (8)-(10); projection and leakage as in
Ioannou & Sun, Robust Adaptive Control, 1996, 8.4; spec S3-48, S3-53."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, law_ports, limits_of, numbers_of, positive_gains_of, tree_for
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.laws.passivity_law import (
    UnknownParameters,
    passive_gains,
    reference,
    reference_forces,
    unknown_parameters,
)
from cayley.control.signals import is_within, within
from cayley.errors import SignatureError, shown
from cayley.planning.motion import Motion
from cayley.systems import Block, Record, State, System

_WHAT = "adaptive control"


def adaptive(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, slope: ArrayLike, rate: ArrayLike, *,
             parameters: str | Sequence[str] | None = None, payload: str | None = None,
             joint_terms: Sequence[str] = (), bounds: tuple[ArrayLike, ArrayLike] | None = None,
             leakage: ArrayLike = 0.0, limits: ArrayLike | None = None, name: str = "adaptive") -> System:
    """Adaptive control of Slotine and Li: parameters of the model are estimated during the motion.

    Inputs: `q`, `qd`, `target`, `target_qd`, `target_qdd`. Outputs: `tau` and the `estimate` (k) of the unknown
    parameters. State: `correction` (k), the difference from the model, zero unless a start gives it. Unknown are the
    base `parameters`, "all", or named ones, with `joint_terms` as in `linear_model`; or the ten numbers of a `payload`
    at a frame (m, its first moment ux, uy, uz and the Euler tensor Jxx .. Jzz about the frame), or those that are
    named. `rate` (k), or one for all, is how fast they are learned; `bounds` (low, high) (k) of estimates.

    Where a measurement or target is not finite the forces that depend on it are zero and the estimate is held. It is
    also held while a force exceeds the `limits` (nv), which then act instead: saturated drives do not wind it up.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> adaptive(arm, 0.0, 20.0, 5.0, 2.0, payload="tool", parameters=["m"])
    <system adaptive: state correction; inputs q, qd, target, target_qd, target_qdd; outputs tau, estimate;
     parameters kp, kd, slope, rate, leakage, limits>
    """
    tree = tree_for(arm, _WHAT, single=True)
    unknown = unknown_parameters(tree, parameters, payload, joint_terms)
    low, high = _bounds(unknown, bounds)
    drives = DriveDynamics.of(tree, _WHAT)
    forces = reference_forces(drives)
    regressor = unknown.regressor(drives)

    def kept(x: State) -> Array:
        """The correction within its bounds, beyond which the last step of an integration may lead it."""
        return x.correction if bounds is None else np.minimum(np.maximum(x.correction, low), high)

    def law(x: State, u: Record, p: Record) -> tuple[Array, Array]:
        kp, kd, slope = map(drives.picked, (p.kp, p.kd, p.slope))
        found = reference(drives, u, slope)
        Y = regressor(u.q, u.qd, found.v, found.a)
        wanted = drives.spread(forces(u.q, u.qd, found.v, found.a) + Y @ kept(x) + kd * found.s + kp * found.e)
        learned = p.rate * (Y.T @ found.s - p.leakage * x.correction) * is_within(wanted, p.limits)
        further = where(x.correction >= high, np.minimum(learned, 0.0), learned)
        return wanted, finite_or(where(x.correction <= low, np.maximum(further, 0.0), further), 0.0)

    return System(
        name, state={"correction": Block((unknown.size,), default=0.0)},
        inputs=law_ports(tree, "q qd target target_qd target_qdd"),
        outputs={"tau": tree.nv, "estimate": unknown.size},
        parameters={**passive_gains(tree, kp, kd, slope), "rate": positive_gains_of(rate, unknown.size, "rate"),
                    "leakage": positive_gains_of(leakage, unknown.size, "leakage", zero=True),
                    "limits": limits_of(limits, tree.nv)},
        derivative=lambda t, x, u, p: law(x, u, p)[1],
        output=lambda t, x, u, p: {"tau": within(law(x, u, p)[0], p.limits),
                                   "estimate": unknown.values + kept(x)})


def unknown_names(arm: ArmLike, *, parameters: str | Sequence[str] | None = None, payload: str | None = None,
                  joint_terms: Sequence[str] = ()) -> tuple[str, ...]:
    """The names (k) of the parameters that `adaptive` estimates with the same arguments.

    >>> import cayley as cy
    >>> unknown_names(cy.load("planar2r"), payload="tool")[:4]
    ('m', 'ux', 'uy', 'uz')
    """
    return unknown_parameters(tree_for(arm, _WHAT, single=True), parameters, payload, joint_terms).names


def excitation(arm: ArmLike, move: Motion, *, parameters: str | Sequence[str] | None = None,
               payload: str | None = None, joint_terms: Sequence[str] = (), samples: int = 500) -> Array:
    """The eigenvalues (k) of the mean of Y^T Y along a motion, the largest first: how well it excites the unknown
    parameters. Zeros are combinations of them that it does not excite, and that cannot be estimated.

    >>> import cayley as cy
    >>> from cayley.planning import FunctionOfTime
    >>> move = FunctionOfTime(lambda t: np.stack([np.sin(t), np.sin(2 * t)]), end=6.0)
    >>> (excitation(cy.load("planar2r"), move, payload="tool") > 1e-9).sum()
    np.int64(4)
    """
    tree = tree_for(arm, _WHAT, single=True)
    unknown = unknown_parameters(tree, parameters, payload, joint_terms)
    q, qd, qdd = move(np.linspace(move.start, move.end, samples))
    Y = unknown.model.regressor(q, qd, qdd) @ unknown.shares
    return np.maximum(np.linalg.eigvalsh(np.einsum("tij,tik->jk", Y, Y) / samples)[::-1], 0.0)


def _bounds(unknown: UnknownParameters, given: tuple[ArrayLike, ArrayLike] | None) -> tuple[Array, Array]:
    """The bounds of corrections (k), from those of estimates."""
    sides = (-np.inf, np.inf) if given is None else given
    if not isinstance(sides, Sequence) or len(sides) != 2:
        raise SignatureError(f"the bounds of estimates must be a pair, low and high, not {shown(given)}")
    low, high = (numbers_of(side, "bounds of estimates") for side in sides)
    for side in (low, high):
        if side.shape not in ((), (unknown.size,)):
            raise SignatureError(f"bounds of estimates must be ({unknown.size}) or one for all, not "
                                 f"{shown(side.tolist())}")
    low = np.broadcast_to(low, (unknown.size,))
    high = np.broadcast_to(high, (unknown.size,))
    outside = np.flatnonzero(~((low <= unknown.values) & (unknown.values <= high) & (low < high)))
    for k in outside[:1]:
        raise SignatureError(f"the bounds of estimates are low and high around what the model has: {unknown.names[k]} "
                             f"is {unknown.values[k]:.6g}, not within {low[k]:.6g} and {high[k]:.6g}")
    return low - unknown.values, high - unknown.values
