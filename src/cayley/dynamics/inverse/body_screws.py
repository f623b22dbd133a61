"""The screws of every body of an open chain, as a kernel: motion, momentum and force, and the joint forces.

The recursion is that of `cayley.dynamics.inverse.screws`, for chains of revolute and prismatic joints; here its screws
are about the origins of the bodies and in their axes. Source: Mladenova (164)-(167), section 4.3; spec S0-72.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.dynamics.inverse.external_loads import ExternalLoads
from cayley.dynamics.inverse.screws import along_the_axes, chain_screws
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.links import Links, serial_chain
from cayley.errors import UnsupportedError
from cayley.geometry.spatial import force_transform, motion_transform
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree


class Screws(NamedTuple):
    """Rows of the moving joints, each of the joint's child: `velocity` (v; w) [m/s; rad/s], `momentum` (p; L) [kg m/s;
    kg m^2/s] and `force` (f; n) [N; N m], what the joint gives to the child, with gravity's share in it. `tau` are the
    joint forces (nv)."""

    velocity: Array
    momentum: Array
    force: Array
    tau: Array


class BodyScrews(MechanismKernel[Screws]):
    """`body_screws(q, qd, qdd)`: the screws (..., joints, 6) of the bodies of an open chain, and its joint forces."""

    def __reduce__(self) -> tuple[Callable[[Tree], BodyScrews], tuple[Tree]]:
        """Pickled as the tree, so that inputs are there where it arrives."""
        return body_screws_kernel, (self.tree,)

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel[Screws]:
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

    def body_screws(q: Array, qd: Array, qdd: Array, *wrenches: Array) -> Screws:
        found = chain_screws(links, q, qd, qdd, loads=external.at_links(links, tree, q, wrenches)["loads"])
        tau = along_the_axes(links, q, found) + drive_forces(tree, q, qd, qdd)
        return Screws(_at_bodies(tree, links, found.V, motion=True), _at_bodies(tree, links, found.F, motion=False),
                      _at_bodies(tree, links, found.f, motion=False), tau)

    described(tree, body_screws, "Velocity-, momentum- and force-screws of every body, at its origin and in its axes; "
              "and the joint forces.", external.words)
    rows = len(tree.joint_names)
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}->({rows},6),({rows},6),({rows},6),(v)"),
                  units=units_of(tree), inputs=("q", "qd", "qdd", *external.names), outputs=Screws._fields,
                  kind=kind)(body_screws)


def _at_bodies(tree: Tree, links: Links, screws: list[Array], *, motion: bool) -> Array:
    """Screws of links as those of the children of the moving joints."""
    rows = []
    for joint in tree.joints:
        if joint.motion.nv:
            number, pose = links.bodies[joint.child]
            R = pose[:3, :3].T
            there = -R @ pose[:3, 3]  # the link's origin, seen from the body
            rows.append((motion_transform if motion else force_transform)(R, there) @ screws[number])
    return np.stack(rows) if rows else np.zeros((0, 6))
