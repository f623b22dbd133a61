"""Impacts of contacts and stops, all that touches at once: Newton's law of restitution, and Coulomb's of friction.

    n.v' >= -e n.v of what is struck, n.v' >= 0 of what else touches; impulses in the cones of friction
Where contacts depend on each other (a box on four corners) velocities are unique and impulses are not. What leaves
slower than `REST_SPEED`, and was not struck so hard, rests: a box that rocks ever faster comes to an end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.solving.contact_impulses import contact_impulses
from cayley.compiler.solving.contact_law import ContactRows, Impulses
from cayley.compiler.typing import Array
from cayley.systems.adaptive.contact_rows import ContactState, least
from cayley.systems.friction_and_stops import REST_SPEED, Stop

ANY = 1e30  # a force or impulse without a bound


def pushes(here: ContactState, touched: Array, stops: Sequence[Stop]) -> Array:
    """The directions (n + 3 c) in which what touches can push: contacts (c) and stops."""
    found = np.zeros(len(here.A))
    found[here.A.shape[1] + 2::3] = touched
    for stop in stops:
        found[stop.column] = stop.n
    return found


def after_impact(here: ContactState, v: Array, ways: Array, struck: Array, bounces: Array) -> Array:
    """The velocity (n) after an impact of the rows that are `struck`, of those that can push (`ways`), with their
    coefficients of restitution, all (n + 3 c)."""
    n = len(v)
    speeds = here.A @ v
    wanted = np.where(struck, -bounces * speeds, 0.0)
    wanted[np.abs(wanted) <= REST_SPEED] = 0.0
    touched = ways[n + 2::3] != 0
    rows = np.concatenate([(ways[:n] != 0), np.repeat(touched, 3)])
    S = np.eye(len(rows))[np.concatenate([n + np.flatnonzero(rows[n:]), np.flatnonzero(rows[:n])])]
    stops = ways[:n][rows[:n]]
    problem = ContactRows(here.answers(S, S.T), S @ (speeds - wanted), here.friction[touched],
                          np.where(stops > 0, 0.0, -ANY), np.where(stops > 0, ANY, 0.0))
    v = v + here.pushed(S.T @ impulses(problem, np.zeros(len(S))).r)
    rests = here.A[(ways != 0) & (wanted == 0.0) & (ways * (here.A @ v) < REST_SPEED)]
    return v - here.G.T @ least(rests @ here.G.T, rests @ v)


def impulses(problem: ContactRows, start: Array) -> Impulses:
    """The impulses of a contact problem that may have no rows."""
    if not len(problem.W):
        return Impulses(np.zeros(0), np.zeros(0), 0.0, 0.0)
    return contact_impulses(problem, start)


def with_springs(problem: ContactRows, start: Array, forces: Array, is_soft: Array) -> tuple[Impulses, Array]:
    """The solution of a contact problem in which some of the contacts (c) that come first have two rows, along their
    tangents, and a normal force that is known; and the forces of all rows that are there. A known force is that of a
    normal which nothing else moves."""
    there = np.concatenate([np.stack([is_soft | True, is_soft | True, ~is_soft], axis=1).ravel(),
                            np.ones(len(problem.lower), bool)])
    normals = np.flatnonzero(~there)
    W, free, first = np.zeros((len(there), len(there))), np.zeros(len(there)), np.zeros(len(there))
    W[np.ix_(there, there)], free[there], first[there] = problem.W, problem.free, start
    own = np.where(W[normals - 2, normals - 2] > 0.0, W[normals - 2, normals - 2], 1.0)
    W[normals, normals], free[normals], first[normals] = own, -own * forces[is_soft], forces[is_soft]
    found = impulses(problem._replace(W=W, free=free), first)
    return found, found.r[there]
