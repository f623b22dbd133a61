"""LaSalle's theorem: where V' is zero but nowhere positive, all motions tend to the largest invariant part of V' = 0.

For polynomials this is algebra. The s that vanish together where V' does span an ideal; on an invariant part their
derivatives along the dynamics vanish too, L_F s, L_F L_F s, ..., which are added until nothing new comes. If every
coordinate is then in the radical of the ideal, the equilibrium is all that stays, which proves it; otherwise other real
points are searched. For other functions, states of the set are sampled: V must fall from each of them, and there must
be no other equilibrium. Source: spec S3-49, E3-32, E3-44."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.stability.error_dynamics import ErrorDynamics, in_symbols, is_smooth
from cayley.control.stability.linear_stability import Finding, Nature, Outcome, Scope, Verdict, of_error_dynamics
from cayley.control.stability.signs import UNDECIDED, PolynomialSign, polynomial_sign, real_zeros
from cayley.errors import SignatureError, did_you_mean, shown
from cayley.extras import optional_imports

if TYPE_CHECKING:
    from sympy import Expr

_MOST_COORDINATES = 8
_MOST_DEGREE = 6
_ROUNDS = 8  # of derivatives
_TRIED = 512  # states of the set
_STARTS = 48  # of the search for other equilibria
_STEPS = 200
_ROUNDING = 1e-12  # of A and H, relative
_AWAY = 1e-3  # of the region: nearer states count as the equilibrium


def invariant_set(candidate: LyapunovCandidate, box: Array, *, seed: int = 0) -> list[Finding]:
    """The claim that only the equilibrium stays in the set V' = 0, everywhere or at least in the region."""
    everywhere = _by_algebra(candidate)
    if everywhere is not None and everywhere.outcome == "proved":
        return [everywhere]
    return [*([everywhere] if everywhere else []), _by_samples(candidate, box, seed)]


def set_in_words(candidate: LyapunovCandidate) -> str:
    """The set V' = 0."""
    zeros = candidate.sign_of_rate.zeros
    if zeros:
        return "V' = 0 where " + " and ".join(f"{zero} = 0" for zero in zeros)
    flat = flat_directions(candidate)
    labels = candidate.about.labels
    if flat.shape[1] == len(labels):
        return "near the equilibrium V' = 0 along all directions, to second order"
    fixed = [label for label, row in zip(labels, flat, strict=True) if np.abs(row).max(initial=0.0) < 1e-9]
    if len(fixed) == len(labels) - flat.shape[1]:
        return f"near the equilibrium V' = 0 where {', '.join(fixed)} = 0"
    return f"near the equilibrium V' = 0 along {flat.shape[1]} directions"


def curvature_of_rate(candidate: LyapunovCandidate) -> Array:
    """The second derivatives of V' at the equilibrium: A^T H + H A, or A^T H A - H, with those H of V."""
    A = candidate.about.A
    H = _curvature(candidate)
    return np.asarray(A.T @ H @ A - H if candidate.about.discrete else A.T @ H + H @ A)


def rounding_of_curvature(candidate: LyapunovCandidate) -> float:
    """The size of eigenvalues of that which may be zero: they are differences of what A and H are multiplied to."""
    A = float(np.linalg.norm(candidate.about.A, 2))
    H = float(np.linalg.norm(_curvature(candidate), 2))
    return _ROUNDING * H * (A**2 + 1 if candidate.about.discrete else 2 * A)


def _curvature(candidate: LyapunovCandidate) -> Array:
    """The second derivatives of V at the equilibrium (n, n)."""
    return np.asarray(candidate.slope.jacobian("d")(np.zeros(candidate.about.size)))


def flat_directions(candidate: LyapunovCandidate) -> Array:
    """Directions (n, k) in which V' is zero to second order."""
    values, vectors = np.linalg.eigh(curvature_of_rate(candidate))
    seen = significant(np.abs(values), len(values)) & (np.abs(values) > rounding_of_curvature(candidate))
    return np.asarray(vectors[:, ~seen])


def _by_algebra(candidate: LyapunovCandidate) -> Finding | None:
    with optional_imports():
        import sympy
    known = candidate.about.expressions
    zeros = candidate.sign_of_rate.zeros
    if known is None or not zeros:
        return None
    d = known[0]
    F = [sympy.nsimplify(f, rational=True) for f in known[1]]
    if len(d) > _MOST_COORDINATES or not all(f.is_polynomial(*d) for f in F) or max(
            sympy.Poly(f, *d).total_degree() for f in (*F, *zeros)) > _MOST_DEGREE:
        return None
    basis = _basis(zeros, d)
    for _ in range(_ROUNDS):
        after = [_along(s, d, F, candidate.about.discrete) for s in basis.exprs]
        new = [r for r in (basis.reduce(s)[1] for s in after) if r != 0]
        if not new:
            break
        basis = _basis([*basis.exprs, *new], d)
    else:
        return None
    t = sympy.Dummy("t")
    if all(sympy.groebner([*basis.exprs, 1 - t * x], t, *d, domain="QQ").exprs == [1] for x in d):
        return Finding(ALONE, "proved", f"with its derivatives along the dynamics it leaves {_listed(basis.exprs)}",
                       "globally")
    other = _real_point(basis.exprs, d)
    if other is None:
        return None
    point = np.array([float(other[x]) for x in d])
    return Finding(ALONE, "refuted", f"what satisfies {_listed(basis.exprs)} stays", "globally",
                   counterexample=candidate.about.states(point))


def _basis(equations: Any, d: Any) -> Any:  # noqa: ANN401 (of SymPy)
    """A basis of the ideal of equations, in which factors that are zero nowhere are left out."""
    with optional_imports():
        import sympy
    found = list(equations)
    while True:
        basis = sympy.groebner([zero for s in found for zero in real_zeros(s, d)], *d, order="grevlex",
                               domain="QQ")
        if basis.exprs == found:
            return basis
        found = basis.exprs


def _along(s: Expr, d: Any, F: list[Expr], discrete: bool) -> Expr:  # noqa: ANN401 (symbols of SymPy)
    with optional_imports():
        import sympy
    if discrete:
        return sympy.expand(s.subs(dict(zip(d, F, strict=True)), simultaneous=True))
    return sympy.expand(sum(sympy.diff(s, x) * f for x, f in zip(d, F, strict=True)))


def _real_point(equations: list[Expr], d: Any) -> dict[Any, Any] | None:  # noqa: ANN401 (symbols of SymPy)
    """A real point besides the origin, if one is found."""
    with optional_imports():
        import sympy
    try:
        found = sympy.solve(equations, *d, dict=True)
    except NotImplementedError:
        return None
    for solution in found:
        free = sorted({s for x in d for s in sympy.sympify(solution.get(x, x)).free_symbols}, key=str)
        for value in (1, sympy.Rational(1, 10)):
            at = {x: sympy.sympify(solution.get(x, x)).subs(dict.fromkeys(free, value)) for x in d}
            if any(v != 0 for v in at.values()) and all(v.is_real for v in at.values()):
                return at
    return None


def _listed(equations: list[Expr]) -> str:
    return ", ".join(f"{s} = 0" for s in equations)


def _by_samples(candidate: LyapunovCandidate, box: Array, seed: int) -> Finding:
    about = candidate.about
    other = _other_equilibrium(candidate, box, seed)
    if other is not None:
        return Finding(ALONE, "refuted", "there is another equilibrium", "in the region",
                       counterexample=about.states(other))
    points = _points_of_set(candidate, box, seed)
    if not len(points):
        return Finding(ALONE, "sampled", f"{_TRIED // 2} searches found no other state with V' = 0, and {_STARTS} no "
                       "other equilibrium", "in the region", _TRIED // 2)
    h = 0.1 / max(float(np.linalg.norm(about.A, 2)), 1e-12)
    later = about.stepper(h, 2 * about.size if about.discrete else _STEPS)(points)
    falls = candidate.value(later) < candidate.value(points) * (1 - 1e-9)
    if not falls.all():
        worst = points[np.argmin(falls)]
        return Finding(ALONE, "refuted", "V does not fall from here, as far as it was followed", "in the region",
                       counterexample=about.states(worst))
    return Finding(ALONE, "sampled", f"V falls from each of {len(points)} states with V' = 0, and {_STARTS} searches "
                   "found no other equilibrium", "in the region", len(points))


def _points_of_set(candidate: LyapunovCandidate, box: Array, seed: int) -> Array:
    """States with V' = 0, by Newton's method for the gradient of V', which vanishes there with it."""
    slope = candidate.rate.jacobian("d")
    d = states_in(box, _TRIED, seed)[: _TRIED // 2]
    h = 1e-5 * (box[1] - box[0])
    with np.errstate(all="ignore"):
        for _ in range(6):
            curvature = np.stack([(slope(d + s) - slope(d - s)) / (2 * s.max()) for s in np.diag(h)], axis=-1)
            even = (curvature + np.swapaxes(curvature, -1, -2)) / 2
            good = np.isfinite(even).all(axis=(-1, -2))
            d = d[good]
            if not len(d):
                return d
            inverse = np.linalg.pinv(even[good], rcond=least_singular(d.shape[1]), hermitian=True)
            d = d - (inverse @ slope(d)[..., None])[..., 0]
        flat = np.abs(candidate.rate(d)) <= 1e-9 * (candidate.value(d) + candidate.size_of_rate(d))
    inside = (d >= box[0]).all(axis=-1) & (d <= box[1]).all(axis=-1)
    away = (np.abs(d) > _AWAY * (box[1] - box[0])).any(axis=-1)
    return np.asarray(d[flat & inside & away])


def _other_equilibrium(candidate: LyapunovCandidate, box: Array, seed: int) -> Array | None:
    from scipy.optimize import least_squares
    moves, slopes = candidate.about.stillness()
    for start in states_in(box, _STARTS, seed + 1):
        found = least_squares(moves, start, jac=slopes, bounds=(box[0] - 1e-12, box[1] + 1e-12), xtol=1e-14, ftol=1e-14,
                              gtol=1e-14)
        rest = np.abs(found.fun).max() <= 1e-9 * max(1.0, float(np.abs(found.jac).max()))
        if rest and (np.abs(found.x) > _AWAY * (box[1] - box[0])).any():
            return np.asarray(found.x)
    return None


ZERO = "V is zero at the equilibrium"
POSITIVE = "V > 0 elsewhere"
UNBOUNDED = "V grows without bound"
STRICT = "V' < 0 elsewhere"
FALLS = "V' <= 0"
ALONE = "nothing but the equilibrium stays where V' = 0"

_SCOPES: dict[Scope, tuple[Scope, ...]] = {  # what also holds in a scope
    "globally": ("globally",), "in the region": ("globally", "in the region"), "locally": ("globally", "locally")}
_ORDER: tuple[tuple[Nature, Scope], ...] = (
    ("asymptotically stable", "globally"), ("asymptotically stable", "in the region"),
    ("asymptotically stable", "locally"), ("stable", "globally"), ("stable", "in the region"), ("stable", "locally"),
    ("undecided", "locally"))


def concluded(about: ErrorDynamics, claims: Sequence[Finding], region: Mapping[str, tuple[float, float]]) -> Verdict:
    """The verdict of claims about a candidate, and of the linear model."""
    linear = of_error_dynamics(about)
    findings = (*claims, *linear.findings)
    if linear.nature == "unstable":
        return Verdict(about.name, "unstable", "proved", "locally", findings, linear.poles, region)
    proved = [_followed(claims, scope, ("proved",)) for scope in ("globally", "locally")]
    proved += [(linear.nature, linear.scope)]
    sure = min(proved, key=_ORDER.index)
    seen = min((_followed(claims, scope, ("proved", "sampled")) for scope in ("globally", "in the region")),
               key=_ORDER.index)
    more = seen if _ORDER.index(seen) < _ORDER.index(sure) else None
    if sure[0] == "undecided":
        nature, scope = more or sure
        return Verdict(about.name, nature, "sampled" if more else "nothing", scope, findings, linear.poles, region)
    return Verdict(about.name, sure[0], "proved", sure[1], findings, linear.poles, region, more)


def _followed(claims: Sequence[Finding], scope: Scope, outcomes: tuple[Outcome, ...]) -> tuple[Nature, Scope]:
    """The conclusion in a scope from the claims that have one of the outcomes."""
    def holds(claim: str) -> bool:
        return any(f.claim == claim and f.outcome in outcomes and f.scope in _SCOPES[scope] for f in claims)

    if not holds(ZERO) or not holds(POSITIVE) or not (holds(STRICT) or holds(FALLS)):
        return "undecided", "locally"
    comes_back = holds(STRICT) or holds(ALONE)
    if scope == "globally" and not holds(UNBOUNDED):
        scope = "locally"
    return "asymptotically stable" if comes_back else "stable", scope


# By the label of an entry, or the name of a block for all of its entries: how far from the equilibrium, (low, high) or
# one number for both sides
RegionLike: TypeAlias = Mapping[str, float | tuple[float, float]]


def box_of(about: ErrorDynamics, region: RegionLike | None) -> Array:
    """The lower and upper ends (2, n) of a region, by default -1 and 1."""
    box = np.outer([-1.0, 1.0], np.ones(about.size))
    known = dict.fromkeys([*about.labels, *[label.partition("[")[0] for label in about.labels]])
    if region is not None and not isinstance(region, Mapping):
        raise SignatureError(f"a region must be given by labels, {{{about.labels[0]!r}: 2.0}}, not {shown(region)}")
    for name, ends in (region or {}).items():
        if name not in known:
            raise SignatureError(f"{about.name} has no entry {name!r}{did_you_mean(name, known)}; it has "
                                 f"{', '.join(about.labels)}")
        low, high = ends if isinstance(ends, (tuple, list)) else (-ends, ends)
        if not -np.inf < low <= 0 <= high < np.inf or low == high:
            raise SignatureError(f"a region of displacements has the equilibrium, 0, inside: {name!r} goes from "
                                 f"{shown(low)} to {shown(high)}")
        columns = [k for k, label in enumerate(about.labels) if name in (label, label.partition("[")[0])]
        box[:, columns] = np.array([[low], [high]], dtype=float)
    return box


def named_box(about: ErrorDynamics, box: Array) -> dict[str, tuple[float, float]]:
    return {label: (float(low), float(high)) for label, low, high in zip(about.labels, *box, strict=True)}


def states_in(box: Array, samples: int, seed: int) -> Array:
    """Displacements (samples, n): half of them everywhere, half nearer and nearer to the equilibrium."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(box[0], box[1], size=(samples, box.shape[1]))
    d[samples // 2:] *= 10.0 ** rng.uniform(-4, 0, size=(samples - samples // 2, 1))
    return d


# A text of the state; an expression in the symbols of equations; or P (n, n) of V = d^T P d
CandidateLike: TypeAlias = "Callable[..., Scalar] | Expr | ArrayLike"

_SMALL = 200  # operations: more make no formulas that could be looked at


@dataclass(frozen=True, eq=False)
class LyapunovCandidate:
    """V about an equilibrium; made by `candidate`. V' = grad V . F, of steps V(F(d)) - V(d)."""

    about: ErrorDynamics
    value: Kernel
    """V(d)."""

    @cached_property
    def slope(self) -> Kernel:
        """The gradient of V (n)."""
        return self.value.jacobian("d")

    @cached_property
    def rate(self) -> Kernel:
        """V'(d)."""
        return self._kernel(lambda d: self._parts(d).sum())

    @cached_property
    def size_of_rate(self) -> Kernel:
        """The sum of the sizes of what V' is made of: what its rounding is measured against."""
        return self._kernel(lambda d: np.abs(self._parts(d)).sum())

    def _parts(self, d: Array) -> Array:
        F = self.about.rate(d)
        return np.stack([self.value(F), -self.value(d)]) if self.about.discrete else self.slope(d) * F

    def _kernel(self, text: Callable[[Array], Scalar]) -> Kernel:
        return kernel(f"({self.about.size})->()", inputs=("d",), name="lyapunov_rate")(text)

    @cached_property
    def is_smooth(self) -> bool:
        """True if second derivatives at the equilibrium describe V nearby."""
        return is_smooth(self.slope) and is_smooth(self.value)

    @cached_property
    def expression(self) -> Expr | None:
        """V in the symbols of the dynamics."""
        known = self.about.expressions
        if known is None or len(self.value.program().nodes) > _SMALL:
            return None
        return _rational(in_symbols(self.value, known[0])[0])

    @cached_property
    def rate_expression(self) -> Expr | None:
        """V' in these symbols."""
        V = self.expression
        known = self.about.expressions
        if V is None or known is None:
            return None
        with optional_imports():
            import sympy
        d, rates = known
        F = [_rational(rate) for rate in rates]
        if self.about.discrete:
            found = V.subs(dict(zip(d, F, strict=True)), simultaneous=True) - V
        else:
            found = sum(sympy.diff(V, x) * f for x, f in zip(d, F, strict=True))
        if found.is_polynomial(*d):
            return sympy.expand(found)
        return sympy.simplify(found) if sympy.count_ops(found) <= _SMALL else None

    @cached_property
    def sign(self) -> PolynomialSign:
        """The definiteness of V, exact over all displacements, if its form shows it."""
        return self._sign(self.expression)

    @cached_property
    def sign_of_rate(self) -> PolynomialSign:
        return self._sign(self.rate_expression)

    def _sign(self, expression: Expr | None) -> PolynomialSign:
        known = self.about.expressions
        return UNDECIDED if expression is None or known is None else polynomial_sign(expression, known[0])


def candidate(about: ErrorDynamics, V: CandidateLike) -> LyapunovCandidate:
    """A candidate: a text of the state, `lambda x: x.speed**2 + ...`; of equations an expression in their symbols; or a
    symmetric matrix P (n, n), for V = d^T P d."""
    with optional_imports():
        import sympy
    if isinstance(V, (list, tuple, np.ndarray, sympy.MatrixBase)):
        P = np.array(V.tolist() if hasattr(V, "tolist") else V, dtype=float)
        n = about.size
        if P.shape != (n, n) or not np.isfinite(P).all() or not np.allclose(P, P.T, rtol=1e-12, atol=0.0):
            raise SignatureError(f"the matrix of V = d^T P d must be symmetric and ({n}, {n}), not {shown(V)}")
        return LyapunovCandidate(about, kernel(f"({n})->()", inputs=("d",), name="quadratic")(lambda d: d @ (P @ d)))
    if isinstance(V, sympy.Basic) and about.exact is None:
        raise SignatureError("an expression of symbols is a candidate for equations in symbols; of a system give a "
                             "function of its state")
    if not isinstance(V, sympy.Basic) and not callable(V):
        raise SignatureError(f"a candidate must be a function of the state, an expression or a matrix, not {shown(V)}")
    return LyapunovCandidate(about, about.function(V))


def _rational(expression: Expr) -> Expr:
    with optional_imports():
        import sympy
    return sympy.nsimplify(expression, rational=True) if expression.atoms(sympy.Float) else expression
