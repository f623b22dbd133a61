"""Equations of motion as a recursion from link to link, for mechanisms whose entries are too long to be written out.
Every value of it has the name of what it is, and stands in a group with its own kind:

    c_i, s_i       cosine and sine of joint i                      R_i   rotation of a joint of several coordinates
    u_i, J_i       first and second moments (of r and r r^T) of link i and all that it carries, about its origin
    f_i_k, n_i_k   force and moment at link k that a unit acceleration of joint i asks for
    g_i            gravity in the axes of link i
    omega_i        its angular velocity, and omegad_i the rate of it; W_i = omegad~ + omega~ omega~
    a_i            acceleration of its origin                      f_i, n_i   force and moment that its joint gives it
with x, y, z behind them. The steps are those of the recursions that are compiled: `composite_bodies_for_trees`,
`newton_euler`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from cayley.compiler.algebras.equations import equations
from cayley.compiler.algebras.packages import SYMPY
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.closed_form import coriolis_matrix
from cayley.dynamics.equations.parameter_symbols import drive_parameters, parameter_symbols, parameter_values, passive
from cayley.dynamics.equations.result import EquationsOfMotion, Group, Line
from cayley.dynamics.equations.symbolic_links import GivenValues, ModelNumber, parameters_of, symbolic_links
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import asked_by, carried, felt_inwards
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.inverse.newton_euler import JointLoad, Movement
from cayley.dynamics.rigid_links.links import ROOT, JointPlacement, Link, Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.dynamics.rigid_links.planar_rotations import PlanarRotation
from cayley.extras import optional_imports
from cayley.model.joint_kinds import JointKind
from cayley.model.tree import Tree
from cayley.progress import PatientBar

with optional_imports():
    import sympy

_AXES = "xyz"

TURNS = Group("Sines, cosines and rotations of the joints")
BODIES = Group("Composite bodies: moments of each link and all that it carries, from the tips inwards",
               ("u_i ← u_i + Σ ( R_j u_j + m_j s_j )", "J_i ← J_i + Σ ( R_j J_j R_jᵀ + R_j u_j s_jᵀ + … )"))
UNITS = Group("Unit accelerations: what one of joint i asks for, at link k before it",
              ("f_i,i = z × u_i", "n_i,i = ( tr J_i − J_i ) z", "f_i,k = R f_i,k+1", "n_i,k = R n_i,k+1 + s × f_i,k"))
GRAVITY = Group("Gravity in the axes of the links", ("g_i = R_iᵀ g_i−1",))
VELOCITIES = Group("Angular velocities, from the root outwards", ("omega_i = R_iᵀ omega_i−1 + z qd_i",))
RATES = Group("Accelerations of links and of their origins",
              ("omegad_i = R_iᵀ omegad_i−1 + R_iᵀ omega_i−1 × z qd_i",
               "W_i = skew ( omegad_i ) + skew ( omega_i ) skew ( omega_i )",
               "a_i = R_iᵀ ( a_i−1 + W_i−1 s_i )"))
FORCES = Group("Forces and moments in the joints, from the tips inwards",
               ("f_i = m_i a_i + W_i u_i + Σ R_j f_j",
                "n_i = u_i × a_i + axial ( W_i J_i ) + Σ ( R_j n_j + s_j × R_j f_j )"))
GROUPS = (TURNS, BODIES, UNITS, GRAVITY, VELOCITIES, RATES, FORCES)


class NamedInverseDynamics(NamedTuple):
    """The forces tau (nv) of accelerations `qdd`, by groups of named values."""

    groups: tuple[Group, ...]
    tau: list[Any]


def named_recursion(tree: Tree, links: Links, *, with_letters: bool) -> EquationsOfMotion:
    """M, V and G; numbers are those of the links in their leanest form. C is in lines of the compiler's."""
    parameters = parameters_of(links) | drive_parameters(tree) if with_letters else drive_parameters(tree)
    symbols = parameter_symbols(parameters.values()) if with_letters else {}
    names = _Names()
    q, qd, qdd = _states(tree)
    moved = _named_links(symbolic_links(links, _Letters(symbols)) if with_letters else minimal_links(tree), q, names)
    with PatientBar(f"equations of {tree.name}", len("MGVC")) as bar:
        composite = _composite(moved, q, names)
        M = _mass_matrix(moved, q, composite, names)
        for place, rotor in enumerate(_rotors(tree, parameters, symbols)):
            M[place][place] = M[place][place] + rotor
        bar.reached(1)
        G = _gravity(moved, q, composite, names)
        bar.reached(2)
        V = _forces(replace(moved, gravity=np.zeros(3)), q, qd, np.zeros(tree.nv), names)
        bar.reached(3)
        C, more = coriolis_lines(tree, links, symbols)
    written = {"M": [names.shown(entry) for row in M for entry in row], "C": C, "V": [names.shown(x) for x in V],
               "G": [names.shown(x) for x in G], "F": passive(tree, parameters, symbols, q, qd)}
    groups = names.groups()
    lines = (*[line for group in groups for line in group.lines], *more)
    return EquationsOfMotion(tree.name, q, qd, qdd, parameter_values(symbols, parameters), written, lines,
                             groups=groups)


def named_inverse_dynamics(tree: Tree) -> NamedInverseDynamics:
    """The forces of any motion of a tree with joints of every kind, in numbers."""
    names = _Names()
    q, qd, qdd = _states(tree)
    moved = _named_links(minimal_links(tree), q, names)
    tau = _forces(moved, q, qd, np.array(qdd), names)
    drives = drive_parameters(tree)
    rotors = _rotors(tree, drives, {})
    F = passive(tree, drives, {}, q, qd)
    found = [names.shown(force) + rotor * acceleration + rubbed
             for force, rotor, acceleration, rubbed in zip(tau, rotors, qdd, F, strict=True)]
    return NamedInverseDynamics(names.groups(), found)


def _states(tree: Tree) -> tuple[tuple[Any, ...], ...]:
    sizes = {"q": tree.nq, "qd": tree.nv, "qdd": tree.nv}
    return tuple(tuple(sympy.Symbol(f"{letter}_{k + 1}") for k in range(size)) for letter, size in sizes.items())


class _Names:
    """Symbols for values, as long as these are not short themselves, and the lines that say what they are."""

    def __init__(self) -> None:
        self.lines: dict[str, list[Line]] = {group.title: [] for group in GROUPS}
        self.values: dict[Any, Any] = {}

    def named(self, group: Group, name: str, value: Scalar) -> Scalar:
        exact = _exact(value)
        if exact.is_Number or exact.is_Symbol or (-exact).is_Symbol:
            return exact
        symbol = sympy.Symbol(name)
        self.lines[group.title].append((symbol, exact))
        self.values[symbol] = exact
        return symbol

    def vector(self, group: Group, name: str, values: Iterable[Any]) -> Array:
        return np.array([self.named(group, name + axis, value) for axis, value in zip(_AXES, values, strict=True)])

    def matrix(self, group: Group, name: str, values: Array, *, symmetric: bool) -> Array:
        found = np.empty((3, 3), dtype=object)
        for i, j in np.ndindex(3, 3):
            found[i, j] = (found[j, i] if symmetric and j < i
                           else self.named(group, name + _AXES[i] + _AXES[j], values[i, j]))
        return found

    def shown(self, entry: Scalar) -> Scalar:
        """An entry of the result, in which a lone name is what it stands for."""
        exact = _exact(entry)
        return self.values.get(exact, -self.values[-exact] if -exact in self.values else exact)

    def groups(self) -> tuple[Group, ...]:
        return tuple(group._replace(lines=tuple(self.lines[group.title])) for group in GROUPS
                     if self.lines[group.title])


def _exact(value: Scalar) -> Scalar:
    """A value without floats that are integers."""
    found = sympy.sympify(value)
    whole = {number: sympy.Integer(int(number)) for number in found.atoms(sympy.Float) if float(number).is_integer()}
    return found.xreplace(whole) if whole else found


class _Letters(GivenValues):
    """The symbols of parameters; the shift of a joint is added to its coordinate."""

    def turn(self, parameter: ModelNumber) -> PlanarRotation:
        angle = self.number(parameter)
        return PlanarRotation(sympy.cos(angle), sympy.sin(angle))


def _rotors(tree: Tree, parameters: dict[str, ModelNumber], symbols: dict[str, Any]) -> list[Any]:
    found: list[Any] = [sympy.Integer(0)] * tree.nv
    for name, parameter in parameters.items():
        if parameter.kind == "J":
            found[int(parameter.place) - 1] = symbols.get(name, sympy.Float(parameter.value))
    return found


def _named_links(links: Links, q: tuple[Any, ...], names: _Names) -> Links:
    made = tuple(_named_link(link, k + 1, q, names) for k, link in enumerate(links.links))
    return replace(links, links=made, gravity=_numbers(links.gravity))


def _named_link(link: Link, number: int, q: tuple[Any, ...], names: _Names) -> Link:
    """A link about whose axis a named cosine and sine turn, or that a named rotation turns."""
    beta, alpha, gamma = (cast(PlanarRotation, turn) for turn in link._turns)
    origin = link.placement[:3, 3] if link.place is None else link.place.origin
    moved = replace(link, moments=LinkMoments(*map(_numbers, link.moments)))
    if link.turns_about_axis and not link.turns_unseen:
        angle = q[link.coordinates.start]
        shift = link.place.shift if link.place is not None else None
        gamma = _turned(gamma, angle if shift is None else angle + shift, number, names)
        moved = replace(moved, turns_unseen=True)  # its last turn is the joint's already
    if not link.is_revolute and not link.is_prismatic:
        moved = replace(moved, motion=cast(JointKind, _Posed(link.motion, number, q[link.coordinates], names)))
    return replace(moved, place=JointPlacement((_turn(beta), _turn(alpha), _turn(gamma)), _numbers(origin)))


def _turned(constant: PlanarRotation, angle: Scalar, number: int, names: _Names) -> PlanarRotation:
    """The turn by a joint's angle after a constant one."""
    quarters = {(1, 0): 0, (0, 1): 1, (-1, 0): 2, (0, -1): 3}
    whole = quarters.get(cast("tuple[int, int]", tuple(constant)))
    shifted = angle if whole is not None else angle + float(np.arctan2(constant.s, constant.c))
    c = names.named(TURNS, f"c{number}", sympy.cos(shifted))
    s = names.named(TURNS, f"s{number}", sympy.sin(shifted))
    return PlanarRotation(*[(c, s), (-s, c), (-c, -s), (s, -c)][whole or 0])


class _Posed:
    """A joint's motion at a configuration, with SymPy's sines and cosines, and a pose that has names."""

    def __init__(self, motion: JointKind, number: int, q: tuple[Any, ...], names: _Names) -> None:
        self.motion = motion
        R = self._of((3, 3), lambda q: motion.pose(q)[0], q)
        if motion.nq != motion.nv:  # a unit quaternion: what its components' squares add up to is 1
            one = sympy.Add(*[component**2 for component in q[-4:]])
            R = np.array([entry.xreplace({one: sympy.Integer(1)}) for entry in R.ravel()]).reshape(3, 3)
        slid = self._of((3,), lambda q: motion.pose(q)[1], q)
        if motion.screw is None:
            R = names.matrix(TURNS, f"R_{number}", R, symmetric=False)
            slid = R.T @ slid  # a link that has its place in letters slides in its own axes
        self.place = R, slid

    def __getattr__(self, name: str) -> object:
        if name == "motion":  # which a copy in the making has not yet
            raise AttributeError(name)
        return getattr(self.motion, name)

    def pose(self, q: Array) -> tuple[Array, Array]:
        return self.place

    def subspace(self, q: Array) -> Array:
        if self.motion.constant_subspace:
            return self.motion.subspace(np.zeros(self.motion.nq))
        return self._of((6, self.motion.nv), self.motion.subspace, q)

    def bias(self, q: Array, qd: Array) -> Array:
        return self._of((6,), self.motion.bias, q, qd)

    def _of(self, shape: tuple[int, ...], text: Callable[..., Array], *values: Array | tuple[Any, ...]) -> Array:
        taken = ",".join(f"({len(each)})" for each in values)
        made = kernel(f"{taken}->({','.join(map(str, shape))})")(text).evaluate(SYMPY, *map(list, values))
        return np.array(made.tolist(), dtype=object).reshape(shape)


def _turn(turn: PlanarRotation) -> PlanarRotation:
    return PlanarRotation(_exact(turn.c), _exact(turn.s))


def _numbers(values: Array) -> Array:
    array = np.asarray(values, dtype=object)
    return np.array([_exact(value) for value in array.ravel()] or [], dtype=object).reshape(array.shape)[()]


def _composite(links: Links, q: tuple[Any, ...], names: _Names) -> list[LinkMoments]:
    found = [link.moments for link in links.links]
    for k in reversed(range(len(found))):
        mass, first, second = found[k]
        found[k] = LinkMoments(names.named(BODIES, f"m_{k + 1}_", mass) if links.children[k] else mass,
                           names.vector(BODIES, f"u_{k + 1}", first),
                           names.matrix(BODIES, f"J_{k + 1}", second, symmetric=True))
        link = links.links[k]
        if link.parent != ROOT:
            found[link.parent] = found[link.parent].plus(carried(link, found[k], np.array(q)))
    return found


def _mass_matrix(links: Links, q: tuple[Any, ...], composite: list[LinkMoments], names: _Names) -> list[list[Any]]:
    rows: list[list[Any]] = [[sympy.Integer(0)] * links.nv for _ in range(links.nv)]
    at = np.array(q)
    for number, link in enumerate(links.links):
        for place, column in enumerate(range(link.columns.start, link.columns.stop)):
            f, n = asked_by(composite[number], link.subspace(at)[:, place])
            k: int = number
            while True:
                below = links.links[k]
                f = names.vector(UNITS, f"f_{column + 1}_{k + 1}", f)
                n = names.vector(UNITS, f"n_{column + 1}_{k + 1}", n)
                for row, entry in zip(range(below.columns.start, below.columns.stop),
                                      below.subspace(at).T @ np.concatenate([f, n]), strict=True):
                    rows[row][column] = rows[column][row] = entry
                if below.parent == ROOT:
                    break
                _, (k, f, n) = _two(felt_inwards(links, at, k, f, n))
    return rows


def _two(steps: Iterator[Any]) -> tuple[Any, Any]:
    return next(steps), next(steps)


def _gravity(links: Links, q: tuple[Any, ...], composite: list[LinkMoments], names: _Names) -> list[Any]:
    falls: list[Any] = []
    forces: list[Any] = []
    for k, (link, (mass, first, _)) in enumerate(zip(links.links, composite, strict=True)):
        at = np.array(q)
        g = names.vector(GRAVITY, f"g_{k + 1}",
                         link.outwards(links.gravity if link.parent == ROOT else falls[link.parent], at))
        falls.append(g)
        forces += list(-(link.subspace(at).T @ np.concatenate([mass * g, np.cross(first, g)])))
    return forces


def _forces(links: Links, q: tuple[Any, ...], qd: tuple[Any, ...], qdd: Array, names: _Names) -> list[Any]:
    at = np.array(q)
    found: list[Movement] = []
    for k, link in enumerate(links.links):
        parent = newton_euler.at_rest(links) if link.parent == ROOT else found[link.parent]
        w, dw, _, a = newton_euler.carried(link, parent, at, np.array(qd)[link.columns], qdd[link.columns])
        w = names.vector(VELOCITIES, f"omega_{k + 1}", w)
        dw = names.vector(RATES, f"omegad_{k + 1}", dw)
        W = names.matrix(RATES, f"W_{k + 1}", newton_euler.acceleration_tensor(w, dw), symmetric=False)
        found.append(Movement(w, dw, W, names.vector(RATES, f"a_{k + 1}", a)))
    loads = [newton_euler.own_load(link, movement) for link, movement in zip(links.links, found, strict=True)]
    for k in reversed(range(len(loads))):
        link = links.links[k]
        load = loads[k] = JointLoad(names.vector(FORCES, f"f_{k + 1}", loads[k].f),
                               names.vector(FORCES, f"n_{k + 1}", loads[k].n))
        if link.parent != ROOT:
            _, (_, f, n) = _two(felt_inwards(links, at, k, *load))
            before = loads[link.parent]
            loads[link.parent] = JointLoad(before.f + f, before.n + n)
    return [force for each in newton_euler.joint_forces(links, at, loads) for force in each]


def coriolis_lines(tree: Tree, links: Links, symbols: dict[str, Any]) -> tuple[list[Any], list[Line]]:
    """The entries of C (by rows), and the lines; in letters, if there are symbols of parameters."""
    lean = minimal_links(tree)

    def text(q: Array, qd: Array, *values: Scalar) -> Array:
        given = dict(zip(symbols, values, strict=True))
        return coriolis_matrix(symbolic_links(links, GivenValues(given)) if symbols else lean, q, qd)

    signature = f"({tree.nq}),({tree.nv}){',()' * len(symbols)}->({tree.nv},{tree.nv})"
    inputs = ("q", "qd", *[symbol.name for symbol in symbols.values()])
    program = kernel(signature, name="coriolis_matrix", inputs=inputs, outputs=("C",))(text).program()
    found = equations(program, shared=True)
    return list(found.outputs["C"]), list(found.lines)
