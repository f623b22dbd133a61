"""States that the constraints of a mechanism allow, and what says of others which constraint they violate, and by how
much."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular, pseudo_inverse, rank_of
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, GeometryError, SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import (
    constraint_jacobian,
    length_unit,
    lengths,
    lost_directions,
    rates_kernel,
    residual_kernel,
    row_names,
    row_sizes,
    scaled,
    scaled_opening,
)
from cayley.kinematics.constraints.structure import constraint_structure, generic_configurations
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree

ALONE = 1e-3  # in the size of the machine, and radians: what kernels allow a single state, so that quotients pass


def consistent_velocity(tree: Tree, q: ArrayLike, qd: ArrayLike, t: float | None = None, *,
                        keep: Sequence[str] = ()) -> Array:
    """The velocities (..., nv) that the constraints allow at closed configurations `q` (..., nq), and that differ least
    from `qd` (..., nv); at the time `t` if a constraint depends on it. The joints named in `keep` have their velocities
    exactly as given, and the others follow.

    >>> from cayley.model.catalogue import load_robot
    >>> consistent_velocity(load_robot("four_bar"), [0.0, 0.0, 0.0], [2.0, 0.0, 0.0], keep=["crank"]).round(6)
    array([ 2.  , -2.  ,  1.25])
    """
    at, wanted = _state(tree, q, qd)
    held = ~Inputs.of(tree, keep).following
    time = _time(tree, t)
    A = constraint_jacobian(tree, at, *time)
    _check_directions(tree, at, A)
    units = np.array(constraint_structure(tree).lengths)
    sizes = np.array(constraint_structure(tree).sizes)
    follows = np.where(held, 0.0, A) * units / sizes[:, None]
    change = pseudo_inverse(follows) @ (_rates(tree, at, wanted, time) / sizes)[..., None]
    found = wanted - units * change[..., 0]
    bad = first_failure(_small(np.abs(_rates(tree, at, found, time)) / sizes, found / units, tolerance_of(found)))
    if bad is not None:
        usual = max(int(rank_of(scaled(tree, each.A)[:, ~held], least_singular(tree.nv)))
                    for each in generic_configurations(tree))
        if rank_of(follows[bad], least_singular(tree.nv)) < usual:
            raise SingularityError(
                f"the others do not follow from the velocities of {', '.join(keep)} at this configuration of "
                f"{tree.name}{place(bad)} (a dead centre): keep other joints")
        raise ConventionError(f"the constraints of {tree.name} do not allow the velocities of {', '.join(keep)} "
                              f"together, as they are given{place(bad)}: keep fewer")
    return found


def _check_directions(tree: Tree, q: Array, A: Array) -> None:
    """Refuse configurations (..., nq) at which the Jacobian (..., h, nv) of a constraint is not a number."""
    bad = first_failure(np.isfinite(A).all(axis=(-2, -1)) | ~np.isfinite(q).all(axis=-1))
    if bad is not None:
        reason = lost_directions(tree, q[bad]) or f"a constraint of {tree.name} has no directions at this configuration"
        raise SingularityError(f"{reason}{place(bad)}")


def is_closed_alone(tree: Tree) -> Callable[..., Scalar]:
    """The condition on q and others, the time last if a constraint depends on it, that the constraints on positions are
    kept as well as by difference quotients; the same on symbols and numbers. Velocities are not asked: their quotients
    have steps of any size, and what they open is not hidden in the answer."""
    def closed(q: Array, *others: Scalar) -> Scalar:
        left = kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *_time_among(tree, others))
        return np.all(np.abs(left) <= ALONE * row_sizes(tree))

    return closed


def check_closed_alone(tree: Tree, q: ArrayLike, *others: Array) -> None:
    """Refuse a state at which `is_closed_alone` does not hold, by the name of the constraint."""
    if np.isfinite(q).all():
        _check_closed(tree, np.asarray(q, dtype=float), _time_among(tree, others), ALONE)


def _time_among(tree: Tree, others: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    return others[-1:] if tree.is_timed else ()


def _check_closed(tree: Tree, q: Array, time: tuple[Scalar, ...], tolerance: float) -> None:
    left = scaled_opening(tree, q, *time)
    bad = first_failure(left.max(-1, initial=0.0) <= tolerance)
    if bad is not None:
        raise GeometryError(f"{_worst(tree, left[bad], 'is open by')}{_where(bad)}: take a closed configuration, as "
                            "`close(q)` gives it")


def check_closed_state(tree: Tree, q: ArrayLike, qd: ArrayLike, t: float, tolerance: float | None = None) -> None:
    """Refuse states, q (..., nq) and qd (..., nv), at which a constraint is open at the time `t`, or which would open
    one, by its name."""
    if not tree.is_constrained:
        return
    at, velocity = _state(tree, q, qd)
    tolerance = max(tolerance_of(q, tolerance), tolerance_of(qd, tolerance))
    time = (t,) if tree.is_timed else ()
    _check_closed(tree, at, time, tolerance)
    rates = np.abs(_rates(tree, at, velocity, time)) / row_sizes(tree)
    _check_directions(tree, at, rates[..., None, :])
    bad = first_failure(_small(rates, velocity / lengths(tree, length_unit(tree)), tolerance))
    if bad is not None:
        raise GeometryError(f"{_worst(tree, rates[bad], 'opens at the rate of', '/s')}{_where(bad)}: give "
                            f"{tree.name} a velocity that its constraints allow, as `consistent_velocity(q, qd)` does")


def _rates(tree: Tree, q: Array, qd: Array, time: tuple[float, ...]) -> Array:
    return np.asarray(kept(tree, "constraint rates", lambda: rates_kernel(tree))(q, qd, *time))


def _time(tree: Tree, t: float | None) -> tuple[float, ...]:
    if (t is None) == tree.is_timed:
        raise ConventionError(f"a constraint of {tree.name} depends on time: say the time t" if tree.is_timed else
                              f"no constraint of {tree.name} depends on the time t = {t}")
    return () if t is None else (t,)


def _small(rates: Array, qd: Array, tolerance: float) -> Array:
    return np.asarray(rates.max(-1, initial=0.0) <= tolerance * (1.0 + np.abs(qd).max(-1, initial=0.0)))


def _worst(tree: Tree, values: Array, what: str, per: str = "") -> str:
    k = int(np.argmax(values))
    row = row_names(tree)[k]
    unit = _row_units(tree)[k]
    return (f"the constraint {row.constraint!r} of {tree.name} {what} {values[k] * row_sizes(tree)[k]:.3g}"
            f"{f' {unit}{per}' if unit else ''} ({row.holds})")


def _row_units(tree: Tree) -> list[str]:
    """The units of all rows; those on coordinates alone have the unit of the first that they name."""
    labels = [unit for joint in tree.joints for unit in joint.motion.velocity_units]
    return [unit or (labels[tree.coordinate(each.coordinates[0]).qd] if each.coordinates else "")
            for each in constraints_of(tree) for unit in each.row_units]


def _where(bad: tuple[int, ...]) -> str:
    return f" (state{place(bad)})" if bad else ""


def _state(tree: Tree, q: ArrayLike, qd: ArrayLike) -> tuple[Array, Array]:
    at = np.asarray(q, dtype=float)
    velocity = np.asarray(qd, dtype=float)
    if at.shape[-1:] != (tree.nq,) or velocity.shape[-1:] != (tree.nv,):
        raise SignatureError(f"a state of {tree.name} must be q (..., {tree.nq}) and qd (..., {tree.nv}), not "
                             f"{at.shape} and {velocity.shape}")
    batch = np.broadcast_shapes(at.shape[:-1], velocity.shape[:-1])
    return np.broadcast_to(at, (*batch, tree.nq)), np.broadcast_to(velocity, (*batch, tree.nv))
