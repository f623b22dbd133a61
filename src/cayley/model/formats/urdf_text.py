"""Writer of URDF files. Parts that URDF cannot hold raise an error that names them, or are left out and named in a
comment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.geometry.rotations.euler import roll_pitch_yaw_from_matrix
from cayley.model.formats.format import check_holds
from cayley.model.formats.xml_elements import indented, left_out_comments, quoted, words
from cayley.model.parts import Body, Friction, Joint, Limits, Rotor
from cayley.model.tree import GRAVITY, Tree

_LARGE = float(np.finfo(float).max)  # how URDF writes that there is no limit


def dump_urdf(tree: Tree, *, leave_out: bool = False) -> str:
    """The mechanism as the text of a URDF file; `load_urdf` gives its poses back to 1e-12.

    Named frames become links without mass on fixed joints. Helical, universal and spherical joints have no form in
    URDF: `UnsupportedError`. So have closed loops, rotors, a choice of actuated joints, limits of continuous, planar
    and floating joints, and a gravity other than (0, 0, -9.81), unless `leave_out`: then a comment names what is
    missing.

    >>> from cayley.model.joint_kinds import Revolute
    >>> print(dump_urdf(Tree.of("rod", [Body("base"), Body("rod", 2.0)], [Joint("pivot", "base", "rod", Revolute())])))
    <?xml version="1.0"?>
    <robot name="rod">
      <link name="base"/>
      <link name="rod">
        <inertial>
          <origin xyz="0.0 0.0 0.0"/>
          <mass value="2.0"/>
          <inertia ixx="0.0" ixy="0.0" ixz="0.0" iyy="0.0" iyz="0.0" izz="0.0"/>
        </inertial>
      </link>
      <joint name="pivot" type="revolute">
        <parent link="base"/>
        <child link="rod"/>
        <axis xyz="0.0 0.0 1.0"/>
        <limit lower="-1.7976931348623157e+308" upper="1.79769...e+308" velocity="1.79769...e+308"
        effort="1.79769...e+308"/>
      </joint>
    </robot>
    """
    _check_kinds(tree)
    lost = list(_lost(tree))
    check_holds("URDF", tree, lost, leave_out=leave_out)
    lines = ['<?xml version="1.0"?>', f"<robot name={quoted(tree.name)}>"]
    named = [f"the configurations {', '.join(repr(each.name) for each in tree.named)}"] if tree.named else []
    lines += left_out_comments("URDF", [*lost, *named])
    parts = [*map(_link, tree.bodies), *map(_joint, tree.joints), *_frames(tree)]
    lines += indented((line for part in parts for line in part), 1)
    return "\n".join([*lines, "</robot>", ""])


def _check_kinds(tree: Tree) -> None:
    bad = [f"{j.name!r} ({j.motion.word})" for j in tree.joints if j.motion.urdf is None]
    if bad:
        raise UnsupportedError(f"URDF has no form for these joints of {tree.name}: {', '.join(bad)}; it has fixed, "
                               "revolute, continuous, prismatic, planar and floating ones")


def _lost(tree: Tree) -> Iterator[str]:
    for loop in tree.loops:
        yield f"the loop {loop.name!r}"
    for constraint in tree.constraints:
        yield f"the {constraint.word} {constraint.name!r}"
    if tree.actuated_joints != replace(tree, actuated=None).actuated_joints:
        yield f"that the actuated joints are {', '.join(map(repr, tree.actuated_joints)) or 'none'}"
    for joint in tree.joints:
        if joint.rotor != Rotor():
            yield f"the rotor of joint {joint.name!r}"
        if joint.spring is not None:
            yield f"the spring of joint {joint.name!r}"
        ends = (joint.limits.lower, joint.limits.upper)
        unsaid = ends if joint.motion.endless else (*ends, joint.limits.velocity, joint.limits.effort)
        said = joint.motion.nq == 1 and not joint.motion.endless
        if not said and np.isfinite(np.concatenate(unsaid)).any():
            yield f"the limits of joint {joint.name!r}, which is {joint.motion.word}"
    for body in tree.bodies:
        if body.mass is None and (body.center.any() or body.inertia.any()):
            yield f"the centre or inertia of body {body.name!r}, whose mass is unknown"
    if not np.array_equal(tree.gravity, GRAVITY):
        yield f"the gravity {tree.gravity.tolist()}"


def _link(body: Body) -> Iterator[str]:
    if body.mass is None:
        yield f"<link name={quoted(body.name)}/>"
        return
    entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), body.inertia[np.triu_indices(3)], strict=True)
    yield f"<link name={quoted(body.name)}>"
    yield "  <inertial>"
    yield f'    <origin xyz="{words(body.center)}"/>'
    yield f'    <mass value="{float(body.mass)!r}"/>'
    yield "    <inertia " + " ".join(f'{key}="{float(value)!r}"' for key, value in entries) + "/>"
    yield "  </inertial>"
    yield "</link>"


def _joint(joint: Joint) -> Iterator[str]:
    yield f'<joint name={quoted(joint.name)} type="{joint.motion.urdf}">'
    yield from (f"  {line}" for line in _origin(joint.placement))
    yield f"  <parent link={quoted(joint.parent)}/>"
    yield f"  <child link={quoted(joint.child)}/>"
    if "axis" in joint.motion.keys:
        yield f'  <axis xyz="{words(joint.motion.keys["axis"])}"/>'
    if joint.motion.nq == 1:
        yield from _limit(joint.limits, ends=not joint.motion.endless)
    if joint.friction != Friction():
        yield f'  <dynamics damping="{float(joint.friction.viscous)!r}" friction="{float(joint.friction.coulomb)!r}"/>'
    if joint.mimic is not None:
        yield (f'  <mimic joint={quoted(joint.mimic.joint)} multiplier="{float(joint.mimic.multiplier)!r}" '
               f'offset="{float(joint.mimic.offset)!r}"/>')
    yield "</joint>"


def _limit(limits: Limits, *, ends: bool) -> Iterator[str]:
    shown = ("lower", "upper", "velocity", "effort") if ends else ("velocity", "effort")
    if ends or np.isfinite([*limits.velocity, *limits.effort]).any():
        values = {key: float(np.clip(getattr(limits, key)[0], -_LARGE, _LARGE)) for key in shown}
        yield "  <limit " + " ".join(f'{key}="{value!r}"' for key, value in values.items()) + "/>"


def _frames(tree: Tree) -> Iterator[Iterator[str]]:
    """Links and fixed joints for the named frames."""
    links = {b.name for b in tree.bodies}
    joints = {j.name for j in tree.joints}
    for frame in tree.frames:
        name = f"{frame.name}_frame"
        if frame.name in links or name in joints:
            raise UnsupportedError(f"the frame {frame.name!r} of {tree.name} becomes a link and a joint {name!r} of "
                                   "URDF, but these names are taken")
        yield _link(Body(frame.name))
        yield _joint(Joint(name, frame.body, frame.name, placement=frame.pose))


def _origin(pose: Array) -> Iterator[str]:
    if not np.array_equal(pose, np.eye(4)):
        yield f'<origin xyz="{words(pose[:3, 3])}" rpy="{words(roll_pitch_yaw_from_matrix(pose[:3, :3]).angles)}"/>'
