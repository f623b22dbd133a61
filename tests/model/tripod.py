"""A body on three legs of three joints each, as URDF, for Cayley and for Pinocchio."""

import numpy as np
import pinocchio as pin

import cayley as cy

FEET = ("foot0", "foot1", "foot2")
BODY = """<link name="{name}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>
<inertia ixx="{i}" iyy="{j}" izz="{k}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{at}" rpy="0 0 {turn}"/><axis xyz="{axis}"/>
<limit lower="-2.5" upper="2.5" velocity="8" effort="30"/></joint>"""


def urdf():
    parts = [BODY.format(name="body", center="0.01 0.02 0", mass=8.0, i=0.1, j=0.15, k=0.2)]
    for k in range(3):
        turn = 2 * np.pi * k / 3
        hip = f"{0.2 * np.cos(turn)} {0.2 * np.sin(turn)} 0"
        chain = [("hip", "body", hip, turn, "1 0 0", "revolute"),
                 ("thigh", f"hip{k}", "0.05 0 0", 0, "0 1 0", "revolute"),
                 ("shank", f"thigh{k}", "0 0 -0.25", 0, "0 1 0", "revolute"),
                 ("foot", f"shank{k}", "0 0 -0.25", 0, "0 0 1", "fixed")]
        for name, parent, at, angle, axis, kind in chain:
            if name != "foot":
                parts.append(BODY.format(name=f"{name}{k}", center="0.01 0 -0.1", mass=0.8, i=0.006, j=0.006, k=0.002))
            else:
                parts.append('<link name="{}"/>'.format(f"foot{k}"))
            parts.append(JOINT.format(name=f"{name}{k}_joint", kind=kind, parent=parent, child=f"{name}{k}", at=at,
                                      turn=angle, axis=axis))
    return f'<robot name="tripod">{"".join(parts)}</robot>'


def tripod(folder):
    """The mechanism and the model of Pinocchio."""
    path = folder / "tripod.urdf"
    path.write_text(urdf())
    return cy.load(path, floating_base=True), pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())


STANDING = np.array([0.0, 0.0, 0.42, 1.0, 0.0, 0.0, 0.0, *[0.05, -0.6, 1.1] * 3])


def states(count, seed=0):
    """Random states near standing."""
    rng = np.random.default_rng(seed)
    q = np.tile(STANDING, (count, 1))
    q[:, 7:] += rng.uniform(-0.3, 0.3, (count, 9))
    turn = np.concatenate([np.ones((count, 1)), rng.uniform(-0.15, 0.15, (count, 3))], axis=1)
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
    return q, rng.uniform(-0.3, 0.3, (count, 15))
