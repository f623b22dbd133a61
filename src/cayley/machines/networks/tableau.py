"""Bodies connected in any way at an instant: the equations of all bodies and all connections, solved at once.

    P_G x_G' - sum B^T y = - Q_G x_G - u_G + loads            a body: what its connections do, cut-sets substituted
    C (B x_G' + B' x_G - N' q') = 0,   N^T y = tau            a connection: what it holds, and what drives it
B x_G is the across variable of a connection, x = N q' what it lets it be, and C what is left of six directions. Where
connections hold the same more than once (a planar loop of revolute joints does three times) the matrix has a rank below
its size: motions are the same in every solution, wrenches are those of least norm, and the result tells which of them
are determinate. Source: Tokad 4, corrected as in spec E4-25."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, SingularityError, UnsupportedError, did_you_mean
from cayley.geometry.tensors.cross import skew
from cayley.kinematics.constraints.rows import drift, jacobian, least_sense, residual_of
from cayley.kinematics.forward import frame_pose
from cayley.machines.networks.hybrid_solve import centre_operator, driver_rows, tip_matrix, weights
from cayley.machines.networks.instant import Instant, outward
from cayley.machines.networks.line_spring import spring_wrenches, stretched
from cayley.machines.networks.network import Connection, Network
from cayley.machines.networks.rigid_body import given_array, port_matrix, port_matrix_rate
from cayley.model.configurations import check_configuration
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

_OPEN = 1e-6  # loops that are open by more are no state of the network, in metres and radians, or per second


class ConnectionRow(NamedTuple):
    """One connection at an instant: B (6, 6m) and B' x_G (6), the directions N (6, f) that it allows, and N' q' (6)."""

    name: str
    B: Array
    drift: Array
    N: Array
    bias: Array


@shown_briefly
class NetworkMotion(NamedTuple):
    """Rates x_G' (6) by body, wrenches (6) on the second terminals by connection, about these and in inertial axes, and
    which of their components follow, accelerations by connection of the tree; the `size` of the tableau and its
    `rank`."""

    centres: dict[str, Array]
    wrenches: dict[str, Array]
    determined: dict[str, Array]
    accelerations: dict[str, Array]
    size: int
    rank: int


def network_motion(network: Network, q: ArrayLike, qd: ArrayLike, forces: Mapping[str, ArrayLike] | None = None,
                   loads: Mapping[str, ArrayLike] | None = None) -> NetworkMotion:
    """The motion at a state under named forces of connections (f each, by default zero) and wrenches (6) at open
    terminals."""
    forces = dict(forces or {})
    loads = dict(loads or {})
    _check_names(network, forces, loads)
    q = given_array(q, (network.spanning_tree.nq,), f"the coordinates of {network.name}")
    qd = given_array(qd, (network.spanning_tree.nv,), f"the velocities of {network.name}")
    _check_position(network, q)
    instant = network.spanning_tree.instant(q, qd)
    rows, x_G = connection_rows(network, instant, q, qd)
    matrix, right = _assembled(network, instant, rows, x_G, forces, loads)
    if network.ties:
        matrix, right = _with_ties(network, rows, matrix, right, q, qd)
    return _solved(network, rows, matrix, right, _upon_second_terminals(network, instant))


def connection_rows(network: Network, instant: Instant, q: Array, qd: Array) -> tuple[list[ConnectionRow], Array]:
    """All connections, those of the tree first, and the across variables x_G (m, 6) of the mass centres."""
    tree_part = network.spanning_tree
    N, Nd = tree_part.joint_map(q, qd)
    motion = outward(instant, list(np.reshape(N @ qd, (-1, 6))), [np.zeros(6)] * instant.size)
    x_G = np.array(motion.x)
    B, drift = driver_rows(instant, x_G)
    rows = []
    start = 0
    for j, joint in enumerate(network.layout.joints):
        own = slice(6 * j, 6 * j + 6)
        columns = slice(start, start + joint.motion.nv)
        rows.append(ConnectionRow(joint.name, B[own], drift[own], N[own, columns], Nd[own, columns] @ qd[columns]))
        start += joint.motion.nv
    tree = network.tree()
    return [*rows, *[_loop_row(network, instant, tree, loop, q, x_G) for loop in network.layout.loops]], x_G


def _loop_row(network: Network, instant: Instant, tree: Tree, loop: Connection, q: Array, x_G: Array) -> ConnectionRow:
    """A connection that closes a loop: its point is where the second frame is."""
    if not loop.motion.constant_subspace:
        raise UnsupportedError(f"connection {loop.name!r} closes a loop by a {loop.motion.word} joint, whose "
                               "directions depend on its own coordinates: let another connection close the loop")
    second = frame_pose(tree, q, f"{loop.name} at {loop.second}")
    one, other = (network.number(network.terminal(end, loop.name).body) for end in (loop.first, loop.second))
    centres = instant.centres()
    B = np.zeros((6, 6 * instant.size))
    drift = np.zeros(6)
    point_velocity = np.zeros(3)
    turning = np.zeros(3)
    if other >= 0:
        r = second.p - centres[other]
        turning = x_G[other][3:]
        point_velocity = x_G[other][:3] + np.cross(turning, r)
        B[:, 6 * other:6 * other + 6] = port_matrix(r).T
        drift = drift + port_matrix_rate(np.cross(turning, r)).T @ x_G[other]
    if one >= 0:
        r = second.p - centres[one]
        B[:, 6 * one:6 * one + 6] -= port_matrix(r).T
        drift = drift - port_matrix_rate(point_velocity - x_G[one][:3]).T @ x_G[one]
    S = np.asarray(loop.motion.subspace(loop.motion.neutral), dtype=float)
    N = np.concatenate([second.R @ S[:3], second.R @ S[3:]])
    x = B @ x_G.reshape(-1)
    _check_velocity(network, loop, N, x)
    bias = np.concatenate([skew(turning) @ x[:3], skew(turning) @ x[3:]])
    return ConnectionRow(loop.name, B, drift, N, bias)


def _upon_second_terminals(network: Network, instant: Instant) -> dict[str, Array]:
    """From the wrench of each joint of the tree, on the body that it moves, that on the second terminal of the
    connection (6, 6): the other way round, and about another point, where the tree takes a connection from its second
    terminal to the first."""
    def place(end: str, of: str) -> Array:
        terminal = network.terminal(end, of)
        arm, body = network.arm(terminal), network.number(terminal.body)
        return arm if body < 0 else centres[body] + instant.axes[body] @ arm

    centres = instant.centres()
    seconds = {connection.name: connection.second for connection in network.connections}
    return {joint.name: -port_matrix(place(joint.second, joint.name) - place(joint.first, joint.name))
            for joint in network.layout.joints if joint.second != seconds[joint.name]}


def _check_position(network: Network, q: Array) -> None:
    """Check that the configuration is one of the closed network: in place, turned right, and not the wrong way
    round."""
    tree = network.tree()
    check_configuration(tree, q, limits=False)
    for each in constraints_of(tree):
        opening = np.abs(np.asarray(residual_of(tree, each, q), dtype=float)).max(initial=0.0)
        if opening > _OPEN:
            what = "connection" if each.name in {loop.name for loop in network.layout.loops} else each.word
            raise ModelError(f"{what} {each.name!r} of {network.name} is open by {opening:.3g} at this configuration: "
                             "`close` of the mechanism closes it")
        if least_sense(tree, q, [each]) < 0:
            raise ModelError(f"connection {each.name!r} of {network.name} is closed the wrong way round at this "
                             "configuration: an axis of it points back")


def _check_velocity(network: Network, loop: Connection, N: Array, x: Array) -> None:
    opening = np.abs(_complement(N) @ x).max(initial=0.0)
    if opening > _OPEN:
        raise ModelError(f"the velocities open connection {loop.name!r} of {network.name} by {opening:.3g}: "
                         "`consistent_velocity` of the mechanism gives those that do not")


def _assembled(network: Network, instant: Instant, rows: list[ConnectionRow], x_G: Array,
               forces: Mapping[str, ArrayLike], loads: Mapping[str, ArrayLike]) -> tuple[Array, Array]:
    m = 6 * instant.size
    W = centre_operator(instant)
    wrenches = [np.asarray(loads.get(end, np.zeros(6)), dtype=float) for end in network.open]
    lost = [each.spring.name for each in stretched(network, instant, list(x_G))
            if each.spring.length > 0 and float(each.distance) == 0.0]
    if lost:
        raise SingularityError(f"both ends of spring {lost[0]!r} of {network.name} meet: it has a length, and no "
                               "direction there")
    outside = np.concatenate(spring_wrenches(network, instant, list(x_G)))
    if wrenches:
        outside = outside + tip_matrix(instant).T @ np.concatenate(wrenches)
    size = m + 6 * len(rows)
    matrix = np.zeros((size, size))
    right = np.zeros(size)
    matrix[:m, :m] = W.P
    right[:m] = outside - W.Q @ x_G.reshape(-1) - weights(instant)
    for k, row in enumerate(rows):
        own = slice(m + 6 * k, m + 6 * k + 6)
        C = _complement(row.N)
        matrix[:m, own] = -row.B.T
        matrix[own.start:own.start + len(C), :m] = C @ row.B
        right[own.start:own.start + len(C)] = C @ (row.bias - row.drift)
        matrix[own.start + len(C):own.stop, own] = row.N.T
        right[own.start + len(C):own.stop] = np.asarray(forces.get(row.name, 0.0), dtype=float)
    return matrix, right


def _with_ties(network: Network, rows: list[ConnectionRow], matrix: Array, right: Array, q: Array, qd: Array
               ) -> tuple[Array, Array]:
    """The equations with rods, couplings and wheels: A qdd = - drift, and N^T y = tau + A^T lam at the connections of
    the tree."""
    tree = network.tree()
    tied = tree.with_constraints((), tree.constraints)
    A = np.asarray(jacobian(tied, q), dtype=float)
    opening = np.abs(A @ qd).max(initial=0.0)
    if opening > _OPEN:
        raise ModelError(f"the velocities break the constraints of {network.name} by {opening:.3g}: "
                         "`consistent_velocity` of the mechanism gives those that do not")
    size = len(matrix)
    m = 6 * len(network.order)
    whole = np.zeros((size + len(A), size + len(A)))
    whole[:size, :size] = matrix
    acceleration = -np.asarray(drift(tied, q, qd), dtype=float)
    start = 0
    for k, row in enumerate(rows[:len(network.order)]):
        freedoms = row.N.shape[1]
        columns = A[:, start:start + freedoms]
        back = np.linalg.pinv(row.N)  # from the rate of the across variable to that of the velocities
        whole[size:, :m] += columns @ back @ row.B
        acceleration = acceleration - columns @ back @ (row.drift - row.bias)
        last = m + 6 * k + 6
        whole[last - freedoms:last, size:] = -columns.T
        start += freedoms
    return whole, np.concatenate([right, acceleration])


def _solved(network: Network, rows: list[ConnectionRow], matrix: Array, right: Array, turned: Mapping[str, Array]
            ) -> NetworkMotion:
    U, s, Vt = np.linalg.svd(matrix)
    rank = int(significant(s, len(s), exact=True).sum())
    found = Vt[:rank].T @ ((U[:, :rank].T @ right) / s[:rank])
    m = 6 * len(network.order)
    places = {row.name: slice(m + 6 * k, m + 6 * k + 6) for k, row in enumerate(rows)}
    wrenches = {name: turned.get(name, np.eye(6)) @ found[own] for name, own in places.items()}
    for name, to_second in turned.items():
        Vt[rank:, places[name]] = Vt[rank:, places[name]] @ to_second.T
    free = np.abs(Vt[rank:]).max(axis=0, initial=0.0) > 1e-8  # unknowns that no equation fixes
    loose = [network.order[k // 6] for k in np.flatnonzero(free[:m])]
    if loose:
        raise SingularityError(f"the acceleration of body {loose[0]!r} of {network.name} does not follow: "
                               + _why_it_does_not(matrix[:m, :m], Vt[rank:, :m]))
    if np.abs(matrix @ found - right).max() > 1e-6 * max(np.abs(right).max(), 1.0):
        raise SingularityError(f"the connections of {network.name} contradict each other at this state")
    centres = {name: found[6 * j:6 * j + 6] for j, name in enumerate(network.order)}
    accelerations = {row.name: np.linalg.lstsq(row.N, row.B @ found[:m] + row.drift - row.bias)[0]
                     for row in rows[:len(network.order)]}
    return NetworkMotion(centres, wrenches, {name: ~free[own] for name, own in places.items()}, accelerations,
                         len(matrix), rank)


def _why_it_does_not(inertia: Array, motions: Array) -> str:
    """Accelerations of mass centres, rows of `motions`, that no equation fixes: they need forces, or they do not."""
    if np.abs(inertia @ motions.T).max() > least_singular(len(inertia), exact=True) * np.abs(inertia).max():
        return ("next to a singular position its connections hold it too weakly to say which way it goes; take a state "
                "further away, or the position itself")
    return "it has no inertia in a direction in which it may move"


def _complement(N: Array) -> Array:
    """An orthonormal basis (6 - f, 6) of the directions across those of N (6, f)."""
    return null_basis(N.T).T


def _check_names(network: Network, forces: Mapping[str, ArrayLike], loads: Mapping[str, ArrayLike]) -> None:
    names = [connection.name for connection in network.connections]
    for name in forces:
        if name not in names:
            raise ModelError(f"{network.name} has no connection {name!r}{did_you_mean(name, names)}")
        freedoms = network.connections[names.index(name)].motion.nv
        given_array(forces[name], (freedoms,), f"the forces of connection {name!r}")
    for end in loads:
        if end not in network.open:
            known = ", ".join(network.open) or "none"
            raise ModelError(f"{end!r} is no open terminal of {network.name}; open are {known}")
        given_array(loads[end], (6,), f"the load at {end!r}")
