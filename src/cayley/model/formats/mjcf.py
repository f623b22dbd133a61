"""MJCF files, read by MuJoCo's own compiler (the extra `mjcf`), which is the definition of the format.

The coordinates are those of MuJoCo's `qpos`, in the same order: a hinge or slide with `ref` counts from there, a ball
is a quaternion (w, x, y, z), a free joint a position and a quaternion. (Velocities differ: that of a free joint is here
the twist in the body's axes.) Every body keeps its own frame: of several joints in one body each but the last gets a
massless body `<body>/<joint>` of its own, and where the anchor of the last is not the origin of the body, a massless
body on the anchor carries the body by a fixed joint. A hinge without a range is a continuous joint. Sites are frames;
one with the name of a body is called `<site>/site`. Equalities are loops, mimic joints and constraints, see
`mjcf_equalities`. Joints with an actuator are the actuated ones, if any has one. What has no place in a mechanism is
named in a `ModelWarning`; an equality of a form that has none is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, printable, warn_user
from cayley.geometry.motions.homogeneous import pose_from_quaternion
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.findings import Remark, counted, in_number
from cayley.model.formats.mjcf_equalities import TENDON, Equalities, places_of
from cayley.model.formats.mjcf_gate import checked_mjcf
from cayley.model.formats.xml_elements import XmlElement, source_of, source_words
from cayley.model.joint_kinds import Floating, JointKind, Prismatic, Revolute, Spherical, turn
from cayley.model.named_configurations import with_configuration
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Rotor
from cayley.model.spring_kinds import LinearSpring
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from os import PathLike
    from types import ModuleType

    from mujoco import MjModel

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
_VELOCITIES = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}
_MADE = re.compile(r"(actuator|sensor)\d+_*")  # names that `names_of` makes
_AT_JOINTS = (0, 1)  # mjtTrn: joint, jointinparent
_CURVED = ("jnt_stiffnesspoly", "dof_dampingpoly")  # not in the older versions of MuJoCo


def load_mjcf(path_or_text: str | PathLike[str] | MjModel, *, trust: bool = False) -> Tree:
    """The mechanism of an MJCF file, of the text of one, or of a compiled `mujoco.MjModel`. With `trust` a file may
    name others anywhere.

    Raises `ModelError` with what MuJoCo says of a file that it refuses, and if the package mujoco is not installed.

    >>> arm = load_mjcf('''<mujoco model="arm"><worldbody><body name="rod">
    ...   <joint name="pivot" axis="0 1 0" pos="0 0 1"/><geom size="0.1" mass="2"/></body></worldbody></mujoco>''')
    >>> [(joint.name, joint.motion.word, joint.child) for joint in arm.joints]
    [('pivot', 'continuous', 'rod/pivot'), ('rod/fixed', 'fixed', 'rod')]
    """
    mujoco = _mujoco()
    given = isinstance(path_or_text, mujoco.MjModel)
    model: Any = path_or_text
    root = None
    said: list[str] = []
    if not given:
        model, root, said = compiled_mjcf(path_or_text, trust=trust)
    parts = _Reading(model, root)
    name = model.names[:model.names.index(b"\0")].decode(errors="replace") or "MuJoCo Model"
    weightless = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = np.zeros(3) if weightless else model.opt.gravity
    made = Tree.of(name, parts.bodies, parts.joints, frames=parts.frames, gravity=gravity,
                   loops=parts.equalities.loops, constraints=parts.equalities.constraints, actuated=parts.actuated,
                   source="" if given else source_words(path_or_text),
                   notes=[*said, *parts.notes])
    for key, keyframe in zip(names_of(model, "key", model.nkey), model.key_qpos, strict=True):
        made = with_configuration(made, key, keyframe)
    if said:
        warn_user(f"{name}: MuJoCo warns: {' '.join(said)}")
    if parts.notes:
        warn_user(f"{name} is read without elements that a mechanism does not have: "
                  f"{'; '.join(map(str, parts.notes))}")
    return made


def compiled_mjcf(path_or_text: str | PathLike[str], *, trust: bool = False) -> tuple[MjModel, XmlElement, list[str]]:
    """The model of a file, or of the text of one, as MuJoCo compiles it, its root element, and what MuJoCo warns of.

    Malformed, huge and tricky files are refused with their line before."""
    mujoco = _mujoco()
    said: list[str] = []
    root = checked_mjcf(path_or_text, trust=trust)
    return _compiled(mujoco, path_or_text, root, said), root, said


def _mujoco() -> ModuleType:
    try:
        import mujoco
    except ImportError as error:
        raise ModelError(
            "MJCF files are read by the package mujoco, which is not installed: pip install 'cayley[mjcf]'") from error
    return mujoco


def _compiled(mujoco: ModuleType, path_or_text: str | os.PathLike[str], root: XmlElement, said: list[str]) -> MjModel:
    """Model as MuJoCo compiles it; warnings of MuJoCo are appended to `said`."""
    path = source_of(path_or_text)
    with _warnings_kept(mujoco, said):
        try:
            return mujoco.MjModel.from_xml_string(path_or_text) if path is None else mujoco.MjModel.from_xml_path(
                os.fspath(path))
        except (ValueError, RuntimeError, MemoryError, mujoco.FatalError, mujoco.UnexpectedError) as error:
            raise ModelError(f"{root.file}: MuJoCo cannot read it: {' '.join(str(error).split())}") from error


@contextmanager
def _warnings_kept(mujoco: ModuleType, said: list[str]) -> Iterator[None]:
    """Collect MuJoCo's warnings in `said`, instead of on the screen and in a log file."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: said.append(printable(" ".join(text.split()))))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


class _Reading:
    """The parts of a mechanism, taken from a compiled model."""

    def __init__(self, model: MjModel, root: XmlElement | None = None) -> None:
        self.model = model
        self.notes: list[str | Remark] = []
        self.body_names = names_of(model, "body", model.nbody)
        self.joint_names = names_of(model, "joint", model.njnt)
        self.taken = {"body": set(self.body_names), "joint": set(self.joint_names), "frame": set(self.body_names)}
        sites = names_of(model, "site", model.nsite)
        self.taken["frame"].update(sites)
        self.site_names = [
            self._fresh("frame", f"{name}/site") if name in self.taken["body"] else name for name in sites]
        self.equalities = Equalities(model, names_of(model, "eq", model.neq), places_of(model, root), self.body_names,
                                     self.joint_names, self.site_names, lambda name: self._fresh("frame", name))
        self.bodies = [Body(self.body_names[0], 0.0)]
        self.joints: list[Joint] = []
        for body in range(1, model.nbody):
            self._add_body(body)
        self.frames = [Frame(name, self.body_names[model.site_bodyid[k]], _pose(model.site_quat[k], model.site_pos[k]))
                       for k, name in enumerate(self.site_names)] + self.equalities.frames
        self.actuated = self._actuated()
        self.notes += _left_out(model, self.joint_names, self.equalities.tendons)

    def _fresh(self, kind: str, name: str) -> str:
        """The name, or one like it that is not taken."""
        while name in self.taken[kind]:
            name += "_"
        self.taken[kind].add(name)
        return name

    # Bodies and joints

    def _add_body(self, body: int) -> None:
        """The body, carried by its joints one after another."""
        model = self.model
        name = self.body_names[body]
        parent = self.body_names[self.model.body_parentid[body]]
        place = _pose(model.body_quat[body], model.body_pos[body])
        first = model.body_jntadr[body]
        numbers = list(range(first, first + model.body_jntnum[body]))
        for joint in numbers:
            anchor = model.jnt_pos[joint] if model.jnt_type[joint] in (BALL, HINGE) else np.zeros(3)
            on_body = joint == numbers[-1] and not anchor.any()
            child = name if on_body else self._fresh("body", f"{name}/{self.joint_names[joint]}")
            self._add_joint(joint, parent, child, place @ Pose(np.eye(3), anchor).matrix)
            if not on_body:
                self.bodies.append(Body(child, 0.0))
            parent = child
            place = Pose(np.eye(3), -anchor).matrix
        if parent != name:
            self.joints.append(Joint(self._fresh("joint", f"{name}/fixed"), parent, name, JointKind(), place))
        self.bodies.append(self._mass_properties(body))

    def _mass_properties(self, body: int) -> Body:
        model = self.model
        rotation = _matrix(model.body_iquat[body])
        inertia = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
        return Body(self.body_names[body], float(model.body_mass[body]), model.body_ipos[body],
                    (inertia + inertia.T) / 2)

    def _add_joint(self, joint: int, parent: str, child: str, place: Array) -> None:
        model = self.model
        dof = self.model.jnt_dofadr[joint]
        motion, zero = self._motion(joint)
        self.joints.append(Joint(
            self.joint_names[joint], parent, child, motion, np.eye(4) if motion.free else place @ zero,
            self._limits(joint), Friction(float(model.dof_damping[dof]), float(model.dof_frictionloss[dof])),
            Rotor(float(model.dof_armature[dof])), self.equalities.mimics.get(joint), self._spring(joint)))

    def _spring(self, joint: int) -> LinearSpring | None:
        """The spring of a hinge or slide, relaxed at MuJoCo's springref, which is one of the joint's coordinate."""
        model = self.model
        if not model.jnt_stiffness[joint] or model.jnt_type[joint] not in (SLIDE, HINGE):
            return None
        return LinearSpring(float(model.jnt_stiffness[joint]), 0.0, float(model.qpos_spring[model.jnt_qposadr[joint]]))

    def _motion(self, joint: int) -> tuple[JointKind, Array]:
        """Motion of the joint, and the displacement (4, 4) that puts its zero where MuJoCo has it."""
        model = self.model
        axis = tuple(float(x) for x in model.jnt_axis[joint])
        start = float(model.qpos0[model.jnt_qposadr[joint]])
        if model.jnt_type[joint] == FREE:
            return Floating(), np.eye(4)
        if model.jnt_type[joint] == BALL:
            return Spherical(), np.eye(4)
        if model.jnt_type[joint] == SLIDE:
            return Prismatic(axis), Pose(np.eye(3), -start * model.jnt_axis[joint]).matrix  # type: ignore[arg-type]
        zero = Pose(turn(axis, -start), np.zeros(3)).matrix
        return Revolute(axis, continuous=not model.jnt_limited[joint]), zero  # type: ignore[arg-type]

    def _limits(self, joint: int) -> Limits:
        model = self.model
        kind = self.model.jnt_type[joint]
        if kind not in (SLIDE, HINGE):
            if model.jnt_limited[joint]:
                self.notes.append(f"the range of the ball joint {self.joint_names[joint]!r} is left out")
            return Limits()
        lower, upper = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.inf, np.inf)
        effort: tuple[float, ...] = ()
        if model.jnt_actfrclimited[joint]:
            low, high = model.jnt_actfrcrange[joint]
            effort = (float(max(-low, high)),)
            if low != -high:
                self.notes.append(
                    f"the smaller side of actuatorfrcrange of joint {self.joint_names[joint]!r} is left out")
        return Limits((float(lower),), (float(upper),), (), effort)

    # Actuators

    def _actuated(self) -> list[str] | None:
        """The joints whose velocities all have an actuator; None of a model without actuators at joints."""
        model = self.model
        at_joints = [k for k in range(model.nu) if model.actuator_trntype[k] in _AT_JOINTS]
        names = names_of(model, "actuator", model.nu)
        elsewhere = [name for k, name in enumerate(names) if k not in at_joints]
        self.notes += counted("actuators left out", elsewhere,
                              "[actuator drives no joint and is|actuators drive no joint and are] left out", made=_MADE)
        changed = [names[k] for k in at_joints if not _is_plain_motor(model, k)]
        self.notes += [replace(each, text=f"gains, gears and ranges of {each}") for each in counted(
            "actuators left out", changed, "actuator[|s] are left out", made=_MADE)]
        found: list[str] = []
        for joint in dict.fromkeys(int(model.actuator_trnid[k, 0]) for k in at_joints):
            gears = [model.actuator_gear[k] for k in at_joints if model.actuator_trnid[k, 0] == joint]
            velocities = _VELOCITIES[int(model.jnt_type[joint])]
            if relative_rank(np.array(gears)[:, :velocities], exact=True) == velocities:
                found.append(self.joint_names[joint])
            else:
                self.notes.append(f"the actuators of joint {self.joint_names[joint]!r} do not drive all that it does, "
                                  "and are left out")
        return found if at_joints else None


def _left_out(model: MjModel, joint_names: list[str], kept_tendons: set[int]) -> Iterator[str | Remark]:
    springs = [name for name, stiffness, kind in zip(joint_names, model.jnt_stiffness, model.jnt_type, strict=True)
               if stiffness and kind not in (SLIDE, HINGE)]
    if springs:
        names = ", ".join(map(repr, springs))
        yield in_number(f"the spring[|s] of joint[|s] {names} [is|are] left out", len(springs))
    yield from counted("sensors left out", names_of(model, "sensor", model.nsensor),
                       "sensor[|s] [is|are] left out", made=_MADE)
    active = model.eq_active0.astype(bool)
    curved = sum(np.count_nonzero(getattr(model, key, 0)) for key in _CURVED)
    for count, what in (
        (model.ntendon - len(kept_tendons), "tendon[|s]"),
        (np.count_nonzero(~active), "[equality that is|equalities that are] not active"),
        (np.count_nonzero(model.eq_type[active] > TENDON), "[equality|equalities] of flexible bodies"),
        (model.nmocap, "mocap motion[, whose body is|s, whose bodies are] fixed here,"),
        (model.nflex, "flexible [body|bodies]"),
        (np.count_nonzero(model.body_gravcomp), "gravity compensation[|s]"),
        (curved, "[coefficient of a spring or damper that is|coefficients of springs and dampers that are] not linear"),
        (np.count_nonzero([model.opt.density, model.opt.viscosity]), "[property|properties] of the fluid around it"),
    ):
        if count:
            yield f"{count} {in_number(what + ' [is|are] left out', int(count))}"


def _is_plain_motor(model: MjModel, k: int) -> bool:
    """True if the control of an actuator is the force in one direction of its joint."""
    said = (model.actuator_dyntype[k], model.actuator_gaintype[k], model.actuator_biastype[k])
    bounds = model.actuator_ctrllimited[k] or model.actuator_forcelimited[k]
    gear = np.sort(model.actuator_gear[k])
    return not any(said) and not bounds and model.actuator_gainprm[k, 0] == 1.0 and np.array_equal(gear, np.eye(6)[5])


def names_of(model: MjModel, kind: str, count: int) -> list[str]:
    """The names of all objects of a kind; those without one get their kind and number."""
    given = [getattr(model, kind)(k).name for k in range(count)]
    taken = set(given)
    names: list[str] = []
    for k, name in enumerate(given):
        made = name or f"{'equality' if kind == 'eq' else kind}{k}"
        while not name and made in taken:
            made += "_"
        names.append(made)
    return names


def _matrix(quaternion: Array) -> Array:
    return np.asarray(matrix_from_quaternion.unchecked(_unit(quaternion)))


def _pose(quaternion: Array, position: ArrayLike) -> Array:
    return np.array(pose_from_quaternion.unchecked(_unit(quaternion), np.asarray(position, dtype=float)))


def _unit(quaternion: ArrayLike) -> Array:
    q = np.asarray(quaternion, dtype=float)
    size = np.linalg.norm(q)
    if not 0 < size < np.inf:
        raise ModelError(f"MuJoCo makes of the file a rotation by the quaternion {q.tolist()}: its numbers are too "
                         "large, or too small")
    return q / size
