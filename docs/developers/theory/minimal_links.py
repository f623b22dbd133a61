"""What each trick of minimal links saves: multiplications and additions of inverse dynamics, with it and without it.

Run `python docs/developers/theory/minimal_links.py` to print the tables of inverse_dynamics.md; the tests compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import cayley as cy
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.inverse.newton_euler import JointLoad, Movement, inverse_dynamics
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, links_of
from cayley.dynamics.rigid_links.minimal_links import grouped, in_minimal_frames, without_unseen_turns
from cayley.model.tree import Tree

Text = Callable[[Links, Any, Any, Any], Any]
SEED = 6


def general_6r() -> Tree:
    """Six revolute joints in modified Denavit-Hartenberg frames, no number of which is special."""
    random = np.random.default_rng(SEED)
    table = [(0.0, *random.uniform(0.2, 0.8, 2), random.uniform(0.5, 1.1)) for _ in range(6)]
    arm = cy.Mechanism.from_dh(table, convention="modified", name="general 6R")
    moving = [
        replace(body, mass=m, center=c, inertia=s @ s.T + np.diag(d)) if number else body
        for number, (body, m, c, s, d) in enumerate(
            zip(arm.bodies, random.uniform(1, 3, 7), *(random.uniform(0.1, 0.9, (7, *k))
                                                       for k in [(3,), (3, 3), (3,)]), strict=True))]
    return Tree.of(arm.name, moving, arm.joints)


ARMS: dict[str, Callable[[], Tree]] = {"PUMA 560": lambda: cy.load("puma560").tree,
                                       "Panda": lambda: cy.load("panda").tree,
                                       "general 6R": general_6r}


def cost(links: Links, text: Text = inverse_dynamics) -> str:
    """Multiplications + additions of the graph that is compiled."""
    n = links.nq
    counted = cy.kernel(f"({n}),({n}),({n})->({n})")(lambda q, qd, qdd: text(links, q, qd, qdd)).operations()
    return f"{counted.multiplications} + {counted.additions}"


# Frames anywhere: the rotation between neighbours is a full matrix


@dataclass(frozen=True, eq=False)
class AnywhereLink(Link):
    """A link with a rotation matrix M0 + cos M1 + sin M2 instead of two planar turns."""

    parts: tuple[np.ndarray, ...] = ()

    def inwards(self, x: Any, q: Any) -> Any:
        return self._matrix(q) @ x

    def outwards(self, x: Any, q: Any) -> Any:
        return self._matrix(q).T @ x

    def _matrix(self, q: Any) -> Any:
        still, cosine, sine = self.parts
        angle = q[self.coordinates][0]
        return still + np.cos(angle) * cosine + np.sin(angle) * sine


def anywhere(links: Links) -> Links:
    """The same links in axes that have nothing to do with the joints."""
    random = np.random.default_rng(SEED)
    turns = [np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in links.links]
    turns = [turn * np.sign(np.linalg.det(turn)) for turn in turns]
    found = [_anywhere(link, turn, np.eye(3) if link.parent == ROOT else turns[link.parent], links.nq)
             for link, turn in zip(links.links, turns, strict=True)]
    return replace(links, links=tuple(found))


def _anywhere(link: Link, own: np.ndarray, parents: np.ndarray, nq: int) -> AnywhereLink:
    def at(angle: float) -> np.ndarray:
        q = np.full(nq, angle)
        return parents.T @ link.rotation(q) @ own

    still, half, quarter = at(0.0), at(np.pi), at(np.pi / 2)
    parts = ((still + half) / 2, (still - half) / 2, quarter - (still + half) / 2)
    placement = link.placement.copy()
    placement[:3, 3] = parents.T @ placement[:3, 3]
    turned = replace(link.motion, axis=tuple((own.T @ [0.0, 0.0, 1.0]).tolist()))
    return AnywhereLink(link.name, link.parent, turned, link.coordinates, link.columns, placement,
                        link.moments.seen_from(own.T, np.zeros(3)), parts=parts)


# Vectors instead of the tensor W


def by_vectors(links: Links, q: Any, qd: Any, qdd: Any) -> Any:
    """The same recursion with cross products, and the inertia tensor instead of Euler's."""
    moved: list[Movement] = []
    root = newton_euler.at_rest(links)
    for link in links.links:
        parent = root if link.parent == ROOT else moved[link.parent]
        moved.append(_carried(link, parent, q, qd[link.columns], qdd[link.columns]))
    own = [_own_load(link, movement) for link, movement in zip(links.links, moved, strict=True)]
    for number in reversed(range(len(own))):
        link = links.links[number]
        if link.parent != ROOT:
            f, n = link.inwards(own[number].f, q), link.inwards(own[number].n, q)
            before = own[link.parent]
            own[link.parent] = JointLoad(before.f + f, before.n + n + np.cross(link.offset(q), f))
    return np.concatenate(newton_euler.joint_forces(links, q, own))


def _carried(link: Link, parent: Movement, q: Any, qd: Any, qdd: Any) -> Movement:
    turn, dturn = (link.subspace(q) @ qd)[3:], (link.subspace(q) @ qdd)[3:]
    before, s = link.outwards(parent.w, q), link.offset(q)
    dw = link.outwards(parent.dw, q) + np.cross(before, turn) + dturn
    a = link.outwards(parent.a + np.cross(parent.dw, s) + np.cross(parent.w, np.cross(parent.w, s)), q)
    return Movement(before + turn, dw, None, a)


def _own_load(link: Link, movement: Movement) -> JointLoad:
    m, u, _ = link.moments
    inertia, (w, dw, _, a) = link.moments.inertia, movement
    return JointLoad(m * a + np.cross(dw, u) + np.cross(w, np.cross(w, u)),
                inertia @ dw + np.cross(w, inertia @ w) + np.cross(u, a))


# The tables

STEPS: dict[str, Callable[[Links], tuple[Links, Text]]] = {
    "frames anywhere, vectors": lambda links: (anywhere(links), by_vectors),
    "frames on the axes": lambda links: (links, by_vectors),
    "the tensor W for forces and moments": lambda links: (links, inverse_dynamics),
    "origins on the common normals": lambda links: (in_minimal_frames(links), inverse_dynamics),
    "base parameters, massless links": lambda links: (grouped(in_minimal_frames(links)), inverse_dynamics),
    "turns that nobody sees": lambda links: (without_unseen_turns(grouped(in_minimal_frames(links))), inverse_dynamics),
}
WITHOUT: dict[str, Callable[[Links], tuple[Links, Text]]] = {
    "nothing left out": STEPS["turns that nobody sees"],
    "without W": lambda links: (without_unseen_turns(grouped(in_minimal_frames(links))), by_vectors),
    "without origins on the common normals": lambda links: (without_unseen_turns(grouped(links)), inverse_dynamics),
    "without base parameters": lambda links: (without_unseen_turns(in_minimal_frames(links)), inverse_dynamics),
    "without unseen turns": lambda links: (grouped(in_minimal_frames(links)), inverse_dynamics),
}


def rows(choices: dict[str, Callable[[Links], tuple[Links, Text]]]) -> list[str]:
    """The lines of a table, a column for each arm."""
    arms = [links_of(make()) for make in ARMS.values()]
    head = f"| multiplications + additions | {' | '.join(ARMS)} |\n| --- |{' ---: |' * len(arms)}"
    return [
        *head.split("\n"),
        *[f"| {name} | {' | '.join(cost(*change(links)) for links in arms)} |" for name, change in choices.items()]]


if __name__ == "__main__":
    print("\n".join([*rows(STEPS), "", *rows(WITHOUT)]))
