"""A mechanism written as MJCF. What MJCF cannot say is refused by name, or left out and named in a comment.

The coordinates are the mechanism's own, in the same order: MuJoCo's `qpos` is q. A universal joint becomes two hinges
of one body, a planar one two slides and a hinge, so that they come back from `load_mjcf` as joints of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.model.formats.format import check_holds
from cayley.model.formats.xml_elements import quoted
from cayley.model.parts import Body, Joint, Loop
from cayley.model.tree import Tree

_ROUNDING = 1e-12  # of the largest principal moment: so much may be missing from a possible inertia


def dump_mjcf(tree: Tree, *, leave_out: bool = False) -> str:
    """The mechanism as the text of an MJCF file; MuJoCo's poses at `qpos` = q are its own, to 1e-10.

    Named frames become sites; the root is the world if it is called so, and a fixed body otherwise. `UnsupportedError`
    for what has no form at all: helical joints, floating ones that are not in the root or have a placement, loops that
    are neither spherical nor fixed. So for limits of velocity, limits on one side, empty ones, those of spherical and
    floating joints, and what MuJoCo does not take, bodies that move without mass or inertia and inertias that are not
    physical, unless `leave_out`: then a comment names them, such bodies get 1e-9 kg, and such inertias are balanced by
    MuJoCo. Of a rotor, the inertia that the joint feels is kept.

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
    light = list(_too_light(tree))
    odd = [f"the inertia of body {body.name!r}, which is not physical" for body in tree.bodies if _is_odd(body)]
    lost = [*_lost(tree), *light, *odd]
    check_holds("MJCF", tree, lost, leave_out=leave_out)
    amends = ' boundmass="1e-09" boundinertia="1e-12"' * bool(light) + ' balanceinertia="true"' * bool(odd)
    lines = [
        f"<mujoco model={quoted(tree.name)}>",
        *[f"  <!-- not in MJCF: {part.replace('--', '- -')} -->"
          for part in lost], f'  <compiler angle="radian" inertiafromgeom="false"{amends}/>',
        f'  <option gravity="{_words(tree.gravity)}"/>', "  <worldbody>", *_indented(_world(tree), 2), "  </worldbody>"]
    equalities = [
        *[_follower(joint) for joint in tree.joints if joint.mimic is not None],
        *[_loop(tree, loop) for loop in tree.loops]]
    if equalities:
        lines += ["  <equality>", *_indented(equalities, 2), "  </equality>"]
    motors = [line for joint in tree.joints if tree.actuated and joint.name in tree.actuated for line in _motors(joint)]
    if motors:
        lines += ["  <actuator>", *_indented(motors, 2), "  </actuator>"]
    return "\n".join([*lines, "</mujoco>", ""])


# What cannot be said


def _check(tree: Tree) -> None:
    for joint in tree.joints:
        if joint.motion.mjcf is None:
            raise UnsupportedError(
                f"MJCF has no form for joint {joint.name!r} of {tree.name}, which is {joint.motion.word}")
        if joint.motion.free and (joint.parent != tree.bodies[0].name or not _is_world(tree.bodies[0])):
            raise UnsupportedError(
                f"joint {joint.name!r} of {tree.name} is floating: in MJCF only bodies that hang on a root without "
                "mass may float")
        if joint.motion.free and not np.array_equal(np.asarray(joint.placement), np.eye(4)):
            raise UnsupportedError(
                f"joint {joint.name!r} of {tree.name} is floating and has a placement: MJCF counts from the origin of "
                "the world")
    for loop in tree.loops:
        if loop.motion.mjcf_loop is None:
            raise UnsupportedError(
                f"MJCF has no form for the loop {loop.name!r} of {tree.name}, which is {loop.motion.word}")
    for constraint in tree.constraints:
        raise UnsupportedError(f"MJCF has no form for the {constraint.word} {constraint.name!r} of {tree.name}")
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


def _too_light(tree: Tree) -> Iterator[str]:
    """Bodies that move without mass and inertia, of their own or of what is fixed to them."""
    for number, joint in enumerate(tree.joints):
        if joint.motion.nv and not any(_has_mass(body) for body in _fixed_together(tree, number + 1)):
            yield f"the missing mass or inertia of body {joint.child!r}"


def _fixed_together(tree: Tree, body: int) -> Iterator[Body]:
    yield tree.bodies[body]
    for number, joint in enumerate(tree.joints):
        if tree.parents[number] == body and joint.motion.nv == 0:
            yield from _fixed_together(tree, number + 1)


def _has_mass(body: Body) -> bool:
    return bool(body.mass) and bool((np.linalg.eigvalsh(body.inertia) > 1e-15).all())


def _is_odd(body: Body) -> bool:
    """Whether no body can have this inertia: a moment is negative, or larger than the sum of the other two."""
    least, middle, most = np.linalg.eigvalsh(body.inertia)
    return bool(body.mass) and bool(least < -_ROUNDING * most or least + middle < (1 - _ROUNDING) * most)


# Elements


def _is_world(root: Body) -> bool:
    return not root.mass


def _world(tree: Tree) -> Iterator[str]:
    root = tree.bodies[0]
    inner = [*_sites(tree, root), *[line for number in _children(tree, 0) for line in _body(tree, number)]]
    if _is_world(root) and (root.name == "world" or any(tree.joints[k].motion.free for k in _children(tree, 0))):
        yield from inner
        return
    yield from [f"<body name={quoted(root.name)}>", *_indented([*_inertial(root), *inner], 1), "</body>"]


def _children(tree: Tree, body: int) -> list[int]:
    return [number for number, parent in enumerate(tree.parents) if parent == body]


def _body(tree: Tree, number: int) -> Iterator[str]:
    joint = tree.joints[number]
    body = tree.bodies[number + 1]
    yield f"<body name={quoted(body.name)}{_place(joint.placement)}>"
    yield from _indented([*_joints(joint), *_inertial(body), *_sites(tree, body)], 1)
    for child in _children(tree, number + 1):
        yield from _indented(_body(tree, child), 1)
    yield "</body>"


def _inertial(body: Body) -> Iterator[str]:
    if body.mass:
        moments, axes = (np.diag(body.inertia),
                         np.eye(3)) if _is_diagonal(body.inertia) else np.linalg.eigh(body.inertia)
        pose = np.eye(4)
        pose[:3, :3] = axes * np.sign(np.linalg.det(axes))
        least = np.sort(np.maximum(moments, 0.0))
        # a rod, a plate
        moments = np.minimum(np.maximum(moments, 0.0), max(least[2] - _ROUNDING * least[2], least[0] + least[1]))
        turned = _place(pose)
        yield (f'<inertial pos="{_words(body.center)}"{turned} mass="{float(body.mass)!r}" '
               f'diaginertia="{_words(moments)}"/>')


def _is_diagonal(inertia: Array) -> bool:
    return bool(np.array_equal(inertia, np.diag(np.diag(inertia))))


def _sites(tree: Tree, body: Body) -> Iterator[str]:
    for frame in tree.frames:
        if frame.body == body.name:
            yield f"<site name={quoted(frame.name)}{_place(frame.pose)}/>"


def _joints(joint: Joint) -> Iterator[str]:
    more = "".join(f' {key}="{float(value)!r}"'
                   for key, value in (("damping", joint.friction.viscous), ("frictionloss", joint.friction.coulomb),
                                      ("armature", joint.rotor.reflected)) if value)
    parts = joint.motion.mjcf or ()
    for k, (kind, axis) in enumerate(parts):
        name = joint.name if len(parts) == 1 else f"{joint.name}/{k + 1}"
        shown = "" if axis is None else f' axis="{_words(axis)}"{_range(joint, k)}'
        yield f'<joint name={quoted(name)} type="{kind}"{shown}{more}/>'


def _motors(joint: Joint) -> Iterator[str]:
    """A motor for each velocity."""
    parts = joint.motion.mjcf or ()
    if len(parts) > 1:
        yield from (f"<motor joint={quoted(f'{joint.name}/{k + 1}')}/>" for k, _ in enumerate(parts))
        return
    for direction in np.eye(6)[:joint.motion.nv]:
        gear = f' gear="{_words(direction)}"' if joint.motion.nv > 1 else ""
        yield f"<motor joint={quoted(joint.name)}{gear}/>"


def _range(joint: Joint, k: int) -> str:
    low = joint.limits.lower[k]
    high = joint.limits.upper[k]
    effort = joint.limits.effort[k]
    bounds = f' range="{_words((low, high))}" limited="true"' if np.isfinite([low, high]).all() and low < high else ""
    return bounds + (f' actuatorfrcrange="{_words((-effort, effort))}" actuatorfrclimited="true"'
                     if 0 < effort < np.inf else "")


def _follower(joint: Joint) -> str:
    mimic: Any = joint.mimic
    return (f"<joint joint1={quoted(joint.name)} joint2={quoted(mimic.joint)} "
            f'polycoef="{_words((mimic.offset, mimic.multiplier, 0.0, 0.0, 0.0))}"/>')


def _loop(tree: Tree, loop: Loop) -> str:
    kind = loop.motion.mjcf_loop
    for end in (loop.first, loop.second):
        if not any(frame.name == end for frame in tree.frames):
            raise UnsupportedError(
                f"the loop {loop.name!r} of {tree.name} ends at the body {end!r}: in MJCF it joins two named frames; "
                "add one with `with_frame`")
    return f"<{kind} name={quoted(loop.name)} site1={quoted(loop.first)} site2={quoted(loop.second)}/>"


def _place(pose: Array) -> str:
    position = f' pos="{_words(pose[:3, 3])}"' if pose[:3, 3].any() else ""
    turned = not np.array_equal(pose[:3, :3], np.eye(3))
    return position + (f' quat="{_words(quaternion_from_matrix(pose[:3, :3]))}"' if turned else "")


def _words(values: Iterable[float]) -> str:
    return " ".join(repr(float(value) + 0.0) for value in values)


def _indented(lines: Iterable[str], depth: int) -> list[str]:
    return ["  " * depth + line for line in lines]
