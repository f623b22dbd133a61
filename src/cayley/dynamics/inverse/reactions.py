"""Joint reactions: the force and the moment that the parent gives to the child, the drive's own share included.

Of a mechanism with constraints, the wrenches of what joins two frames (loops, rods) are found first, from the motion
(`cayley.dynamics.inverse.constrained`), and act on the spanning tree. Where constraints are redundant their forces may
change by what does nothing to any body's motion, A^T forces = 0: what changes with them, component by component, does
not follow from the motion, and is NaN.

Of a wrench w in a joint with the directions S, D (S^T w) is what its drive gives, D its `driving_wrenches`; the rest is
what the joint holds by its shape, and does no work on any velocity that it allows. Source: Balafoutis & Patel,
Algorithms 5.3 to 5.7: (5.2.24), (5.2.27), (5.2.35), (5.3.8), (5.3.38), whose recursions are here as methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import ExplanationBeside, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.external_loads import ExternalLoads, at_the_ends, check_axes, load_at_link
from cayley.dynamics.inverse.methods import METHODS as INVERSE_METHODS
from cayley.dynamics.inverse.newton_euler import JointLoad, inverse_dynamics, joint_loads, movements
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.links import Links, at_child, links_of, serial_chain
from cayley.dynamics.rigid_links.methods import KernelWithMethods, MethodKernel
from cayley.errors import UnsupportedError
from cayley.explained_calls import with_explained_calls
from cayley.kinematics.constraints.rows import joining, timed, wrenches_of
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.inverse.constrained import Drives


CHAIN_METHODS = ("luh-walker-paul", "featherstone", "rodriguez", "tensor-newton-euler", "augmented-links")


def chain_loads(method: str, links: Links, q: Array, qd: Array, qdd: Array, acting: dict[str, Any]) -> list[JointLoad]:
    """The force and the moment, about the origin and in the axes of each link, that its joint gives it; `acting` is
    what `ExternalLoads.at_links` says of the world. Loads on earlier links than the last raise an error."""
    base, tip, before = at_the_ends(links, **acting)
    for number, _ in before:
        raise UnsupportedError(
            f"{method} takes wrenches on the last link of {links.name}, and one acts on that of joint "
            f"{links.links[number].name!r}: use the default method, which is for wrenches everywhere")
    module = import_module(INVERSE_METHODS[method].module)
    return [JointLoad(*np.split(wrench, 2)) for wrench in module.reactions(links, q, qd, qdd, base=base, tip=tip)]


DEFAULT = "newton-euler-in-model-frames"
METHODS = {name: INVERSE_METHODS[name] for name in (DEFAULT, *CHAIN_METHODS)}
_CHANGES = 1e-7  # of the largest change: a component that changes less is determined


class WrenchParts(NamedTuple):
    """The wrenches (..., joints, 6) of the drives, and those that joints, loops and rods hold by their shape."""

    actuated: Array
    constraint: Array


@with_explained_calls
class ReactionsUnderLoads(MechanismKernel):
    """The kernel of `joint_reactions.with_inputs(...)`."""

    def parts(self) -> MechanismKernel[WrenchParts]:
        """The kernel of the two parts of the wrenches with the same inputs; see `Reactions.parts`."""
        form, *_ = self.remake.choices
        return _made(self.tree, replace(form, split=True), MechanismKernel)


@with_explained_calls
class Reactions(KernelWithMethods):
    """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), on the children of the moving joints, in their
    order, at the origin and in the axes of the child's body, followed by those of loops and rods on their second
    frames, at the origin and in the axes of these. Along the joint's directions they are the forces of inverse dynamics
    and of couplings, minus the part that friction, springs and rotors take before it reaches the child.
    `.using(method)` is one of the published recursions for chains."""

    @property
    def rows(self) -> tuple[str, ...]:
        """The owners of the wrenches: the names of the moving joints, and of loops and rods."""
        return (*self.tree.joint_names, *[each.name for each, _ in joining(self.tree)])

    @property
    def determined(self) -> Array:
        """(joints, 6): which components follow from the motion; the others are NaN."""
        return _determined(self.tree, "body")

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body", base_motion: bool = False,
                    result_axes: str = "body", method: str | None = None) -> ReactionsUnderLoads:
        """The kernel with more inputs: those of `inverse_dynamics.with_inputs`. `result_axes`: those of the children
        ("body"), or of the root ("world"); the points stay the origins of the children.

        >>> arm = cy.load("s1_f3")
        >>> pushed = arm.joint_reactions.with_inputs(wrenches=["link2"], axes="world", result_axes="world")
        >>> pushed([0.3, 0.8], [0.0, 0.0], [0.0, 0.0], [10.0, 0.0, 0.0, 0.0, 0.0, 0.0])[:, :3].round(9) + 0.0
        array([[-10.   ,  34.335,   0.   ],
               [-10.   ,  14.715,   0.   ]])
        """
        method = method or DEFAULT
        self.check_method(method)
        check_axes(result_axes)
        form = Form(ExternalLoads(tuple(wrenches), axes, base_motion), result_axes, method)
        return _made(self.tree, form, ReactionsUnderLoads)

    def parts(self, *, wrenches: Sequence[str] = (), axes: str = "body", base_motion: bool = False,
              result_axes: str = "body", method: str = DEFAULT) -> MechanismKernel[WrenchParts]:
        """The kernel of the two parts of the wrenches, which add up to them: `actuated`, what the drives give to the
        children, a moment about what turns and a force along what slides, and `constraint`, which does no work on any
        velocity that the joints allow. Of loops and rods all is constraint. The rest as in `with_inputs`, whose kernel
        has its `parts()`, too.

        >>> found = cy.load("s1_f2").joint_reactions.parts()([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        >>> found.actuated[:, 5], found.constraint[:, 5].round(12) + 0.0
        (array([15.20009968,  2.87612016]), array([0., 0.]))
        """
        return self.with_inputs(wrenches=wrenches, axes=axes, base_motion=base_motion, result_axes=result_axes,
                                method=method).parts()


@dataclass(frozen=True)
class Form:
    """The form of the wrenches: under which loads, in which axes, by which method, in parts or whole."""

    external: ExternalLoads = field(default_factory=ExternalLoads)
    axes: str = "body"
    method: str = DEFAULT
    split: bool = False


def reactions_kernel(tree: Tree) -> Reactions:
    """The reactions of a mechanism on which nothing acts but gravity; `.with_inputs(...)` has the rest."""
    default = _made(tree, Form(), Reactions)
    return default.with_methods(tree, METHODS, lambda method: _made(tree, Form(method=method), MethodKernel),
                                made_by=reactions_kernel)


def _made(tree: Tree, form: Form, kind: type[Made]) -> Made:
    if not tree.is_constrained:
        return _kernel(tree, form, None, None, kind)
    from cayley.dynamics.inverse.constrained import drives_of  # which few mechanisms need
    return _kernel(tree, form, drives_of(tree), _determined(tree, form.axes), kind)


@of_a_mechanism
def _kernel(tree: Tree, form: Form, drives: Drives | None, determined: Array | None, kind: type[Made]) -> Made:
    free = tree.spanning_tree()
    external = form.external
    by_tree = form.method == DEFAULT
    links = links_of(free) if by_tree else serial_chain(tree)
    unknown = 0.0 if determined is None or determined.all() else np.where(determined, 0.0, np.nan)
    for frame in external.frames:
        tree.frame(frame)  # a wrong name is told now

    def joint_reactions(q: Array, qd: Array, qdd: Array, *more: Array) -> Array | WrenchParts:
        acting = external.at_links(links, free, q, more)
        t = more[len(external.names):]
        forces = np.zeros(0)
        if drives is not None:
            needed = inverse_dynamics(links, q, qd, qdd, **acting) + drive_forces(free, q, qd, qdd)
            forces = _spread(drives, drives.forces(tree, q, needed, *t, turned=False).lam)
        if by_tree:
            moved = movements(links, q, qd, qdd, acting["base"])
            whole = _wrenches(tree, links, (q, *t), forces,
                              lambda loads: joint_loads(links, q, moved, [*acting["loads"], *loads]))
        else:
            found = chain_loads(form.method, links, q, qd, qdd, acting)
            whole = _wrenches(tree, links, (q, *t), forces, lambda loads: found)
        if not form.split:
            return unknown + _resolved(tree, q, whole, form.axes)
        actuated = _driven(tree, q, whole)
        held = _resolved(tree, q, whole - actuated, form.axes)
        return WrenchParts(_resolved(tree, q, actuated, form.axes), unknown + held)

    axes = "of the root" if form.axes == "world" else "of the children"
    described(
        tree, joint_reactions,
        f"Wrenches (f; m) [N; N m] that parents give to children through the moving joints, at the origins of the "
        f"children and in the axes {axes}{': of the drives, and of the constraints' if form.split else ''}.",
        " ".join(filter(None, [external.words, _words(tree, determined)])))
    size = f"({len(tree.joint_names) + len(joining(tree))},6)"
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}{',()' if tree.is_timed else ''}->"
                              f"{f'{size},{size}' if form.split else size}"),
                  outputs=WrenchParts._fields if form.split else ("wrenches", ), units=units_of(tree),
                  inputs=timed(tree, ("q", "qd", "qdd", *external.names)), kind=kind,
                  explain=_explanation(tree, drives, determined),
                  alone=drives.alone(tree) if drives else None)(joint_reactions)


def _driven(tree: Tree, q: Array, wrenches: Array) -> Array:
    moving = [(joint.motion, tree.q_slices[k]) for k, joint in enumerate(tree.joints) if joint.motion.nv]
    found = [motion.driving_wrenches(q[own]) @ (motion.subspace(q[own]).T @ wrench)
             for (motion, own), wrench in zip(moving, wrenches, strict=False)]
    return np.stack([*found, *[np.zeros(6)] * len(joining(tree))]) if len(wrenches) else wrenches


def _resolved(tree: Tree, q: Array, wrenches: Array, axes: str) -> Array:
    """Wrenches in the axes of the children and of second frames, or of the root."""
    if axes == "body" or not len(wrenches):
        return wrenches
    poses = body_poses(tree, q)
    turns = [poses[number + 1].R for number, joint in enumerate(tree.joints) if joint.motion.nv]
    turns += [frame_pose(tree, q, each.frames[1]).R for each, _ in joining(tree)]
    return np.stack([np.concatenate([R @ w[:3], R @ w[3:]]) for R, w in zip(turns, wrenches, strict=True)])


def _words(tree: Tree, determined: Array | None) -> str:
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
              balanced: Callable[[list[tuple[int, JointLoad]]], list[JointLoad]]) -> Array:
    """The wrenches of all rows at a configuration (and time), by the forces of the constraints."""
    q, *t = at
    ends = [wrenches_of(tree, each, q, forces[rows], *t) for each, rows in joining(tree)]
    loads = [load_at_link(links, tree, q, frame, wrench, "body")
             for (each, _), pair in zip(joining(tree), ends, strict=True)
             for frame, wrench in zip(each.frames, pair, strict=True)]
    through = balanced(loads)
    found = [*[at_child(np.concatenate(through[number]), pose) for number, pose in links.places_of_children(tree)],
             *[second for _, second in ends]]
    return np.stack(found) if found else np.zeros((0, 6))


def _determined(tree: Tree, axes: str) -> Array:
    """Flags of the components (rows, 6) that no forces of the constraints change that balance each other, A^T forces =
    0, at some configurations that are not special; found once."""
    return kept(tree, ("determined reactions", axes), lambda: _search_determined(tree, axes))


def _search_determined(tree: Tree, axes: str) -> Array:
    found = np.ones((len(tree.joint_names) + len(joining(tree)), 6), dtype=bool)
    if not tree.is_constrained:
        return found
    from cayley.kinematics.constraints.structure import generic_configurations
    links = links_of(tree.spanning_tree())
    rest = np.zeros(tree.nv)
    known = generic_configurations(tree)
    for at in (known[0], known[-1]):  # which need not be assembled in the same way
        balanced_among_themselves = null_basis(at.A.T, at.rank).T
        if not len(balanced_among_themselves):
            break
        moved = movements(links, at.q, rest, rest)
        felt = partial(_wrenches, tree, links, (at.q, *at.time), balanced=partial(joint_loads, links, at.q, moved))
        without = felt(forces=np.zeros(len(at.A)))
        for forces in balanced_among_themselves:
            change = np.abs(_resolved(tree, at.q, felt(forces=forces) - without, axes))
            found &= change <= _CHANGES * change.max(initial=0.0)
    return found
