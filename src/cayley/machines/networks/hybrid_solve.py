"""The terminal equations of an open network of m bodies as one component, and what follows from its drivers.

    x (6m) across the joints, x_e (6 each) of the open terminals;   y (6m) wrenches on the bodies at inner terminals
    x = K x_G,   x_e = K' x_G,   W_G x_G = K^T y + K'^T y_e + y_G - u_G                                  (17), (18)
    y = S^T W_G S x - (K' S)^T y_e + S^T u_G - S^T y_G,   x_e = K' S x,   x_G = S x                      (20), (21)
    S = K^-1:  S_pq = [E  X; 0  E],  X = [vector from B_q to G_p x]^T,  q on the way to p                (19), (27)
    W = P d/dt + Q = S^T W_G S,   P = S^T P_G S,   Q = S^T (Q_G S + P_G S');   P' = Q + Q^T              (22)-(24)
    M = N^T P N,   h = N^T (P N' + Q N) q',   gravity = N^T u,   tau = N^T y = M q'' + h + gravity - N^T tip^T y_e
y_e acts on the network at its open terminals, y_G at the mass centres; components of y outside of N are reactions.
With drivers at joints, mass centres and open terminals, of some the motion is given, of the others the wrench. With the
velocities x_G of a state known, x_G' and the wrenches of the across drivers follow from one symmetric linear system,
which is regular if the topology says so (`formulation`): cases (i) to (iii).
    sum y.x over the ports = d/dt (T + V),   T' = m v.v' + w.J w',   V' = -m g.v        power, at the mass centre
Source: Tokad (1), (3), (10)-(24), 2, for chains, corrected as in spec E4-03 to E4-06, E4-09, E4-21."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.rounding import significant
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, SingularityError
from cayley.machines.networks.formulation_tree import (
    REFERENCE,
    Edge,
    EdgeKind,
    Formulation,
    SystemGraph,
    check_drivers,
    formulation,
)
from cayley.machines.networks.instant import Instant, JointMap, TerminalArm
from cayley.machines.networks.rigid_body import (
    Operator,
    TerminalEquations,
    TurningMass,
    given_array,
    port_matrix,
    port_matrix_rate,
)
from cayley.showing import shown_briefly


class Driven(NamedTuple):
    """The rates of across variables and the through variables (6) of the drivers, by name, and x_G' (m, 6)."""

    across_rates: dict[str, Array]
    through: dict[str, Array]
    centres: Array


def driver_names(network: Instant) -> list[str]:
    """The drivers of a network: "1", "2", ... at the joints of its bodies, "1'", ... at their mass centres, and "tip
    1", ... at the open terminals."""
    count = range(1, network.size + 1)
    return [*[f"{j}" for j in count], *[f"{j}'" for j in count], *[f"tip {e + 1}" for e in range(len(network.open))]]


def driven_motion(network: Instant, x_G: Array, across: Mapping[str, ArrayLike], through: Mapping[str, ArrayLike]
                  ) -> Driven:
    """The motion that follows from the velocities x_G (m, 6) of the mass centres, the rates (6) of across variables of
    some drivers, and the through variables (6) of the others, by default zero."""
    names = driver_names(network)
    check_drivers([*across, *through], names)
    both = [name for name in across if name in through]
    if both:
        raise ModelError(f"driver {both[0]!r} cannot have its motion and its wrench given")
    found = formulation(driven_graph(network, across))
    if not found.solvable:
        raise SingularityError(f"the drivers leave no single answer: {found.why}")
    moved = {name: given_array(rate, (6,), f"the rate of driver {name!r}") for name, rate in across.items()}
    loaded = {name: given_array(wrench, (6,), f"the wrench of driver {name!r}") for name, wrench in through.items()}
    return _solved(network, given_array(x_G, (network.size, 6), "the velocities of the mass centres"), moved, loaded,
                   names)


def driven_graph(network: Instant, across: Mapping[str, ArrayLike] | set[str]) -> SystemGraph:
    """The graph of a network with its drivers, the active parts of bodies as edges of their own."""
    edges = []
    for j in range(network.size):
        ports = ["b", "g", *[f"a{k + 1}." for k, parent in enumerate(network.parents) if parent == j],
                 *[f"t{e + 1}." for e, terminal in enumerate(network.open) if terminal.body == j]]
        edges += [Edge(f"{port}{j + 1}", f"{port}{j + 1}", REFERENCE, EdgeKind.TERMINAL, f"{j + 1}") for port in ports]
        edges.append(Edge(f"w{j + 1}", f"g{j + 1}", REFERENCE, EdgeKind.ACTIVE, f"{j + 1}"))
    ends = {f"{j + 1}": (f"b{j + 1}", f"a{j + 1}.{parent + 1}" if parent >= 0 else REFERENCE)
            for j, parent in enumerate(network.parents)}
    ends |= {f"{j + 1}'": (f"g{j + 1}", REFERENCE) for j in range(network.size)}
    ends |= {f"tip {e + 1}": (f"t{e + 1}.{terminal.body + 1}", REFERENCE) for e, terminal in enumerate(network.open)}
    edges += [Edge(f"driver {name}", tail, head, EdgeKind.ACROSS if name in across else EdgeKind.THROUGH)
              for name, (tail, head) in ends.items()]
    return SystemGraph(tuple(edges))


def solvability(network: Instant, across: set[str]) -> Formulation:
    """Decide from the graph alone if motions can be given to the named drivers and wrenches to the others."""
    check_drivers(sorted(across), driver_names(network))
    return formulation(driven_graph(network, across))


def _solved(network: Instant, x_G: Array, across: Mapping[str, Array], through: Mapping[str, Array],
            names: list[str]) -> Driven:
    B, drift = driver_rows(network, x_G)
    given = np.concatenate([across.get(name, np.zeros(6)) for name in names]) - drift
    known = np.concatenate([through.get(name, np.zeros(6)) for name in names])
    moved = np.repeat([name in across for name in names], 6)
    W = centre_operator(network)
    velocities = x_G.reshape(-1)
    force = B.T @ known - W.Q @ velocities - weights(network)
    A = B[moved]
    saddle = np.block([[W.P, -A.T], [A, np.zeros((len(A), len(A)))]])
    _check_regular(saddle, network.size)
    solved = np.linalg.solve(saddle, np.concatenate([force, given[moved]]))
    rates = solved[:len(velocities)]
    y = known.copy()
    y[moved] += solved[len(velocities):]
    xd = B @ rates + drift
    each = dict(zip(names, range(len(names)), strict=True))
    return Driven({name: xd[6 * k:6 * k + 6] for name, k in each.items()},
                  {name: y[6 * k:6 * k + 6] for name, k in each.items()}, rates.reshape(-1, 6))


def _check_regular(saddle: Array, size: int) -> None:
    """Check that every body has inertia in the directions in which nothing moves it; the topology does not know."""
    scale = 1.0 / np.sqrt(np.maximum(np.abs(saddle).max(axis=1), 1e-300))
    scale[scale > 1e100] = 1.0
    _, s, Vt = np.linalg.svd(scale[:, None] * saddle * scale)
    if not significant(s, len(s), exact=True).all():
        body = int(np.abs(Vt[-1][:6 * size]).argmax()) // 6 + 1
        raise SingularityError(f"the acceleration of body {body} does not follow: it has no inertia in a direction in "
                               "which no driver moves it")


def driver_rows(network: Instant, x_G: Array) -> tuple[Array, Array]:
    """B (6d, 6m) from x_G to the across variables of all drivers, and B' x_G (6d)."""
    B = np.concatenate([joint_matrix(network), np.eye(6 * network.size), tip_matrix(network)])
    joints = [port_matrix_rate(inner.rate).T @ x_G[j] for j, inner in enumerate(network.inner)]
    for j, parent in enumerate(network.parents):
        if parent >= 0:
            joints[j] = joints[j] - port_matrix_rate(network.carrying[j].rate).T @ x_G[parent]
    tips = [port_matrix_rate(terminal.arm.rate).T @ x_G[terminal.body] for terminal in network.open]
    return B, np.concatenate([*joints, np.zeros(6 * network.size), *tips])


_ZERO = np.zeros((6, 6))


class OpenEquations(NamedTuple):
    """y = W x - tip^T y_e + u - S^T y_G,  x_e = tip x,  x_G = S x, with S (6m, 6m), tip = K' S (6e, 6m), u (6m)."""

    W: Operator
    S: Array
    tip: Array
    u: Array

    def wrenches(self, x: Array, xd: Array, loads: Array, loads_at_centres: Array | None = None) -> Array:
        """y (6m), of the motion of the joints, the wrenches y_e (6e) and those at the mass centres (6m)."""
        y = self.W(x, xd) - self.tip.T @ loads + self.u
        return y if loads_at_centres is None else y - self.S.T @ loads_at_centres


def open_equations(network: Instant) -> OpenEquations:
    """The terminal equations in closed form."""
    S = inverse_matrix(network)
    W = centre_operator(network).through(S, inverse_matrix_rate(network))
    return OpenEquations(W, S, tip_matrix(network) @ S, S.T @ weights(network))


class Reduced(NamedTuple):
    """tau = M qdd + h + gravity - jacobian^T y_e, and x_e = jacobian qd."""

    M: Array
    h: Array
    gravity: Array
    jacobian: Array


def reduced(equations: OpenEquations, joints: JointMap, qd: Array) -> Reduced:
    """The equations of motion in the coordinates of the joints."""
    N, Nd = joints
    P, Q = equations.W
    return Reduced(N.T @ P @ N, N.T @ ((P @ Nd + Q @ N) @ qd), N.T @ equations.u, equations.tip @ N)


def joint_matrix(network: Instant) -> Array:
    """K (6m, 6m): x = K x_G; of two diagonals for a chain. (10)-(14)."""
    blocks = [[_ZERO] * network.size for _ in range(network.size)]
    for j, parent in enumerate(network.parents):
        blocks[j][j] = port_matrix(network.inner[j].r).T
        if parent >= 0:
            blocks[j][parent] = -port_matrix(network.carrying[j].r).T
    return np.block(blocks)


def tip_matrix(network: Instant) -> Array:
    """K' (6e, 6m): x_e = K' x_G. (16)."""
    blocks = [[_ZERO] * network.size for _ in network.open]
    for row, terminal in zip(blocks, network.open, strict=True):
        row[terminal.body] = port_matrix(terminal.arm.r).T
    return np.block(blocks) if blocks else np.zeros((0, 6 * network.size))


def inverse_matrix(network: Instant) -> Array:
    """S = K^-1 (6m, 6m), lower triangular in blocks. (19), (27)."""
    return _on_the_way(network, lambda arm: port_matrix(arm.r).T)


def inverse_matrix_rate(network: Instant) -> Array:
    """S' (6m, 6m)."""
    return _on_the_way(network, lambda arm: port_matrix_rate(arm.rate).T)


def centre_operator(network: Instant) -> Operator:
    """W_G of all bodies (6m, 6m)."""
    each = [network.W(j) for j in range(network.size)]
    return Operator(_diagonal([W.P for W in each]), _diagonal([W.Q for W in each]))


def weights(network: Instant) -> Array:
    """u_G (6m)."""
    return np.concatenate([network.u(j) for j in range(network.size)])


def _on_the_way(network: Instant, block: Callable[[TerminalArm], Array]) -> Array:
    blocks = [[_ZERO] * network.size for _ in range(network.size)]
    for p in range(network.size):
        for q in network.path(p):
            blocks[p][q] = block(network.arm(q, p))
    return np.block(blocks)


def _diagonal(blocks: list[Array]) -> Array:
    return np.block([[own if j == k else _ZERO for k in range(len(blocks))] for j, own in enumerate(blocks)])


def equations_in_forms(network: Instant, forms: Sequence[str]) -> OpenEquations:
    """The terminal equations of a network whose body j is written in `forms[j]`: "G" about its mass centre, "B" about
    its inner terminal, "A" about the outer one that carries the next body, or is open. In every mix the equations that
    are left when the across variables of the forms are eliminated are (20). Tokad (5)-(7), 2."""
    if len(forms) != network.size:
        raise ModelError(f"{network.size} bodies need as many forms, not {len(forms)}")
    bodies = [_in_form(network, j, form) for j, form in enumerate(forms)]
    to_forms = _diagonal([port_matrix(-body.arms["G"]).T for body in bodies])
    rate = _diagonal([port_matrix_rate(-body.rates["G"]).T for body in bodies])
    S = inverse_matrix(network)
    P, Q = (_diagonal([getattr(body.W, part) for body in bodies]) for part in ("P", "Q"))
    W = Operator(P, Q).through(to_forms @ S, rate @ S + to_forms @ inverse_matrix_rate(network))
    u = np.concatenate([body.u for body in bodies])
    return OpenEquations(W, S, tip_matrix(network) @ S, (to_forms @ S).T @ u)


def _in_form(network: Instant, j: int, form: str) -> TerminalEquations:
    """The terminal equations of one body, with its ports by the names that the network has for them."""
    outer = [(f"A{k}", arm) for k, arm in enumerate(network.carrying) if network.parents[k] == j]
    outer += [(f"T{e}", terminal.arm) for e, terminal in enumerate(network.open) if terminal.body == j]
    arms = {"B": network.inner[j], "G": TerminalArm(np.zeros(3), np.zeros(3)), **dict(outer)}
    about_centre = TerminalEquations("G", {port: arm.r for port, arm in arms.items()},
                                     {port: arm.rate for port, arm in arms.items()},
                                     network.mass(j).active, network.mass(j))
    if form == "A" and not outer:
        raise ModelError(f"body {j + 1} has no outer terminal: it can be written in the forms G and B")
    if form not in ("A", "B", "G"):
        raise ModelError(f"the form of body {j + 1} is {form!r}: the forms are G, B and A")
    return about_centre.in_form(outer[0][0] if form == "A" else form)


@shown_briefly
class PowerBalance(NamedTuple):
    """The powers [W] received at the ports and stored, and their difference."""

    received: Scalar
    stored: Scalar

    @property
    def residual(self) -> Scalar:
        return self.received - self.stored

    def __add__(self, other: object) -> PowerBalance:
        if not isinstance(other, PowerBalance):
            return NotImplemented
        return PowerBalance(self.received + other.received, self.stored + other.stored)


def power_received(across: Iterable[Array], through: Iterable[Array]) -> Scalar:
    """The sum of x.y over ports."""
    return sum((x @ y for x, y in zip(across, through, strict=True)), 0.0)


def power_stored(body: TurningMass, x: Array, xd: Array) -> Scalar:
    """The rate of the energy of a body, kinetic and potential, from the motion of its mass centre."""
    return body.mass * (x[:3] @ (xd[:3] - body.gravity)) + x[3:] @ (body.J @ xd[3:])


def body_balance(body: TerminalEquations, x: Array, xd: Array, y: dict[str, Array]) -> PowerBalance:
    """The balance of one body, from the across variable of its form's port and the wrenches at the others."""
    x, xd = np.asarray(x), np.asarray(xd)
    own = body.through(x, xd, y)
    received = power_received([x, *[body.across(port, x) for port in y]], [own, *y.values()])
    w, r = x[3:], body.arms["G"]
    v = x[:3] + np.cross(w, r)
    a = xd[:3] + np.cross(xd[3:], r) + np.cross(w, np.cross(w, r))
    stored = power_stored(body.mass, np.concatenate([v, w]), np.concatenate([a, xd[3:]]))
    return PowerBalance(received, stored)


def is_passive(P: Array, Q: Array, P_rate: Array, *, tolerance: float = 1e-12) -> bool:
    """True if an operator P d/dt + Q stores no more power than it takes, x.W x >= d/dt (x.P x)/2: P is positive
    semidefinite and Q + Q^T - P' has no negative part (it is zero for bodies)."""
    size = max(float(np.abs(P).max()), float(np.abs(P_rate).max()), 1e-300)
    least = np.linalg.eigvalsh((P + P.T) / 2).min()
    lost = np.linalg.eigvalsh(Q + Q.T - P_rate).min()
    return bool(least >= -tolerance * size and lost >= -tolerance * size and np.abs(P - P.T).max() <= tolerance * size)
