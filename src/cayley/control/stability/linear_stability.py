"""Stability by the linear model (Lyapunov's first method).

    all poles left of the imaginary axis       asymptotically stable, near the equilibrium; of a linear system, globally
    one of them right of it                    unstable
    none right, some on it                     of a linear system stable where these have no Jordan blocks, otherwise
                                               unstable; of any other system nothing follows
Where the dynamics have a kink at the equilibrium or jump there, as at the end of a range, nothing follows. Of steps the
unit circle takes the place of the axis. Poles count as left or right when the solution of Lyapunov's equation proves it
for every matrix as near to A as rounding. Whether poles lie on the axis is exact for the numbers of A as they stand.
Source: Yamamoto Appendix H, spec S3-49.

The characteristic polynomial p of A is one of rational numbers. Its roots on the imaginary axis are among those of
g = gcd(p, p(-s)), a polynomial in s^2 but for a power of s, where s^2 is real and not positive; Routh's scheme says
whether p / g has any beyond. The unit circle becomes the axis by s = (z - 1) / (z + 1), where z = -1 is counted apart.
Poles on the boundary have no Jordan blocks if f(A), f having each of them once, has a kernel as large as they are many.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import matrix_balance, solve_continuous_lyapunov, solve_discrete_lyapunov

from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.stability.error_dynamics import Dynamics, ErrorDynamics, Values, displaced
from cayley.control.stability.signs import definiteness
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.errors import SignatureError, SingularityError, UnsupportedError, shown
from cayley.extras import optional_imports
from cayley.showing import brief
from cayley.systems import StateLike

if TYPE_CHECKING:
    from sympy import Poly

_DIFFERENCES = 1e-13  # relative: rounding of derivatives that are computed
_KEPT = 1e-8  # of the largest derivative of the constraints


def linear_stability(dynamics: Dynamics | StateSpace | ArrayLike, at: StateLike | None = None, *,
                     inputs: Values = None, parameters: Values = None, discrete: bool = False) -> Verdict:
    """The verdict of the linear model at an equilibrium of a system, of a function or of equations, as `error_dynamics`
    takes them, or of a system with constraints; or of a matrix A (n, n) or a `StateSpace`, which are linear systems
    themselves.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> loop = cy.connect(arm, arm.control.pd_with_gravity(200.0, 40.0))
    >>> rest = {"q": [0.5, -0.3], "qd": [0.0, 0.0]}
    >>> print(linear_stability(loop, rest, inputs={"target": [0.5, -0.3]}))
    planar2r + pd with gravity: asymptotically stable locally, proved
      proved locally: all 4 poles have negative real parts; the slowest is -5.01847 1/s, and by Lyapunov's equation ...
    """
    if isinstance(dynamics, StateSpace):
        if dynamics.A.ndim != 2:
            raise SignatureError(f"a verdict is on one model, not on a batch {dynamics.A.shape[:-2]}")
        return of_matrix(square(dynamics.A, "A"), "the linear model", discrete=dynamics.dt is not None, linear=True)
    if isinstance(dynamics, (list, tuple, np.ndarray)):
        return of_matrix(square(dynamics, "A"), "the linear model", discrete=discrete, linear=True)
    about = displaced(dynamics, at, inputs=inputs, parameters=parameters,  # type: ignore[arg-type]
                      discrete=discrete)
    about.check_rest()
    return of_error_dynamics(about)


def of_error_dynamics(about: ErrorDynamics) -> Verdict:
    """The same of what is shifted already. With constraints it is that of the displacements which keep them."""
    if not about.is_smooth:
        kink = Finding("the dynamics have a linear model", "open", "they have a kink at the equilibrium, or jump "
                       "there: what the derivatives of one side say does not hold on the others")
        return Verdict(about.name, "undecided", "nothing", "locally", (kink,), np.array(np.linalg.eigvals(about.A)))
    if about.constraints is None:
        return of_matrix(about.A, about.name, discrete=about.discrete, linear=about.is_linear)
    G = about.constraints.jacobian("d")(np.zeros(about.size))
    if not np.abs(about.constraints(np.zeros(about.size))).max(initial=0.0) <= _KEPT * max(1.0, np.abs(G).max()):
        raise SignatureError(f"this state of {about.name} does not keep its constraints")
    free = null_basis(G, relative_rank(G))
    if not np.abs(G @ about.A @ free).max(initial=0.0) <= _KEPT * np.abs(G).max() * max(1.0, np.abs(about.A).max()):
        raise UnsupportedError(f"the derivative of {about.name} does not keep its constraints")
    if not free.shape[1]:
        raise SignatureError(f"the constraints of {about.name} leave nothing that could move")
    return of_matrix(free.T @ about.A @ free, about.name, discrete=about.discrete, linear=False)


def of_matrix(A: Array, name: str, *, discrete: bool, linear: bool) -> Verdict:
    poles = sorted(np.linalg.eigvals(A), key=lambda s: -abs(s) if discrete else -s.real)
    worst = poles[0]
    n = len(A)
    scope: Scope = "globally" if linear else "locally"
    good = "are inside the unit circle" if discrete else "have negative real parts"
    slowest = f"the slowest is {_written(worst)}" + ("" if discrete else " 1/s")
    # derivatives are differences of what may be as large as the largest of them
    unsure = None if linear else _DIFFERENCES * np.abs(A).max() * (A != 0)
    count = unstable_poles(A, discrete=discrete, unsure=unsure)
    if count.margin and not count.unstable:
        finding = Finding(f"all {n} poles {good}", "proved", f"{slowest}, and by Lyapunov's equation so it is for all "
                          f"matrices within {count.margin:.2g} of A, balanced", scope)
        return Verdict(name, "asymptotically stable", "proved", scope, (finding,), np.array(poles))
    beyond = _beyond(A, discrete, unsure)
    if beyond:
        bad = "outside the unit circle" if discrete else "beyond the imaginary axis"
        finding = Finding(f"{beyond} of {n} poles {'is' if beyond == 1 else 'are'} {bad}", "proved",
                          f"by the inertia of Lyapunov's equation; the worst is {_written(worst)}", scope)
        return Verdict(name, "unstable", "proved", scope, (finding,), np.array(poles))
    return _marginal(A, name, np.array(poles), discrete, linear)


def _beyond(A: Array, discrete: bool, unsure: Array | None) -> int:
    """The number of poles beyond the boundary, proved: counted from halfway between it and the worst."""
    poles = np.linalg.eigvals(A)
    worst = float(np.abs(poles).max() if discrete else poles.real.max())
    if worst <= (1.0 if discrete else 0.0):
        return 0
    for part in (0.5, 0.25, 0.75):
        moved = A / (1 + part * (worst - 1)) if discrete else A - part * worst * np.eye(len(A))
        count = unstable_poles(moved, discrete=discrete, unsure=unsure)
        if count.margin and count.unstable:
            return count.unstable
    return 0


def _marginal(A: Array, name: str, poles: Array, discrete: bool, linear: bool) -> Verdict:
    on = "on the unit circle" if discrete else "on the imaginary axis"
    exact = marginal_poles(A, discrete=discrete)
    if exact is None or exact.beyond or not exact.on:
        finding = Finding(f"no pole is {on}, or beyond", "open",
                          f"{_written(poles[0])} is as near as rounding, by which A itself may be wrong")
        return Verdict(name, "undecided", "nothing", "locally", (finding,), poles)
    scope: Scope = "globally" if linear else "locally"
    which = f"all {len(A)} poles are {on}" if exact.on == len(A) else (
        f"{exact.on} of {len(A)} poles {'is' if exact.on == 1 else 'are'} {on}, none beyond")
    there = Finding(which, "proved",
                    "by exact counting, for the numbers of A as they stand", scope)
    if not linear:
        silent = Finding("stability", "open", f"with poles {on} the linear model says nothing: higher orders decide; "
                         "try a Lyapunov function")
        return Verdict(name, "undecided", "nothing", "locally", (there, silent), poles)
    words = "have no Jordan blocks: what they carry stays bounded" if exact.semisimple else (
        "have Jordan blocks: what they carry grows as a power of time")
    blocks = Finding(f"the poles {on} {words}", "proved", "by exact ranks", scope)
    return Verdict(name, "stable" if exact.semisimple else "unstable", "proved", scope, (there, blocks), poles)


def _written(pole: complex) -> str:
    return f"{pole.real:.6g}" if pole.imag == 0 else f"{pole.real:.6g} +- {abs(pole.imag):.6g}i"


_LARGEST = 24  # rows: beyond, the numbers of the polynomial become long


class MarginalPoles(NamedTuple):
    """The number of poles on the boundary, whether any is beyond it, and whether those on it have no Jordan blocks."""

    on: int
    beyond: bool
    semisimple: bool


def marginal_poles(A: Array, *, discrete: bool = False) -> MarginalPoles | None:
    """The exact count of the poles on and beyond the margin of stability, or None for matrices that are too large.

    >>> import numpy as np
    >>> marginal_poles(np.array([[0.0, 1.0], [-9.81, 0.0]]))
    MarginalPoles(on=2, beyond=False, semisimple=True)
    >>> marginal_poles(np.array([[0.0, 1.0], [0.0, 0.0]]))
    MarginalPoles(on=2, beyond=False, semisimple=False)
    """
    if len(A) > _LARGEST:
        return None
    with optional_imports():
        import sympy
        from sympy.polys.matrices import DomainMatrix
    s = sympy.Symbol("s")
    entries = [[sympy.Rational(*Fraction(float(x)).as_integer_ratio()) for x in row] for row in A]
    M = DomainMatrix.from_list_sympy(len(A), len(A), entries).convert_to(sympy.QQ)
    p = sympy.Poly(M.charpoly(), s, domain="QQ")
    half_turn = sympy.Poly(s + 1, s, domain="QQ")
    opposite = 0
    while discrete and p.rem(half_turn).is_zero:
        p = p.quo(half_turn)
        opposite += 1
    p = _mapped(p, s + 1, 1 - s) if discrete else p
    shared = p.gcd(_mapped(p, -s, 1))
    once = shared.quo(shared.gcd(shared.diff(s))) if shared.degree() > 0 else sympy.Poly(1, s, domain="QQ")
    rest = p.quo(shared)
    beyond = not _all_on_axis(once) or not _is_hurwitz(rest)
    on = shared.degree() + opposite
    boundary = _mapped(once, s - 1, s + 1) * (half_turn if opposite else 1) if discrete else once
    return MarginalPoles(on, beyond, not on or _kernel(M, boundary) == on)


def _mapped(p: Poly, above: Any, below: Any) -> Poly:  # noqa: ANN401 (of SymPy)
    """p(above / below), times the power of `below` that makes it a polynomial."""
    with optional_imports():
        import sympy
    coefficients = p.all_coeffs()[::-1]
    n = len(coefficients) - 1
    return sympy.Poly(sympy.expand(sum(c * above**k * below**(n - k) for k, c in enumerate(coefficients))), p.gen,
                      domain="QQ")


def _all_on_axis(once: Poly) -> bool:
    """True for a polynomial whose roots come as s and -s and lie on the axis, each once: in w = -s^2 they are real and
    not negative."""
    with optional_imports():
        import sympy
    powers = once.all_coeffs()[::-1]
    even = powers[1:] if powers[0] == 0 else powers  # without the root at the origin
    if len(even) == 1:
        return True
    w = sympy.Poly([c * (-1) ** k for k, c in enumerate(even[::2])][::-1], once.gen, domain="QQ")
    return bool(w.count_roots(0, None) == w.degree())


def _is_hurwitz(p: Poly) -> bool:
    """True if all roots have negative real parts: Routh's first column has one sign."""
    coefficients = [Fraction(int(c.p), int(c.q)) for c in p.all_coeffs()]
    upper = coefficients[::2]
    lower = coefficients[1::2]
    sign = upper[0]
    while lower:
        if lower[0] * sign <= 0:
            return False
        ratio = upper[0] / lower[0]
        after = [a - ratio * b for a, b in zip(upper[1:], lower[1:] + [Fraction(0)] * len(upper), strict=False)]
        upper = lower
        lower = after
    return True


def _kernel(M: Any, f: Poly) -> int:  # noqa: ANN401 (of SymPy)
    """The dimension of the kernel of f(M)."""
    with optional_imports():
        import sympy
    one = type(M).eye(M.shape[0], sympy.QQ)
    value = one * sympy.QQ(0)
    for c in f.all_coeffs():
        value = value * M + one * sympy.QQ(int(c.p), int(c.q))
    return int(M.shape[0] - value.rank())


_ROUNDING = 64 * np.finfo(float).eps  # of A, relative, by an entry


class PoleCount(NamedTuple):
    """The number of poles on the wrong side, and how far A may be changed, in the norm; zero if that is not known."""

    unstable: int
    margin: float


def lyapunov_matrix(A: ArrayLike, Q: ArrayLike | None = None, *, discrete: bool = False) -> Array:
    """P (n, n) of A^T P + P A = -Q, or with `discrete` of A^T P A - P = -Q; Q is the identity if it is not given.

    `SingularityError` names the pole of an A that is not stable: its P, if there is one, is not positive definite.

    >>> lyapunov_matrix([[0.0, 1.0], [-2.0, -3.0]]).round(6)
    array([[1.25, 0.25],
           [0.25, 0.25]])
    """
    given = square(A, "A")
    weight = np.eye(len(given)) if Q is None else square(Q, "Q", len(given))
    if not definiteness(weight).is_semidefinite:
        raise SignatureError(f"Q must be symmetric and not negative in any direction: {shown(weight.tolist())}")
    poles = np.linalg.eigvals(given)
    outside = np.abs(poles) >= 1 if discrete else poles.real >= 0
    count = unstable_poles(given, discrete=discrete)
    if outside.any() or count.unstable or not count.margin:
        worst = poles[np.argmax(np.abs(poles) if discrete else poles.real)]
        where = "not inside the unit circle" if discrete else "without a negative real part"
        raise SingularityError(f"A is not stable: it has the pole {_number(worst)}, {where}; no positive definite P "
                               "solves the equation")
    solved = solve_discrete_lyapunov(given.T, weight) if discrete else solve_continuous_lyapunov(given.T, -weight)
    return np.asarray((solved + solved.T) / 2)


def unstable_poles(A: Array, *, discrete: bool = False, unsure: Array | None = None) -> PoleCount:
    """The number of poles of A with positive real parts, or outside the unit circle, with a margin that proves it, of A
    whose entries may be wrong by as much as `unsure` (n, n); if that is not given, by rounding of each. P has as many
    negative eigenvalues where A^T P + P A is negative definite (Ostrowski and Schneider; of steps, Stein)."""
    n = len(A)
    balanced, scales = matrix_balance(A, separate=True, permute=False)
    weights = scales[0]
    doubt = 0.0 if unsure is None else float(np.linalg.norm(unsure / weights[:, None] * weights, 2))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of poles that are nearly opposite: it is seen below
            P = np.asarray(solve_discrete_lyapunov(balanced.T, np.eye(n)) if discrete else
                           solve_continuous_lyapunov(balanced.T, -np.eye(n)))
    except (np.linalg.LinAlgError, ValueError):
        return PoleCount(0, 0.0)
    if not np.isfinite(P).all():
        return PoleCount(0, 0.0)
    P = (P + P.T) / 2
    rate = balanced.T @ P @ balanced - P if discrete else balanced.T @ P + P @ balanced
    size = float(np.linalg.norm(P, 2))
    length = float(np.linalg.norm(balanced, 2))
    # of sums of n products
    noise = n * _ROUNDING * size * (length**2 + 1 if discrete else length)
    left = -float(np.linalg.eigvalsh((rate + rate.T) / 2)[-1]) - noise
    values = np.linalg.eigvalsh(P)
    if left <= 0 or not (np.abs(values) > n * _ROUNDING * size).all():
        return PoleCount(0, 0.0)
    # a change of A by r changes the rate by 2 r |P|, of steps by (2 |A| r + r^2) |P|
    margin = left / (2 * size) if not discrete else float(np.sqrt(length**2 + left / size)) - length
    enough = margin > max(_ROUNDING * length, doubt)
    return PoleCount(int((values < 0).sum()), margin if enough else 0.0)


def square(matrix: ArrayLike, name: str, size: int | None = None) -> Array:
    """Finite numbers (n, n)."""
    given = np.asarray(matrix)
    given = given.astype(float) if given.dtype.kind in "iufbO" else given
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not len(given) or given.dtype.kind != "f" or (
            not np.isfinite(given).all()) or (size is not None and len(given) != size):
        wanted = f"({size}, {size})" if size is not None else "(n, n)"
        raise SignatureError(f"{name} must be a matrix of finite numbers {wanted}, not {shown(matrix)}")
    return given


def _number(pole: complex) -> str:
    return f"{pole.real:.6g}" if abs(pole.imag) == 0 else f"{pole:.6g}"


Nature: TypeAlias = Literal["asymptotically stable", "stable", "unstable", "undecided"]
Outcome: TypeAlias = Literal["proved", "sampled", "refuted", "open"]
Scope: TypeAlias = Literal["globally", "in the region", "locally"]


@dataclass(frozen=True, eq=False)
class Finding:
    """One claim: whether it was `proved`, holds for all that was `sampled`, is `refuted`, or remains `open`, and how
    that is known. What was sampled has a number of samples; what is refuted has, if possible, a state that does so."""

    claim: str
    outcome: Outcome
    how: str
    scope: Scope = "locally"
    samples: int = 0
    counterexample: Mapping[str, Array] | None = None

    __repr__ = brief

    def __str__(self) -> str:
        return f"{self.outcome} {self.scope}: {self.claim}; {self.how}"


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict on an equilibrium; `print` it. `basis` says whether the word itself is proved.

    stable                  what starts near enough to the equilibrium stays near it
    asymptotically stable   it is stable, and what starts near enough comes back to it; globally: whatever starts
    unstable                something that starts as near as you like goes away
    undecided               none of these was shown"""

    name: str
    nature: Nature
    basis: Literal["proved", "sampled", "nothing"]
    scope: Scope
    findings: tuple[Finding, ...]
    poles: Array | None = None
    """Of the linear model [1/s; of discrete dynamics, factors of a step]."""
    region: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """In which displacements were sampled, by their labels."""
    suggested: tuple[Nature, Scope] | None = None
    """Nature and scope that samples suggest beyond the proof."""

    __repr__ = brief

    @property
    def is_stable(self) -> bool | None:
        """None if stability is undecided."""
        return None if self.nature == "undecided" else self.nature != "unstable"

    @property
    def proved(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome == "proved")

    @property
    def sampled(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome == "sampled")

    @property
    def counterexamples(self) -> tuple[Mapping[str, Array], ...]:
        """States at which a claim fails."""
        return tuple(f.counterexample for f in self.findings if f.outcome == "refuted" and f.counterexample is not None)

    @property
    def sentence(self) -> str:
        """The verdict in a line."""
        if self.nature == "undecided":
            return f"{self.name}: undecided"
        known = "proved" if self.basis == "proved" else "only sampled"
        more = f"; {' '.join(self.suggested)}, only sampled" if self.suggested else ""
        return f"{self.name}: {self.nature} {'' if self.nature == 'unstable' else self.scope}".rstrip() + (
            f", {known}{more}")

    def __str__(self) -> str:
        return "\n".join([self.sentence, *[f"  {finding}" for finding in self.findings]])
