"""What each joint transmits: the force and the moment that the parent gives to the child, the drive's own share
included.

Of a mechanism with constraints, the wrenches of what joins two frames (loops, rods) are found first, from the motion
(`cayley.dynamics.inverse.constrained`), and act on the spanning tree. Where constraints are redundant their forces may
change by what does nothing to any body's motion, A^T forces = 0: what changes with them, component by component, does
not follow from the motion, and is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.kernel import ExplanationBeside, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.external_loads import ExternalLoads, load_at_link
from cayley.dynamics.inverse.newton_euler import Load, inverse_dynamics, joint_loads, movements
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.links import ROOT, Links, links_of
from cayley.kinematics.constraint_wrenches import joining, wrenches_of
from cayley.kinematics.constraints import timed
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.inverse.constrained import Drives

_CHANGES = 1e-7  # of the largest change: a component that changes less is determined


class Reactions(MechanismKernel):
    """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), that parents give to children through the
    moving joints, in their order, at the origin and in the axes of the child's body; then those that what joins two
    frames, loops and rods, gives to the second, at its origin and in its axes. Along the joint's directions they are
    the forces of inverse dynamics, and of couplings."""

    def __reduce__(self) -> tuple[Callable[[Tree], Reactions], tuple[Tree]]:
        """Pickled as the tree, so that names and inputs are there where it arrives."""
        return reactions_kernel, (self.tree,)

    @property
    def rows(self) -> tuple[str, ...]:
        """Whose the wrenches are: the names of the moving joints, and of loops and rods."""
        return (*self.tree.joint_names, *[each.name for each, _ in joining(self.tree)])

    @property
    def determined(self) -> Array:
        """(joints, 6): which components follow from the motion; the others are NaN."""
        return kept(self.tree, "determined reactions", lambda: _determined(self.tree))

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel:
        """The kernel with more inputs: those of `inverse_dynamics.with_inputs`."""
        return _made(self.tree, ExternalLoads(tuple(wrenches), axes, base_motion), MechanismKernel)


def reactions_kernel(tree: Tree) -> Reactions:
    """The reactions of a mechanism on which nothing acts but gravity; `.with_inputs(...)` has the rest."""
    return _made(tree, ExternalLoads(), Reactions)


def _made(tree: Tree, external: ExternalLoads, kind: type[Made]) -> Made:
    if not tree.is_constrained:
        return _kernel(tree, external, None, None, kind)
    from cayley.dynamics.inverse.constrained import drives_of  # which few mechanisms need
    return _kernel(tree, external, drives_of(tree), kept(tree, "determined reactions", lambda: _determined(tree)), kind)


@of_a_mechanism
def _kernel(tree: Tree, external: ExternalLoads, drives: Drives | None, determined: Array | None,
            kind: type[Made]) -> Made:
    free = tree.spanning_tree()
    links = links_of(free)
    known = 0.0 if determined is None or determined.all() else np.where(determined, 0.0, np.nan)
    for frame in external.frames:
        tree.frame(frame)  # a wrong name is told now

    def joint_reactions(q: Array, qd: Array, qdd: Array, *more: Array) -> Array:
        acting = external.at_links(links, free, q, more)
        t = more[len(external.names):]
        moved = movements(links, q, qd, qdd, acting["base"])
        forces = np.zeros(0)
        if drives is not None:
            needed = inverse_dynamics(links, q, qd, qdd, **acting) + drive_forces(free, q, qd, qdd)
            forces = _spread(drives, drives.forces(tree, q, needed, *t, turned=False).lam)
        return known + _wrenches(tree, links, (q, *t), forces,
                                 lambda loads: joint_loads(links, q, moved, [*acting["loads"], *loads]))

    described(
        tree, joint_reactions,
        "Wrenches (f; m) [N; N m] that parents give to children through the moving joints, at the origins and "
        "in the axes of the children.", " ".join(filter(None, [external.words, _words(tree, determined)])))
    rows = len(tree.joint_names) + len(joining(tree))
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}{',()' if tree.is_timed else ''}->({rows},6)"),
                  outputs=("wrenches", ), units=units_of(tree),
                  inputs=timed(tree, ("q", "qd", "qdd", *external.names)), kind=kind,
                  explain=_explanation(tree, drives, determined))(joint_reactions)


def _words(tree: Tree, determined: Array | None) -> str:
    """What the last rows are, and that some components are not known, of a mechanism with constraints."""
    last = [each.name for each, _ in joining(tree)]
    more = [f"Then those of {', '.join(last)} upon their second frames."] if last else []
    if determined is not None and not determined.all():
        more.append("NaN where redundant constraints leave a component undetermined.")
    return " ".join(more)


def _explanation(tree: Tree, drives: Drives | None, determined: Array | None) -> Callable[..., None] | None:
    if drives is None or determined is None:
        return None
    from cayley.dynamics.inverse.constrained import explanation_of_drives
    return ExplanationBeside(explanation_of_drives(tree, drives), ~determined)


def _spread(drives: Drives, lam: Array) -> Array:
    """Forces of all rows of the constraints, zero for those that others stand for."""
    found = dict(zip(drives.rows, lam, strict=True))
    return np.array([found.get(k, 0.0) for k in range(len(drives.structure.rows))])


def _wrenches(tree: Tree, links: Links, at: tuple[Scalar, ...], forces: Array,
              balanced: Callable[[list[tuple[int, Load]]], list[Load]]) -> Array:
    """The wrenches of all rows at a configuration (and time), by the forces of the constraints."""
    q, *t = at
    ends = [wrenches_of(tree, each, q, forces[rows], *t) for each, rows in joining(tree)]
    loads = [load_at_link(links, tree, q, frame, wrench, "body")
             for (each, _), pair in zip(joining(tree), ends, strict=True)
             for frame, wrench in zip(each.frames, pair, strict=True)]
    found = [*_through_joints(tree, links, balanced(loads)), *[second for _, second in ends]]
    return np.stack(found) if found else np.zeros((0, 6))


def _through_joints(tree: Tree, links: Links, found: list[Load]) -> Iterator[Array]:
    """The loads (6) of the moving joints, at the origins and in the axes of the children."""
    for joint in tree.joints:
        if joint.motion.nv:
            number, pose = links.bodies[joint.child]
            assert number != ROOT
            R = pose[:3, :3]
            p = pose[:3, 3]
            f, n = found[number]
            yield np.concatenate([R.T @ f, R.T @ (n - np.cross(p, f))])


def _determined(tree: Tree) -> Array:
    """Which components (rows, 6) no forces of the constraints change that balance each other, A^T forces = 0, at some
    configurations that are not special."""
    found = np.ones((len(tree.joint_names) + len(joining(tree)), 6), dtype=bool)
    if not tree.is_constrained:
        return found
    from cayley.kinematics.constraint_structure import generic_configurations
    links = links_of(tree.spanning_tree())
    rest = np.zeros(tree.nv)
    known = generic_configurations(tree)
    for at in (known[0], known[-1]):  # which need not be assembled in the same way
        balanced_among_themselves = np.linalg.svd(at.A)[0][:, at.rank:].T
        if not len(balanced_among_themselves):
            break
        moved = movements(links, at.q, rest, rest)
        felt = partial(_wrenches, tree, links, (at.q, *at.time), balanced=partial(joint_loads, links, at.q, moved))
        without = felt(forces=np.zeros(len(at.A)))
        for forces in balanced_among_themselves:
            change = np.abs(felt(forces=forces) - without)
            found &= change <= _CHANGES * change.max(initial=0.0)
    return found
