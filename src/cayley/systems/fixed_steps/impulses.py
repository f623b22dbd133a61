"""Contacts, dry friction and stops in steps of semi-implicit Euler, by impulses at velocities that need each other.

    v' = v + h a + M^-1 R^T r      a without contacts and dry friction, R the rows of contacts, joints and stops
    contact    n.v' >= -gap / h, r in the cone of friction, and r against the sliding velocity at its rim
    friction   |r_k| <= h friction_k: as large as it must be to stop joint k, or else against its motion
    stop       pushes if the joint would pass it in the step

Positions move with v': a contact at rest does not creep, and what would pass the ground ends on it. Where the speed of
approach is more than what forces gain in a step, the normal velocity afterwards is -e times as large (restitution).
Overlaps are taken back a fifth in each step, at `_SEPARATION` at most. A compliance C [m/N] lets a contact give way by
C times its force, as a spring that is integrated implicitly. Order 1. Sources: Moreau 1988; Stewart & Trinkle 1996;
`compiler.solving.contact_impulses`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector
from cayley.compiler.solving.contact_impulses import contact_impulses
from cayley.compiler.solving.contact_law import ContactRows
from cayley.compiler.solving.contact_sweeps import swept_impulses
from cayley.compiler.solving.linear import is_zero, ldl, solve_lower, solve_lower_transposed
from cayley.compiler.tracing.symbols import where, wrapped
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ConventionError
from cayley.systems.fixed_steps.protocol import Flow, Point, Stage
from cayley.systems.fixed_steps.runge_kutta import euler_stage
from cayley.systems.friction_and_stops import REST_SPEED, FrictionAndStops
from cayley.systems.layout import Record, State

_TAKEN_BACK = 0.2  # of an overlap, in a step
_SEPARATION = 0.1  # m/s
_HELD = 1e-12  # of the largest response of a contact: its normal does not move
_ANY = 1e30  # N s, N m s: an impulse without a bound


def impulse_step(sweeps: int | None = None) -> Callable[[Stage, Point, Array], tuple[Point, Array]]:
    """A step in which impulses hold what touches, sticks or stops: to rounding, or by so many sweeps at most."""
    if sweeps is not None and (not isinstance(sweeps, int) or sweeps < 1):
        raise ConventionError(f"iterations are the sweeps over contacts and friction in a step, at least one, not "
                              f"{sweeps!r}; leave them out to solve to rounding")
    return partial(_stage, sweeps)


def _stage(sweeps: int | None, stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    flow, h, _ = stage

    def pushed(x: State, u: Record, slopes: dict[str, Array], others: dict[str, Array]) -> tuple[Scalar, Scalar]:
        work: Scalar = 0.0
        defect = point.defect
        for part in flow.system.holds:
            made = _impulses(part, flow, h, x, u, as_vector(slopes[part.velocity]), sweeps)
            others[part.velocity] = made.after.reshape(np.shape(x[part.velocity]))
            work = work + made.work
            defect = np.maximum(defect, made.residual)
            if part.contacts is not None:
                count = len(part.contacts.names)
                others[part.contacts.forces] = (made.r[:3 * count] / h).reshape(count, 3)
        return work, defect

    return euler_stage(stage, point, carried, pushed)


class _Impulses(NamedTuple):
    """The impulses (m) of the rows, the velocity after the step (n), the work [J], and the residual of the law."""

    r: Array
    after: Array
    work: Scalar
    residual: Scalar


class _Response(NamedTuple):
    """The velocities (m) of rows before a step and after it without impulses, what impulses do to them (m, m), and the
    velocity (n) after the step as a function of the impulses."""

    before: Array
    free: Array
    W: Array
    after: Callable[[Array], Array]


def _impulses(part: FrictionAndStops, flow: Flow, h: Scalar, x: State, u: Record, a: Array,
              sweeps: int | None) -> _Impulses:
    stopped = {stop.column for stop in part.stops}
    columns = [k for k in range(len(part.names)) if part.friction[k] > 0 or k in stopped]
    own = np.eye(len(part.names))[columns]
    if part.contacts is None:
        gaps, R, friction, start = np.zeros(0), own, np.zeros(0), np.zeros(len(columns))
    else:
        gaps, rows = part.contacts.points(flow.t, x, u, flow.p)
        R = wrapped(np.concatenate([np.concatenate(list(rows)), own]))
        friction = part.contacts.friction(flow.t, x, u, flow.p)
        start = np.concatenate([h * as_vector(x[part.contacts.forces]), np.zeros(len(columns))])
    response = (_of_tree if part.yielding is None else _within)(part, flow, h, x, u, a, R)
    gained = response.free - response.before
    wanted, soft = _contact_targets(part, h, gaps, response.free, gained)
    lower, upper, of_joints = _joint_bounds(part, h, x, columns, response.free[3 * len(gaps):],
                                            gained[3 * len(gaps):])
    softness = np.concatenate([soft, np.zeros(len(columns))])
    W = response.W if all(is_zero(x) for x in softness) else response.W + np.diag(softness)
    wanted = np.concatenate([wanted, of_joints])
    free = _where_it_moves(W, response.free - wanted, len(gaps))
    problem = ContactRows(W, free, friction, lower, upper)
    found = contact_impulses(problem, start) if sweeps is None else swept_impulses(problem, start, sweeps)
    after = found.v + wanted - softness * found.r
    return _Impulses(found.r, response.after(found.r), found.r @ (response.before + after) / 2,
                     where(found.residual <= found.tolerance, 0.0, found.residual))


def _where_it_moves(W: Array, free: Array, count: int) -> Array:
    """The free velocities, zero along the normals of contacts that nothing moves along them: such contacts have no
    forces, as those of a planar mechanism on the ground beside it."""
    found = list(free)
    for n in range(2, 3 * count, 3):
        largest = reduce(np.maximum, [W[k][k] for k in range(n - 2, n + 1)])
        found[n] = where(W[n][n] > _HELD * largest, found[n], 0.0)
    return np.stack(found) if found else free


def _of_tree(part: FrictionAndStops, flow: Flow, h: Scalar, x: State, u: Record, a: Array, R: Array) -> _Response:
    """The response of velocities without constraints, from one factorisation of the mass matrix."""
    v = as_vector(x[part.velocity])
    turned = v + h * _turning(part, flow, x)
    M, forces = part.balance(flow.t, x, u, flow.p)
    L, pivots = ldl(M[::-1, ::-1])
    rows = wrapped(np.stack(solve_lower(L, R.T[::-1])))
    pushed = wrapped(np.stack(solve_lower(L, h * forces[::-1])))
    inverse = 1.0 / np.stack(pivots)
    weighted = rows * inverse[:, None]

    def after(r: Array) -> Array:
        gained = np.stack(solve_lower(L, (h * forces + r @ R)[::-1]))
        return turned + np.stack(solve_lower_transposed(L, inverse * gained))[::-1]

    return _Response(R @ v, R @ turned + weighted.T @ pushed, _symmetric(weighted, rows), after)


def _within(part: FrictionAndStops, flow: Flow, h: Scalar, x: State, u: Record, a: Array, R: Array) -> _Response:
    """The response of velocities that constraints tie together."""
    v = as_vector(x[part.velocity])
    M, _ = part.balance(flow.t, x, u, flow.p)
    moved = wrapped(np.stack([part.accelerations(flow.t, x, u, flow.p, row) for row in R]))
    without = h * part.accelerations(flow.t, x, u, flow.p, M @ a)  # without what turns it with the constraints
    turned = v + h * _turning(part, flow, x)
    return _Response(R @ v, R @ (turned + without), _symmetric(R.T, moved.T), lambda r: turned + h * a + r @ moved)


def _turning(part: FrictionAndStops, flow: Flow, x: State) -> Array | float:
    found = flow.layout.turnings(x).get(part.velocity)
    return 0.0 if found is None else as_vector(found)


def _symmetric(left: Array, right: Array) -> Array:
    """left^T right (m, m), of which half is computed."""
    m = left.shape[1]
    lower = [[left[:, i] @ right[:, j] for j in range(i + 1)] for i in range(m)]
    return wrapped(np.array([[lower[max(i, j)][min(i, j)] for j in range(m)] for i in range(m)], dtype=object))


def _contact_targets(part: FrictionAndStops, h: Scalar, gaps: Array, free: Array,
                     gained: Array) -> tuple[Array, Array]:
    """The velocities (3 c) that contacts may not fall below, and what compliance adds to the diagonal (3 c)."""
    wanted: list[Any] = [0.0] * (3 * len(gaps))
    softness = np.zeros(3 * len(gaps), dtype=object)
    for k, gap in enumerate(gaps):
        assert part.contacts is not None
        n = 3 * k + 2
        if (compliance := part.contacts.compliance[k]) > 0.0:
            wanted[n], softness[n] = -gap / h, compliance / (h * h)
            continue
        wanted[n] = where(gap > 0.0, -gap / h, np.minimum(-_TAKEN_BACK * gap / h, _SEPARATION))
        if (restitution := part.contacts.restitution[k]) > 0.0:
            rebound = -restitution * free[n]
            bounces = (gap + h * free[n] < 0.0) & (rebound > np.maximum(REST_SPEED, abs(gained[n])))
            wanted[n] = where(bounces, np.maximum(rebound, wanted[n]), wanted[n])
    return np.stack(wanted) if wanted else np.zeros(0), softness


def _joint_bounds(part: FrictionAndStops, h: Scalar, x: State, columns: list[int], free: Array,
                  gained: Array) -> tuple[Array, Array, Array]:
    """The bounds (k) of the impulses on joints, and the velocities (k) at which stops hold them."""
    most = h * part.friction[columns]
    lower, upper, wanted = list(-most), list(most), [0.0 * h for _ in columns]
    q = as_vector(x[part.position])
    for stop in part.stops:
        k = columns.index(stop.column)
        speed = stop.n * free[k]
        gap = np.maximum(stop.gap(q), 0.0)
        passes = gap + h * speed < 0
        rebound = -part.restitution * speed
        returns = rebound <= np.maximum(REST_SPEED, abs(gained[k]))
        wanted[k] = where(passes, stop.n * where(returns, -gap / h, rebound), wanted[k])
        lower[k] = where(passes, 0.0 if stop.n > 0 else -_ANY, lower[k])
        upper[k] = where(passes, _ANY if stop.n > 0 else 0.0, upper[k])
    return tuple(np.stack(each) if each else np.zeros(0) for each in (lower, upper, wanted))  # type: ignore[return-value]
