"""A neural compensator: a network of radial basis functions that learns, while the arm moves, the forces that a model
leaves out.

    compensation_j = sum over k of W_jk phi_k        phi_k = exp(-|z - center_k|^2 / (2 width^2))
    W_jk' = rate_j (s_j phi_k - leakage W_jk)        s = e' + slope e
z is each joint's own velocity, as for friction, or the whole state (q, qd). Beside a passivity-based law with the same
slope, M s' + C s + kd s = f - W phi, and V = s^T M s / 2 + |W - W*|^2 / (2 rate) falls by s^T kd s, but for what no
weights W* can represent: s ends within that residue / kd. Source: Sanner & Slotine, Gaussian networks for direct
adaptive control, 1992; Lewis, Jagannathan & Yesildirek, Neural Network Control, 1999, 4.3; spec S3-48, S3-53."""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, law_ports, limits_of, numbers_of, positive_gains_of, tree_for
from cayley.errors import SignatureError, shown
from cayley.systems import Block, Record, State, System


def radial_basis_network(arm: ArmLike, centers: ArrayLike, width: float, rate: ArrayLike, slope: ArrayLike, *,
                         leakage: float = 0.0, most: ArrayLike | None = None, name: str = "network") -> System:
    """A compensator, for `compensated(law, network)` or `compensator=`: inputs `q`, `qd`, `target`, `target_qd`.
    Output: `compensation`. State: `weights` (nv, k), zero if a start does not give it.

    `centers`: (k) of velocities, for a network of each joint by its own velocity, or (k, 2 nv) of states (q, qd). The
    compensation stops growing at `most` (nv) [N m, N], so that saturated drives do not wind it up. States that are not
    finite are not learned, and their compensation is zero.

    >>> import cayley as cy
    >>> radial_basis_network(cy.load("planar2r"), np.linspace(-1.0, 1.0, 5), 0.3, 50.0, 5.0)
    <system network: state weights; inputs q, qd, target, target_qd; outputs compensation; parameters rate, slope, most>
    """
    tree = tree_for(arm, "a network that compensates", rigid=False, single=True, driven=False)
    n = tree.nv
    at = numbers_of(centers, "the centers of a network")
    if at.ndim not in (1, 2) or not len(at) or at.shape[1:] not in ((), (2 * n,)) or not np.isfinite(at).all():
        raise SignatureError(f"the centers of a network must be velocities (k) or states (k, {2 * n}), not "
                             f"{shown(centers)}")
    if not 0 < width < np.inf or not 0 <= leakage < np.inf:
        raise SignatureError(f"the width of a network must be positive and its leakage not negative, not "
                             f"{shown(width)} and {shown(leakage)}")

    def features(q: Array, qd: Array) -> Array:
        away = qd[:, None] - at if at.ndim == 1 else np.concatenate([q, qd]) - at
        nearness = np.exp((away**2 if at.ndim == 1 else np.sum(away**2, axis=1)) * (-0.5 / width**2))
        return nearness if at.ndim == 1 else np.stack([nearness] * n)

    def compensation(x: State, u: Record) -> Array:
        return np.sum(x.weights * features(u.q, u.qd), axis=1)

    def learned(x: State, u: Record, p: Record) -> Array:
        s = u.target_qd - u.qd + p.slope * (u.target - u.q)
        given = compensation(x, u)
        further = where(abs(given) >= p.most, where(given * s > 0, 0.0, s), s)
        return finite_or(p.rate[:, None] * (further[:, None] * features(u.q, u.qd) - leakage * x.weights), 0.0)

    return System(
        name, state={"weights": Block((n, len(at)), default=0.0)}, outputs={"compensation": n},
        inputs=law_ports(tree, "q qd target target_qd"),
        parameters={"rate": positive_gains_of(rate, n, "rate"),
                    "slope": positive_gains_of(slope, n, "slope", zero=True), "most": limits_of(most, n)},
        derivative=lambda t, x, u, p: learned(x, u, p),
        output=lambda t, x, u, p: finite_or(compensation(x, u), 0.0))
