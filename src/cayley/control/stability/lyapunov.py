"""Lyapunov's second method: what a candidate V says of an equilibrium, and how much of that is proved.

    V(0) = 0, V > 0 elsewhere, V' <= 0                            stable
    V' < 0 elsewhere, or nothing else stays where V' = 0          asymptotically stable
    and V grows without bound in every direction                  globally, where all of it holds everywhere
Each claim is tried in turn by exact tests over all displacements, by second derivatives near the equilibrium, and on
samples of a region, where what fails is returned as a state. A candidate that fails proves nothing, for or against.
Source: Yamamoto Appendix H (H.1)-(H.4), with LaSalle's theorem as spec E3-44 asks; spec S3-49."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.control.stability import invariant_sets as sets
from cayley.control.stability.error_dynamics import Dynamics, Values, error_dynamics
from cayley.control.stability.invariant_sets import CandidateLike, LyapunovCandidate, candidate
from cayley.control.stability.linear_stability import Finding, Verdict
from cayley.control.stability.signs import definiteness
from cayley.errors import SignatureError, shown
from cayley.progress import PatientBar
from cayley.systems import StateLike

_ROUNDING = 1e-10  # of the terms of V': less counts as zero
_FAR = 10.0 ** np.arange(1, 9)  # times the region: how far rays are followed
_RAYS = 256
_PIECE = 20_000  # samples at once
_POLISHED = 4  # of the worst samples
_AWAY = 1e-5  # of the region: nearer to the equilibrium rounding decides the sign of V


def lyapunov_stability(dynamics: Dynamics, V: CandidateLike, at: StateLike | None = None, *, inputs: Values = None,
                       parameters: Values = None, discrete: bool = False, region: sets.RegionLike | None = None,
                       samples: int = 100_000, seed: int = 0, progress: bool = True) -> Verdict:
    """The verdict of a candidate V about an equilibrium; dynamics as `error_dynamics` takes them, V as `candidate`.

    `region`: how far displacements are sampled, by their labels or blocks: `{"q": 3.0, "qd[0]": (-1.0, 2.0)}`; by
    default -1 to 1.

    >>> import sympy as sp
    >>> x, v = sp.symbols("x v")
    >>> print(lyapunov_stability({x: v, v: -x - x**3 - v}, v**2 / 2 + x**2 / 2 + x**4 / 4))
    equations: asymptotically stable globally, proved
      proved globally: V is zero at the equilibrium; ...
      proved globally: V > 0 elsewhere; ...
      proved globally: V grows without bound; ...
      proved globally: V' <= 0; V' = -v**2, ...; V' = 0 where v = 0
      proved globally: nothing but the equilibrium stays where V' = 0; ... leaves x = 0, v = 0
      proved locally: all 2 poles have negative real parts; ...
    """
    about = error_dynamics(dynamics, at, inputs=inputs, parameters=parameters, discrete=discrete)
    if not isinstance(samples, (int, np.integer)) or samples < 1:
        raise SignatureError(f"at least one sample is needed, not {shown(samples)}")
    tried = candidate(about, V)
    box = sets.box_of(about, region)
    d = sets.states_in(box, samples, seed)
    claims = [*positive(tried, box, d)]
    if not _fails(claims):
        claims += falls(tried, box, d, progress)
    if not _fails(claims) and not any(claim.claim == sets.STRICT and claim.scope != "locally" for claim in claims):
        claims += [_conserved(tried, box)] if tried.sign_of_rate.word == "zero" else (
            sets.invariant_set(tried, box, seed=seed))
    verdict = sets.concluded(about, tuple(claims), sets.named_box(about, box))
    return verdict if verdict.suggested is None and verdict.basis != "sampled" else replace(
        verdict, findings=(*verdict.findings, _kept_inside(tried, box, seed)))


def _kept_inside(V: LyapunovCandidate, box: Array, seed: int) -> Finding:
    """The use of the region: the greatest set V < c in it."""
    level = level_inside(V.value, box, seed=seed)
    return Finding(f"what starts where V < {level:.6g} stays in the region", "sampled",
                   "that is the least V on its faces", "in the region", 1)


def positive(V: LyapunovCandidate, box: Array, d: Array) -> list[Finding]:
    """V is zero at the equilibrium, positive elsewhere, and grows without bound."""
    about = V.about
    value = float(V.value(np.zeros(about.size)))
    scale = float(np.nanmax(np.abs(V.value(d)), initial=0.0))
    if not abs(value) <= 1e-12 * scale:
        return [Finding(sets.ZERO, "refuted", f"it is {value:.6g} there: subtract that", counterexample=about.states(
            np.zeros(about.size)))]
    zero = Finding(sets.ZERO, "proved", "its value there is zero" + ("" if value == 0 else " to rounding"), "globally")
    if V.sign.word == "positive definite":
        found = [zero, Finding(sets.POSITIVE, "proved", V.sign.how, "globally")]
        return [*found, Finding(sets.UNBOUNDED, "proved", "a form that is positive definite does", "globally")]
    near = _positive_nearby(V)
    if near is not None and near.outcome == "refuted":
        return [zero, near]
    width = box[1] - box[0]
    steep = V.value(d) / ((d / width) ** 2).sum(axis=-1)
    worst = _polished(lambda x: float(V.value(x)) / (_AWAY**2 + float(((x / width) ** 2).sum())),
                      d[np.argsort(steep)[:_POLISHED]], box)
    tried = np.concatenate([d, worst])
    away = (np.abs(tried) > _AWAY * width).any(axis=-1)
    bad = away & ~(V.value(tried) > 0)
    if bad.any():
        at = tried[np.argmax(bad)]
        return [zero, Finding(sets.POSITIVE, "refuted", f"it is {float(V.value(at)):.6g} at a state", "in the region",
                              len(tried), about.states(at))]
    sampled = Finding(sets.POSITIVE, "sampled", f"at all of {len(tried)} states", "in the region", len(tried))
    return [zero, *([near] if near else []), sampled, _unbounded(V, box)]


def _positive_nearby(V: LyapunovCandidate) -> Finding | None:
    """The finding about V nearby by its second derivatives, if they tell."""
    origin = np.zeros(V.about.size)
    slope = V.slope(origin)
    H = V.slope.jacobian("d")(origin)
    size = float(np.abs(H).max(initial=0.0))
    if np.abs(slope).max() > 1e-9 * max(size, 1e-12):
        down = -slope / np.linalg.norm(slope)
        for step in 10.0 ** -np.arange(2, 8):
            if V.value(step * down) < 0:
                return Finding(sets.POSITIVE, "refuted", "it has a slope at the equilibrium",
                               counterexample=V.about.states(step * down))
    if not size or not np.isfinite(H).all():
        return None
    if np.abs(slope).max() > 1e-9 * size or not V.is_smooth:
        return None
    sign = definiteness((H + H.T) / 2)
    how = f"its second derivatives there have the {sign.how}"
    return Finding(sets.POSITIVE, "proved", how) if sign.is_definite else None


def _unbounded(V: LyapunovCandidate, box: Array) -> Finding:
    """Along rays to all sides."""
    n = V.about.size
    rays = np.concatenate([np.eye(n), -np.eye(n), np.random.default_rng(0).normal(size=(_RAYS, n))])
    rays = rays / np.linalg.norm(rays, axis=-1, keepdims=True) * (box[1] - box[0]) / 2
    with np.errstate(all="ignore"):
        along = np.stack([V.value(far * rays) for far in _FAR])
        grows = (along[1:] > along[:-1] * (1 + 1e-3)) | np.isposinf(along[1:])
    if not grows.all():
        decade, ray = np.argwhere(~grows)[-1]
        return Finding(sets.UNBOUNDED, "open", f"in some directions it seems not to, {along[decade + 1, ray]:.4g} far "
                       "away: nothing holds globally", "globally", len(rays),
                       V.about.states(_FAR[decade + 1] * rays[ray]))
    return Finding(sets.UNBOUNDED, "sampled", f"along {len(rays)} rays", "globally", len(rays))


def falls(V: LyapunovCandidate, box: Array, d: Array, progress: bool) -> list[Finding]:
    """V' is negative, or at least nowhere positive."""
    about = V.about
    formula = f"V' = {V.rate_expression}, " if V.rate_expression is not None and len(
        str(V.rate_expression)) < 100 else ""
    sign = V.sign_of_rate
    if sign.word == "negative definite":
        return [Finding(sets.STRICT, "proved", formula + sign.how, "globally")]
    if sign.word == "zero":
        return [Finding(sets.FALLS, "proved", "V' = 0 everywhere", "globally")]
    if sign.word == "negative semidefinite":
        return [Finding(sets.FALLS, "proved", f"{formula}{sign.how}; {sets.set_in_words(V)}", "globally")]
    near = definiteness(sets.curvature_of_rate(V), rounding=sets.rounding_of_curvature(V))
    if near.word in ("indefinite", "positive definite", "positive semidefinite"):
        rise = _rise_nearby(V, box)
        if rise is not None:
            return [Finding(sets.FALLS, "refuted", f"{formula}it rises as near to the equilibrium as you like: second "
                            f"derivatives of V' have the {near.how}", counterexample=about.states(rise))]
    at, tried = _worst_rate(V, box, d, progress)
    if at is not None:
        return [Finding(sets.FALLS, "refuted", f"{formula}it is {float(V.rate(at)):.6g} at a state", "in the region",
                        tried, about.states(at))]
    strict = near.word == "negative definite" and V.is_smooth and about.is_smooth
    words = f"{formula}at all of {tried} states" + ("" if strict else f"; {sets.set_in_words(V)}")
    found = [Finding(sets.STRICT, "proved", f"its second derivatives there have the {near.how}")] if strict else []
    return [*found, Finding(sets.STRICT if strict else sets.FALLS, "sampled", words, "in the region", tried)]


def _rise_nearby(V: LyapunovCandidate, box: Array) -> Array | None:
    """A state near the equilibrium at which V' is positive, along the direction of its greatest curvature."""
    way = np.linalg.eigh(sets.curvature_of_rate(V))[1][:, -1] * (box[1] - box[0]).min()
    steps = np.concatenate([side * 10.0 ** -np.arange(1, 7) for side in (1, -1)])[:, None] * way
    rises = V.rate(steps) > _ROUNDING * V.size_of_rate(steps)
    return np.asarray(steps[np.argmax(rises)]) if rises.any() else None


def _worst_rate(V: LyapunovCandidate, box: Array, d: Array, progress: bool) -> tuple[Array | None, int]:
    """A state at which V' is positive, or not a number, if there is one; and how many were looked at."""
    relative = np.empty(len(d))
    with PatientBar(f"V' of {V.about.name}", len(d), shown=progress) as bar, np.errstate(all="ignore"):
        for first in range(0, len(d), _PIECE):
            part = d[first:first + _PIECE]
            size = V.size_of_rate(part)
            relative[first:first + _PIECE] = V.rate(part) / np.where(size > 0, size, 1.0)
            bar.reached(first + len(part))
    relative = np.where(np.isfinite(relative), relative, np.inf)
    tried = np.concatenate([d, _polished(lambda x: -float(V.rate(x)), d[np.argsort(-relative)[:_POLISHED]], box)])
    bad = ~(V.rate(tried) <= _ROUNDING * V.size_of_rate(tried))
    if not bad.any():
        return None, len(tried)
    rates = np.where(bad, np.nan_to_num(V.rate(tried), nan=np.inf), -np.inf)
    return np.asarray(tried[np.argmax(rates)]), len(tried)


def _polished(least: Callable[[Array], float], starts: Array, box: Array) -> Array:
    """Nearby states where something is least."""
    finite = [start for start in starts if np.isfinite(least(start))]
    found = [minimize(least, start, bounds=list(zip(*box, strict=True)), method="L-BFGS-B").x for start in finite]
    return np.array(found).reshape(-1, box.shape[1])


def _conserved(V: LyapunovCandidate, box: Array) -> Finding:
    return Finding(sets.ALONE, "refuted", "V is conserved: everything stays on its level", "globally",
                   counterexample=V.about.states(box[1] / 2))


def _fails(claims: list[Finding]) -> bool:
    return any(claim.outcome == "refuted" for claim in claims)


_ON_A_FACE = 2000
_DESCENTS = 3


def level_inside(value: Kernel, box: Array, *, seed: int = 0) -> float:
    """The least value of V(d) on the faces of a box (2, n), as far as samples and descents from the best of them find
    it.

    >>> import cayley as cy
    >>> round(level_inside(cy.kernel("(2)->()")(lambda d: d[0] ** 2 + 4 * d[1] ** 2), np.array([[-3, -1], [3, 2]])), 9)
    4.0
    """
    rng = np.random.default_rng(seed)
    n = box.shape[1]
    best = np.inf
    slope = value.jacobian(value.inputs[0])
    for axis in range(n):
        for side in (0, 1):
            d = rng.uniform(box[0], box[1], size=(_ON_A_FACE if n > 1 else 1, n))
            d[:, axis] = box[side, axis]
            ends = np.array(box, dtype=float)
            ends[:, axis] = box[side, axis]
            values = value(d)
            for start in d[np.argsort(values)[:_DESCENTS]]:
                found = minimize(lambda x: float(value(x)), start, jac=slope, bounds=list(zip(*ends, strict=True)),
                                 method="L-BFGS-B")
                best = min(best, float(found.fun), float(np.nanmin(values)))
    return best
