"""Newton and Euler's equations in screw-matrix form, for one body about any point of it and for a chain.

    V   (v; w)   velocity of the reference point and angular velocity
    F   (p; L)   momentum and moment of momentum about it
    f   (f; n)   force and moment about the reference point
    phi          the 6x6 inertia [[m 1, -u~], [u~, J]], u = m s the first moment and J the inertia about the reference
                 point
    F = phi V          dF/dt + V^x F = f, the derivative in the body's axes
Screws of bodies are about their origins and in their axes. Source: Mladenova (164)-(167), section 4.3; spec S0-72."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.dynamics.inverse.external_loads import ExternalLoads
from cayley.dynamics.inverse.newton_euler import JointLoad
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, serial_chain
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.errors import UnsupportedError
from cayley.explained_calls import with_explained_calls
from cayley.geometry.spatial import force_cross, force_transform, motion_transform, spatial_inertia
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree


def screw_inertia(moments: LinkMoments) -> Array:
    """phi (6, 6) about the origin of the frame of the moments. Mladenova (167).

    >>> np.diag(screw_inertia(LinkMoments(2.0, np.array([0.0, 0.0, 1.0]), np.diag([0.0, 0.0, 0.5]))))
    array([2. , 2. , 2. , 0.5, 0.5, 0. ])
    """
    return spatial_inertia(moments.mass, moments.first, moments.inertia)


def screw_cross(V: Array) -> Array:
    """V^x (6, 6), which carries a momentum screw along: [[w~, 0], [v~, w~]]. Mladenova (165)."""
    return force_cross(V)


class ChainScrews(NamedTuple):
    """The screws of every link, about its origin and in its axes (6): how it moves, its momentum, and the force screw
    that its joint gives it, for itself and all that it carries."""

    V: list[Array]
    F: list[Array]
    f: list[Array]


def chain_screws(links: Links, q: Array, qd: Array, qdd: Array, *, loads: Iterable[tuple[int, JointLoad]] = ()
                 ) -> ChainScrews:
    """Motion and momentum screws outwards, force screws inwards. `loads`: links and what acts on them from outside, at
    their origins and in their axes."""
    V = np.zeros(6)
    dV = np.concatenate([-links.gravity, np.zeros(3)])
    moved = []
    momenta = []
    forces = []
    for link, rate, change in zip(links.links, qd, qdd, strict=True):
        axis = link.subspace(q)[:, 0]
        V = _outwards(link, V, q) + axis * rate  # (164)
        dV = _outwards(link, dV, q) + axis * change - screw_cross(V).T @ (axis * rate)  # (164), its derivative
        phi = screw_inertia(link.moments)
        moved.append(V)
        momenta.append(phi @ V)  # (164)
        forces.append(phi @ dV + screw_cross(V) @ momenta[-1])  # (166)
    for number, load in loads:
        if number != ROOT:
            forces[number] = forces[number] - np.concatenate([load.f, load.n])
    for k in reversed(range(1, len(forces))):
        forces[k - 1] = forces[k - 1] + _inwards(links.links[k], forces[k], q)  # (166), of all that is carried
    return ChainScrews(moved, momenta, forces)


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) of a chain of revolute and prismatic joints: of each force screw what is along the axis."""
    return along_the_axes(links, q, chain_screws(links, q, qd, qdd))


def along_the_axes(links: Links, q: Array, screws: ChainScrews) -> Array:
    """The joint forces (n) of force screws."""
    forces = [link.subspace(q)[:, 0] @ f for link, f in zip(links.links, screws.f, strict=True)]
    return np.stack(forces) if forces else np.zeros(0)


def _outwards(link: Link, V: Array, q: Array) -> Array:
    """A motion screw about the origin of the parent, seen from the link."""
    v = V[:3]
    w = V[3:]
    return np.concatenate([link.outwards(v + np.cross(w, link.offset(q)), q), link.outwards(w, q)])


def _inwards(link: Link, f: Array, q: Array) -> Array:
    """A force screw about the origin of the link, seen from its parent."""
    force = link.inwards(f[:3], q)
    return np.concatenate([force, link.inwards(f[3:], q) + np.cross(link.offset(q), force)])


class LinkScrews(NamedTuple):
    """Rows of the moving joints, each of the joint's child: `velocity` (v; w) [m/s; rad/s], `momentum` (p; L) [kg m/s;
    kg m^2/s] and `force` (f; n) [N; N m], what the joint gives to the child, with gravity's share in it. `tau` are the
    joint forces (nv)."""

    velocity: Array
    momentum: Array
    force: Array
    tau: Array


@with_explained_calls
class BodyScrews(MechanismKernel[LinkScrews]):
    """`body_screws(q, qd, qdd)`: the screws (..., joints, 6) of the bodies of an open chain, and its joint forces."""

    def __reduce__(self) -> tuple[Callable[[Tree], BodyScrews], tuple[Tree]]:
        """Pickled as the tree, so that inputs are there where it arrives."""
        return body_screws_kernel, (self.tree,)

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel[LinkScrews]:
        """The kernel with more inputs: a wrench (..., 6), (f; m), acting on the chain at the origin of each named
        frame, the tip or another, in its own axes or those of the "world". The base is at rest."""
        if base_motion:
            raise UnsupportedError("the screws of a chain are those on a base at rest: inverse_dynamics and "
                                   "joint_reactions have with_inputs(base_motion=True)")
        return _made(self.tree, ExternalLoads(tuple(wrenches), axes), MechanismKernel)


def body_screws_kernel(tree: Tree) -> BodyScrews:
    """The screws of a chain on which nothing acts but gravity; `.with_inputs(...)` has the rest."""
    return _made(tree, ExternalLoads(), BodyScrews)


@of_a_mechanism
def _made(tree: Tree, external: ExternalLoads, kind: type[Made]) -> Made:
    links = serial_chain(tree)
    for frame in external.frames:
        tree.frame(frame)  # a wrong name is told now

    def body_screws(q: Array, qd: Array, qdd: Array, *wrenches: Array) -> LinkScrews:
        found = chain_screws(links, q, qd, qdd, loads=external.at_links(links, tree, q, wrenches)["loads"])
        tau = along_the_axes(links, q, found) + drive_forces(tree, q, qd, qdd)
        return LinkScrews(_at_bodies(tree, links, found.V, motion=True), _at_bodies(tree, links, found.F, motion=False),
                      _at_bodies(tree, links, found.f, motion=False), tau)

    described(tree, body_screws, "Velocity-, momentum- and force-screws of every body, at its origin and in its axes; "
              "and the joint forces.", external.words)
    rows = len(tree.joint_names)
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}->({rows},6),({rows},6),({rows},6),(v)"),
                  units=units_of(tree), inputs=("q", "qd", "qdd", *external.names), outputs=LinkScrews._fields,
                  kind=kind)(body_screws)


def _at_bodies(tree: Tree, links: Links, screws: list[Array], *, motion: bool) -> Array:
    """Screws of links as those of the children of the moving joints."""
    seen = motion_transform if motion else force_transform
    rows = [seen(*pose.inverse) @ screws[number] for number, pose in links.places_of_children(tree)]
    return np.stack(rows) if rows else np.zeros((0, 6))
