"""Writer of MJCF files. Parts that MJCF cannot hold raise an error that names them, or are left out and named in a
comment.

The coordinates are the mechanism's own, in the same order: MuJoCo's `qpos` is q. A universal joint becomes two hinges
of one body, a planar one two slides and a hinge, so that they come back from `load_mjcf` as joints of their own; so
does a floating joint that does not count from the origin of the world, as three slides and a ball. Loops and other
constraints are written by `mjcf_equalities`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.model.formats.format import check_holds
from cayley.model.formats.mjcf_equalities import EqualityText
from cayley.model.formats.xml_elements import indented, left_out_comments, quoted, words
from cayley.model.joint_kinds.motion import Axis
from cayley.model.named_configurations import NamedConfigurations
from cayley.model.parts import Body, Frame, Friction, Joint
from cayley.model.spring_kinds import LinearSpring
from cayley.model.tree import Tree

_ROUNDING = 1e-12  # of the largest principal moment: so much may be missing from a possible inertia


def dump_mjcf(tree: Tree, *, leave_out: bool = False) -> str:
    """The mechanism as the text of an MJCF file; MuJoCo's poses at `qpos` = q are its own, to 1e-10.

    Named frames become sites; the root is the world if it is called so, and a fixed body otherwise. `UnsupportedError`
    for what has no form at all: helical joints, loops that are neither spherical, fixed nor revolute. So for limits of
    velocity, limits on one side, empty ones, those of spherical and floating joints, and what MuJoCo does not take,
    bodies that move without mass or inertia and inertias that are not physical, unless `leave_out`: then a comment
    names them, such bodies get 1e-9 kg, and such inertias are balanced by MuJoCo. Of a rotor, the inertia that the
    joint feels is kept.

    >>> from cayley.model.joint_kinds import Revolute
    >>> bodies = [Body("world"), Body("rod", 2.0, [0, 0, 1], np.eye(3))]
    >>> print(dump_mjcf(Tree.of("rod", bodies, [Joint("pivot", "world", "rod", Revolute())])))
    <mujoco model="rod">
      <compiler angle="radian" inertiafromgeom="false"/>
      <option gravity="0.0 0.0 -9.81"/>
      <worldbody>
        <body name="rod">
          <joint name="pivot" type="hinge" axis="0.0 0.0 1.0"/>
          <inertial pos="0.0 0.0 1.0" mass="2.0" diaginertia="1.0 1.0 1.0"/>
        </body>
      </worldbody>
    </mujoco>
    """
    _check(tree)
    equality = EqualityText(tree)
    light = list(_too_light(tree))
    odd = [f"the inertia of body {body.name!r}, which is not physical" for body in tree.bodies if _is_odd(body)]
    lost = [*_lost(tree), *light, *odd]
    check_holds("MJCF", tree, lost, leave_out=leave_out)
    amends = ' boundmass="1e-09" boundinertia="1e-12"' * bool(light) + ' balanceinertia="true"' * bool(odd)
    lines = [
        f"<mujoco model={quoted(tree.name)}>",
        *left_out_comments("MJCF", lost), f'  <compiler angle="radian" inertiafromgeom="false"{amends}/>',
        f'  <option gravity="{words(tree.gravity)}"/>', "  <worldbody>",
        *indented(_world(tree, [*tree.frames, *equality.sites.values()]), 2), "  </worldbody>"]
    motors = [
        line for joint in tree.joints if tree.actuated and joint.name in tree.actuated for line in _motors(tree, joint)]
    keys = [f'<key name={quoted(name)} qpos="{words(q)}"/>' for name, q in NamedConfigurations(tree).items()]
    for tag, found in (("tendon", equality.tendons), ("equality", equality.equalities), ("actuator", motors),
                       ("keyframe", keys)):
        if found:
            lines += [f"  <{tag}>", *indented(found, 2), f"  </{tag}>"]
    return "\n".join([*lines, "</mujoco>", ""])


# What cannot be said


def _check(tree: Tree) -> None:
    for joint in tree.joints:
        if joint.motion.mjcf is None:
            raise UnsupportedError(
                f"MJCF has no form for joint {joint.name!r} of {tree.name}, which is {joint.motion.word}")
    sites = {frame.name for frame in tree.frames}
    for body in tree.bodies:
        if body.name in sites:
            raise UnsupportedError(
                f"the frame {body.name!r} of {tree.name} has the name of a body: `load_mjcf` could not tell them apart")


def _lost(tree: Tree) -> Iterator[str]:
    if tree.actuated == ():
        yield "that no joint is actuated"
    for joint in tree.joints:
        limits = joint.limits
        if np.isfinite(limits.velocity).any():
            yield f"the velocity limits of joint {joint.name!r}"
        for low, high in zip(limits.lower, limits.upper, strict=True):
            if np.isfinite(low) != np.isfinite(high):
                yield f"the limit on one side of joint {joint.name!r}"
            elif low == high:
                yield f"the empty range of joint {joint.name!r}"
        if 0.0 in limits.effort:
            yield f"the effort limit of zero of joint {joint.name!r}"
        whole = joint.motion.attitude is not None
        if whole and (np.isfinite([*limits.lower, *limits.upper]).any() or np.isfinite(limits.effort).any()):
            yield f"the limits of joint {joint.name!r}, which is {joint.motion.word}"
        yield from _lost_spring(joint)


def _lost_spring(joint: Joint) -> Iterator[str]:
    """MJCF has linear springs, and dampers of joints that are not theirs."""
    if isinstance(joint.spring, LinearSpring):
        if joint.spring.damping:
            yield f"the damping of the spring of joint {joint.name!r}"
    elif joint.spring is not None:
        yield f"the {joint.spring.word} spring of joint {joint.name!r}"
    if joint.rotor.is_body:
        yield f"the rotor of joint {joint.name!r} as a body, but for its spin"
    if joint.rotor.friction != Friction():
        yield f"the friction of the motor of joint {joint.name!r}"
    if joint.rotor.winding is not None:
        yield f"the winding of the motor of joint {joint.name!r}"


def _too_light(tree: Tree) -> Iterator[str]:
    """Messages on moving bodies that have no mass or inertia, alone and with the bodies fixed to them."""
    for number, joint in enumerate(tree.joints):
        if joint.motion.nv and not any(
                body.mass and (np.linalg.eigvalsh(body.inertia) > 1e-15).all()
                for body in _fixed_together(tree, number + 1)):
            yield f"the missing mass or inertia of body {joint.child!r}"


def _fixed_together(tree: Tree, body: int) -> Iterator[Body]:
    yield tree.bodies[body]
    for number, joint in enumerate(tree.joints):
        if tree.parents[number] == body and joint.motion.nv == 0:
            yield from _fixed_together(tree, number + 1)


def _is_odd(body: Body) -> bool:
    """True if no rigid body can have this inertia: a moment is negative, or larger than the sum of the other two."""
    least, middle, most = np.linalg.eigvalsh(body.inertia)
    return bool(body.mass) and bool(least < -_ROUNDING * most or least + middle < (1 - _ROUNDING) * most)


# Elements


def _is_world(root: Body) -> bool:
    return not root.mass


def _world(tree: Tree, sites: Sequence[Frame]) -> Iterator[str]:
    root = tree.bodies[0]
    inner = [*_sites(sites, root), *[line for number in _children(tree, 0) for line in _body(tree, number, sites)]]
    if _is_world(root) and (root.name == "world" or any(_is_free(tree, tree.joints[k]) for k in _children(tree, 0))):
        yield from inner
        return
    yield from [f"<body name={quoted(root.name)}>", *indented([*_inertial(root), *inner], 1), "</body>"]


def _children(tree: Tree, body: int) -> list[int]:
    return [number for number, parent in enumerate(tree.parents) if parent == body]


def _is_free(tree: Tree, joint: Joint) -> bool:
    """True if the joint is a free joint of MJCF, which counts from the origin of the world."""
    at_origin = joint.parent == tree.bodies[0].name and np.array_equal(joint.placement, np.eye(4))
    return joint.motion.free and at_origin and _is_world(tree.bodies[0])


def _parts(tree: Tree, joint: Joint) -> tuple[tuple[str, Axis | None], ...]:
    """The joints of MJCF that make a joint, with their axes."""
    if joint.motion.free and not _is_free(tree, joint):
        return ("slide", (1.0, 0.0, 0.0)), ("slide", (0.0, 1.0, 0.0)), ("slide", (0.0, 0.0, 1.0)), ("ball", None)
    return joint.motion.mjcf or ()


def _body(tree: Tree, number: int, sites: Sequence[Frame]) -> Iterator[str]:
    joint = tree.joints[number]
    body = tree.bodies[number + 1]
    yield f"<body name={quoted(body.name)}{_place(joint.placement)}>"
    yield from indented([*_joints(tree, joint), *_inertial(body), *_sites(sites, body)], 1)
    for child in _children(tree, number + 1):
        yield from indented(_body(tree, child, sites), 1)
    yield "</body>"


def _inertial(body: Body) -> Iterator[str]:
    if body.mass:
        diagonal = np.diag(body.inertia)
        is_diagonal = np.array_equal(body.inertia, np.diag(diagonal))
        moments, axes = (diagonal, np.eye(3)) if is_diagonal else np.linalg.eigh(body.inertia)
        least = np.sort(np.maximum(moments, 0.0))
        # a rod, a plate
        moments = np.minimum(np.maximum(moments, 0.0), max(least[2] - _ROUNDING * least[2], least[0] + least[1]))
        turned = _place(Pose(axes * np.sign(np.linalg.det(axes)), np.zeros(3)).matrix)
        yield (f'<inertial pos="{words(body.center)}"{turned} mass="{float(body.mass)!r}" '
               f'diaginertia="{words(moments)}"/>')


def _sites(sites: Sequence[Frame], body: Body) -> Iterator[str]:
    for frame in sites:
        if frame.body == body.name:
            yield f"<site name={quoted(frame.name)}{_place(frame.pose)}/>"


def _joints(tree: Tree, joint: Joint) -> Iterator[str]:
    spring = ((("stiffness", joint.spring.stiffness), ("springref", joint.spring.rest))
              if isinstance(joint.spring, LinearSpring) else ())
    more = "".join(f' {key}="{float(value)!r}"'
                   for key, value in (("damping", joint.friction.viscous), ("frictionloss", joint.friction.coulomb),
                                      ("armature", joint.rotor.reflected), *spring) if value)
    parts = _parts(tree, joint)
    for k, (kind, axis) in enumerate(parts):
        name = joint.name if len(parts) == 1 else f"{joint.name}/{k + 1}"
        shown = "" if axis is None else f' axis="{words(axis)}"{_range(joint, k)}'
        yield f'<joint name={quoted(name)} type="{kind}"{shown}{more}/>'


def _motors(tree: Tree, joint: Joint) -> Iterator[str]:
    """A motor for each velocity."""
    parts = _parts(tree, joint)
    for k, (kind, _) in enumerate(parts):
        name = joint.name if len(parts) == 1 else f"{joint.name}/{k + 1}"
        velocities = {"free": 6, "ball": 3}.get(kind, 1)
        for direction in np.eye(6)[:velocities]:
            gear = f' gear="{words(direction)}"' if velocities > 1 else ""
            yield f"<motor joint={quoted(name)}{gear}/>"


def _range(joint: Joint, k: int) -> str:
    low = joint.limits.lower[k]
    high = joint.limits.upper[k]
    effort = joint.limits.effort[k]
    bounds = f' range="{words((low, high))}" limited="true"' if np.isfinite([low, high]).all() and low < high else ""
    return bounds + (f' actuatorfrcrange="{words((-effort, effort))}" actuatorfrclimited="true"'
                     if 0 < effort < np.inf else "")


def _place(pose: Array) -> str:
    position = f' pos="{words(pose[:3, 3])}"' if pose[:3, 3].any() else ""
    turned = not np.array_equal(pose[:3, :3], np.eye(3))
    return position + (f' quat="{words(quaternion_from_matrix(pose[:3, :3]))}"' if turned else "")

