"""Check that accelerations follow from forces, and name the cause where they do not: the inertia matrix must be
positive definite, and not by rounding alone.

Eliminated from the tips inwards, the matrix has one pivot for each velocity: the inertia that it feels when all that it
carries gives way. Every pivot must be positive (`compiler.solving.definite`). Most mechanisms are regular everywhere
(`cayley.dynamics.inertia_matrix.always_regular`); only the others pay for a test at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept, kept_with_owner
from cayley.compiler.solving.definite import are_definite, is_definite, is_definite_by_pivots, only_where
from cayley.compiler.solving.linear import ldl
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.forward.articulated_bodies import forward_dynamics, joint_inertias
from cayley.dynamics.forward.methods import default_method
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import diagonal, inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SingularityError, UnsupportedError
from cayley.geometry.batch import first_failure, place
from cayley.kinematics.frame_kernels import sized, sized_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree
from cayley.showing import brief

_ROUNDING = 1e-12  # of the largest of an eigenvector or of a body's moments
_NEARLY = "the inertia matrix is singular to rounding"
_PART = 0.1  # of the largest: a joint whose part in a motion is less does not name it


@dataclass(frozen=True, eq=False)
class InertiaRegularity:
    """The configurations that have accelerations, and why the others have none."""

    regular: Array
    """(...) of truth values: where False, `forward_dynamics` and all that needs the inverse of the inertia matrix is
    NaN."""
    reasons: Array
    """(...) of sentences, empty where regular."""

    __repr__ = brief


def inertia_regularity(tree: Tree, q: ArrayLike) -> InertiaRegularity:
    """Tell if the inertia matrix is positive definite, beyond rounding, at configurations (..., nq), and why not.

    >>> from cayley.model.joint_kinds import Revolute
    >>> from cayley.model.parts import Body, Joint
    >>> bare = Tree.of("bare", [Body("base"), Body("a", 1.0, (0.5, 0, 0)), Body("b", 0.0)],
    ...                [Joint("one", "base", "a", Revolute()), Joint("two", "a", "b", Revolute())])
    >>> print(inertia_regularity(bare, [0.0, 0.0]).reasons)
    the inertia matrix of bare is singular: a motion of joint 'two' moves no mass; give its link mass and inertia, ...
    """
    q = np.asarray(q, dtype=float)
    if tree.is_constrained:
        return _of_constrained(tree, q)
    return _with_reasons(q, np.asarray(regularity_kernel(tree)(q) == 1), lambda at: why_singular(tree, at))


def _with_reasons(q: Array, regular: Array, why: Callable[[Array], str | None]) -> InertiaRegularity:
    reasons = np.full(regular.shape, "", dtype=object)
    for state in map(tuple, np.argwhere(~regular)):
        finite = np.isfinite(q[state]).all()
        reasons[state] = why(q[state]) or _NEARLY if finite else "the configuration is not finite"
    return InertiaRegularity(regular, reasons)


def _of_constrained(tree: Tree, q: Array) -> InertiaRegularity:
    """Under constraints: where what unit forces add to the accelerations is known, and why not elsewhere."""
    from cayley.dynamics.forward.constrained import compliance_kernel, explanation_of_constraints
    from cayley.kinematics.constraints.structure import constraint_structure
    if tree.is_timed:
        raise UnsupportedError(
            f"a constraint of {tree.name} depends on time: ask `inverse_inertia_matrix(q, t)`, NaN where singular")
    explain = explanation_of_constraints(tree, constraint_structure(tree))
    regular = np.asarray(np.isfinite(kept(tree, "compliance", lambda: compliance_kernel(tree)).unchecked(q)).all(
        axis=(-2, -1)))

    def why(at: Array) -> str | None:
        try:
            explain(at)
        except SingularityError as error:
            return str(error)
        return None

    return _with_reasons(q, regular, why)


@kept_with_owner
def regularity_kernel(tree: Tree) -> Kernel:
    """`regularity(q)`: 1 where the inertia matrix is regular, 0 where it is not."""
    is_regular: Text = (lambda q: q.sum() == q.sum()) if always_regular(tree) else regular_text(tree)
    return sized_kernel(tree, "(q)->()", lambda q: where(is_regular(q), 1.0, 0.0) + 0.0, "inertia_regularity")


def explanation(tree: Tree) -> Callable[..., None] | None:
    """A function that raises `SingularityError` with the reason, called with the arguments (q first) of a function that
    had no answer; none of a mechanism that is regular everywhere."""
    if always_regular(tree):
        return None

    def explain(q: Array, *others: Array) -> None:
        reason = why_singular(tree, q)
        if reason is None and q.dtype == np.float32 and regularity_kernel(tree)(q) != 1:
            reason = f"the inertia matrix of {tree.name} is singular to the rounding of float32: compute in float64"
        if reason is not None:
            raise SingularityError(reason)

    return explain


def why_singular(tree: Tree, q: ArrayLike) -> str | None:
    """The reason why the inertia matrix at `q` (nq) cannot be inverted, with what is to blame; None if it can."""
    q = np.asarray(q, dtype=float)
    if always_regular(tree) and np.isfinite(q).all():
        return None
    return _why_not_definite(tree, inertia_matrix(links_of(tree), q) + np.diag(rotor_inertias(tree)))


def check_definite(tree: Tree, M: Array) -> None:
    """Raise `SingularityError` for the first of the inertia matrices (..., nv, nv) that is not positive definite; NaN
    is none to judge."""
    bad = first_failure(are_definite(M) | ~np.isfinite(M).all(axis=(-2, -1)))
    if bad is not None:
        raise SingularityError(f"{_why_not_definite(tree, M[bad])}{f' (state{place(bad)})' if bad else ''}")


def _why_not_definite(tree: Tree, M: Array) -> str | None:
    """Rows and columns are scaled to a diagonal of ones, so that masses of very different sizes are no reason."""
    if not np.isfinite(M).all():
        return f"the inertia matrix of {tree.name} is not finite"
    if are_definite(M):
        return None
    own = M.diagonal()
    scale = 1 / np.sqrt(np.where(np.abs(own) > _ROUNDING**2 * np.abs(own).max(), np.abs(own), 1.0))
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    negative = _negative_bodies(tree)
    if values[0] < -_ROUNDING and negative:
        return (
            f"the inertia matrix of {tree.name} is not positive definite: {', '.join(negative)}; no body has a "
            "negative moment of inertia: correct it")
    idle = np.abs(vectors[:, values <= max(_ROUNDING, values[0])])
    parts = idle.max(axis=1) >= _PART * idle.max()
    names = [joint.name for joint, own in zip(tree.joints, tree.v_slices, strict=True) if parts[own].any()]
    one = f"joint {names[0]!r}" if len(names) == 1 else f"the joints {', '.join(map(repr, names))}"
    return f"the inertia matrix of {tree.name} is singular: a motion of {one} moves no mass; {_remedy(tree, names)}"


def _remedy(tree: Tree, idle: list[str]) -> str:
    driven = {tree.joint_names[motor]: tree.joint_names[joint] for joint, motor in tree.motors.items()}
    if not driven.keys() >= set(idle):
        return "give its link mass and inertia, include rotors, or fix the joint"
    return (f"give its rotor an inertia, `with_drive({driven[idle[0]]!r}, inertia=..., ...)`, or leave out its spring, "
            "which makes the drive rigid")


def _negative_bodies(tree: Tree) -> list[str]:
    """Bodies that no motion should gain energy from, and one does."""
    found = []
    for body in tree.bodies[1:]:
        moments = np.linalg.eigvalsh(body.inertia)
        if moments[0] < -_ROUNDING * np.abs(moments).max():
            found.append(f"body {body.name!r} has the principal moments {np.array2string(moments, precision=6)}")
    return found


def guarded(tree: Tree, compute: Callable[..., Any], shapes: Sequence[tuple[int, ...]]) -> Callable[..., Any]:
    """A text `(q, ...)` of results of the given shapes, all of them NaN where the inertia matrix of the mechanism is
    singular.

    Of a mechanism that is regular everywhere it is the text itself, and costs no more."""
    if always_regular(tree):
        return compute
    is_regular = regular_text(tree)

    def text(q: Array, *others: Array) -> Scalar:
        regular = is_regular(q)
        try:
            found = compute(q, *others)
        except SingularityError:  # at all configurations, as a method saw by itself
            return np.full(shapes[0], np.nan) if len(shapes) == 1 else tuple(np.full(shape, np.nan) for shape in shapes)
        return only_where(regular, found) if len(shapes) == 1 else tuple(only_where(regular, value) for value in found)

    text.__doc__ = compute.__doc__
    text.__module__ = compute.__module__
    return text


def regular_text(tree: Tree) -> Callable[[Any], Any]:
    """The text `(q) -> truth value`, in the terms of the default method of forward dynamics, which has most of them
    already."""
    links = minimal_links(tree)
    rotors = rotor_inertias(tree)
    return partial(_short_is_regular if default_method(tree) == "composite-bodies" else _deep_is_regular, links, rotors)


def _short_is_regular(links: Links, rotors: Array, q: Array) -> Scalar:
    return is_definite((inertia_matrix(links, q) + np.diag(rotors))[::-1, ::-1])


def _deep_is_regular(links: Links, rotors: Array, q: Array) -> Array:
    pivots = [pivot for D in joint_inertias(links, q, rotors=rotors) for pivot in ldl(D[::-1, ::-1])[1]]
    at_rest = partial(forward_dynamics, replace(links, gravity=np.zeros(3)), q, np.zeros(links.nv), rotors=rotors)
    return is_definite_by_pivots(pivots, diagonal(links, q) + rotors, at_rest)


@of_a_mechanism
def inverse_inertia_matrix_kernel(tree: Tree) -> MechanismKernel:
    """`inverse_inertia_matrix(q)` (..., nv, nv)."""
    if tree.is_constrained:
        from cayley.dynamics.forward.constrained import compliance_kernel  # which few mechanisms need
        return compliance_kernel(tree)
    links = minimal_links(tree)
    rotors = np.diag(rotor_inertias(tree))

    def inverse_inertia_matrix(q: Array) -> Array:
        return solve(inertia_matrix(links, q) + rotors, np.eye(tree.nv))

    described(tree, inverse_inertia_matrix, "The inverse of the mass matrix (inertia matrix) M(q).")
    made = kernel(sized(tree, "(q)->(v,v)"), name="inverse_inertia_matrix", inputs=("q",), units=units_of(tree),
                  kind=MechanismKernel, explain=explanation(tree))(
                      guarded(tree, inverse_inertia_matrix, [(tree.nv, tree.nv)]))
    return cast(MechanismKernel, made)
