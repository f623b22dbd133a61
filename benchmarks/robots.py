"""The robots of the benchmarks, and the same robots as the peers have them."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import cayley as cy
from cayley.model.formats.urdf import load_urdf
from cayley.model.joint_kinds import Floating, JointKind

FILES = {"anymal": "anymal_b_simple_description/robots/anymal.urdf", "talos": "talos_data/robots/talos_full_v2.urdf",
         "talos_reduced": "talos_data/robots/talos_reduced.urdf",
         "solo12": "solo_description/robots/solo12.urdf"}
PANDA_TARGET = np.array([0.2, -0.5, 0.1, -1.8, 0.2, 1.6, 0.4])


def robot(name: str) -> Any:
    """An arm of the catalogue, or a robot of example-robot-data on a floating base."""
    if name not in FILES:
        return cy.load(name)
    written = Path(os.environ.get("CAYLEY_ROBOTS", "")) / f"{name}.pickle"
    if written.is_file():
        return pickle.loads(written.read_bytes())
    path = next(f for f in files("example-robot-data") or [] if str(f).endswith(FILES[name]))
    tree = load_urdf(str(path.locate()), floating_base=True).spanning_tree()  # grippers with mimic joints, as trees
    return cy.Mechanism(replace(tree, bodies=tuple(replace(body, mass=body.mass or 0.0) for body in tree.bodies)))


def write(folder: str) -> None:
    """What a machine without example-robot-data and without a compiler takes as CAYLEY_ROBOTS."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in ("anymal", "talos", "talos_reduced"):
        (Path(folder) / f"{name}.pickle").write_bytes(pickle.dumps(robot(name)))


def random_states(tree: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2026)
    q = rng.uniform(-2.0, 2.0, (count, tree.nq))
    for joint, place in zip(tree.joints, tree.q_slices, strict=True):
        if joint.motion.nq == 7:
            turned = q[:, place][:, 3:]
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return q, rng.uniform(-2.0, 2.0, (count, tree.nv)), rng.uniform(-2.0, 2.0, (count, tree.nv))


# Pinocchio


def pinocchio_model(tree: Any) -> Any:
    """The same joints in the same order."""
    import pinocchio as pin

    aligned = {(1.0, 0.0, 0.0): ("JointModelRX", "JointModelPX"), (0.0, 1.0, 0.0): ("JointModelRY", "JointModelPY"),
               (0.0, 0.0, 1.0): ("JointModelRZ", "JointModelPZ")}
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    places = {tree.bodies[0].name: (0, pin.SE3.Identity())}
    for joint in tree.joints:
        parent, offset = places[joint.parent]
        placement = offset * pin.SE3(np.array(joint.placement))
        if type(joint.motion) is JointKind:
            places[joint.child] = parent, placement
            continue
        for number, motion in enumerate(joint.motion.elementary):
            slides = motion.word == "prismatic"
            if isinstance(motion, Floating):
                kind = pin.JointModelFreeFlyer()
            elif motion.axis in aligned:
                kind = getattr(pin, aligned[motion.axis][slides])()
            else:
                kind = (pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned)(np.array(
                    motion.axis))
            parent = model.addJoint(parent, kind, placement, f"{joint.name} {number}" if number else joint.name)
            placement = pin.SE3.Identity()
        places[joint.child] = parent, placement
    for body in tree.bodies:
        number, offset = places[body.name]
        if number:
            model.appendBodyToJoint(number, pin.Inertia(body.mass or 0.0, np.array(body.center),
                                                        np.array(body.inertia)), offset)
    return model


def pinocchio_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The same joints as numbers, for a program without Python."""
    from peers import MissingPeer

    model, kinds = pinocchio_model(tree), []
    known = ["JointModelRX", "JointModelRY", "JointModelRZ", "JointModelFreeFlyer"]
    for joint in model.joints[1:]:
        if joint.shortname() not in known:
            raise MissingPeer(f"CppADCodeGen: no {joint.shortname()} in pinocchio_codegen.cpp")
        kinds.append(known.index(joint.shortname()))
    bodies = [(Y.mass, *Y.lever, *Y.inertia.ravel()) for Y in model.inertias[1:]]
    return {"kinds": np.array(kinds), "parents": np.array(model.parents[1:]), "inertias": np.array(bodies),
            "placements": np.array([place.homogeneous[:3] for place in model.jointPlacements[1:]])}


def urdf_file(tree: Any, *, tool: bool = False) -> dict[str, Any]:
    """The same arm as a URDF file, and the names by which peers ask for its parts. Frames would be links that peers
    compute: there is none but, if wished, that of the tool."""
    path = Path(tempfile.mkdtemp()) / f"{tree.name}.urdf"
    tree.save(path)
    robot = ElementTree.parse(path)
    for joint in [j for j in robot.findall("joint") if j.get("type") == "fixed"]:
        name = joint.find("child").get("link")
        if name != "tool" or not tool:
            robot.getroot().remove(joint)
            robot.getroot().remove(robot.find(f"link[@name='{name}']"))
        elif joint.find("origin") is None:
            ElementTree.SubElement(joint, "origin", xyz="0 0 0", rpy="0 0 0")
    robot.write(path)
    joints = [joint.name for joint in tree.tree.joints if joint.motion.nv]
    return {"urdf": str(path), "base": tree.tree.bodies[0].name, "joints": joints, **({"tool": "tool"} if tool else {})}


def pinocchio_configurations(tree: Any, q: np.ndarray) -> np.ndarray:
    """Quaternions are (x, y, z, w) there."""
    theirs = q.copy()
    for joint, place in zip(tree.joints, tree.q_slices, strict=True):
        if joint.motion.nq == 7:
            theirs[:, place] = q[:, place][:, [0, 1, 2, 4, 5, 6, 3]]
    return theirs


# MuJoCo


def panda_loop(kp: float, kd: float) -> Any:
    """Rollouts of the Panda under computed torque."""
    arm = cy.load("panda")
    return cy.connect(arm, arm.control.computed_torque(kp, kd)).rollout(method="semi-implicit-euler")


def panda_starts(count: int) -> dict[str, np.ndarray]:
    """States around the target, by the names of their blocks."""
    rng = np.random.default_rng(1)
    return {"q": PANDA_TARGET + rng.uniform(-0.3, 0.3, size=(count, 7)), "qd": rng.uniform(-0.3, 0.3, size=(count, 7))}


def mujoco_model(tree: Any) -> Any:
    """The same robot; turning, sliding and floating joints only."""
    import mujoco

    return mujoco.MjModel.from_xml_string(mujoco_text(tree))


def mujoco_text(tree: Any) -> str:
    """The same as MJCF."""
    import mujoco

    def element(body: Any) -> str:
        carried = "".join(element_of(joint) for joint in tree.joints if joint.parent == body.name)
        if body is tree.bodies[0] or not (body.mass or body.inertia.any()):
            return carried
        I, c = body.inertia, body.center
        moments = " ".join(repr(float(x)) for x in (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
        return f'<inertial mass="{body.mass!r}" pos="{_words(c)}" fullinertia="{moments}"/>' + carried

    def element_of(joint: Any) -> str:
        child = tree.bodies[tree.body_number(joint.child)]
        kinds = {"prismatic": "slide"}
        moves = "<freejoint/>" if isinstance(joint.motion, Floating) else "".join(
            f'<joint type="{kinds.get(motion.word, "hinge")}" axis="{_words(motion.axis)}"/>'
            for motion in joint.motion.elementary if motion.nv)
        R, p = joint.placement[:3, :3], joint.placement[:3, 3]
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, R.ravel())
        return f'<body name="{child.name}" pos="{_words(p)}" quat="{_words(quaternion)}">{moves}{element(child)}</body>'

    return ('<mujoco><compiler angle="radian"/>'
            f'<option gravity="{_words(tree.gravity)}"/><worldbody>{element(tree.bodies[0])}</worldbody></mujoco>')


def _words(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


# Robotics Toolbox


def toolbox_robot(tree: Any) -> Any:
    """The same arm from its table in the modified convention."""
    import roboticstoolbox as rtb

    from cayley.dynamics.rigid_links.links import serial_chain

    links = []
    chain = serial_chain(tree.tree)
    for link in chain.links:
        R, p = link.placement[:3, :3], link.placement[:3, 3]
        alpha = float(np.arctan2(R[2, 1], R[2, 2])) if abs(R[0, 2]) < 1e-12 else None
        if alpha is None:
            raise ValueError(f"{tree.name} is not in modified Denavit-Hartenberg frames")
        offset = float(np.arctan2(-R[0, 1], R[0, 0]))
        alpha = float(np.arctan2(-R[1, 2], R[2, 2]))
        d = float(p @ [0.0, -np.sin(alpha), np.cos(alpha)])
        moments = link.moments
        links.append(
            rtb.RevoluteMDH(a=float(p[0]), alpha=alpha, d=d, offset=offset, m=float(moments.mass), r=moments.center,
                            I=moments.inertia_about_center, Jm=0.0, G=1.0, B=0.0, Tc=[0.0, 0.0]))
    return rtb.DHRobot(links, name=tree.name, gravity=np.asarray(chain.gravity))


if __name__ == "__main__":
    write(sys.argv[1])
