"""The machines with loops of the benchmarks, their closed states, and the same machines as the peers have them."""

from __future__ import annotations

from typing import Any

import numpy as np

import cayley as cy
import robots
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Loop

CLOSED = 64  # different states; a batch repeats them
HARD = 0.9999  # of MuJoCo's impedances: the rest is what its constraints give way


def four_bar() -> Any:
    """Three rods and the ground, joined by turning joints; the last is the loop."""
    a, b, c, d = 0.12, 0.41, 0.29, 0.37
    joints = [Joint("crank", "base", "crank", Revolute()), Joint("coupler", "crank", "coupler", Revolute(), at(a)),
              Joint("rocker", "base", "rocker", Revolute(), at(d))]
    return cy.Mechanism.of("four-bar", [Body("base"), rod("crank", a), rod("coupler", b), rod("rocker", c)], joints,
                           frames=[Frame("end", "coupler", at(b)), Frame("top", "rocker", at(c))],
                           loops=[Loop("pin", "end", "top", Revolute())], gravity=(0.0, -9.81, 0.0))


def stewart() -> Any:
    """A plate that floats, on six legs of a universal joint and a slide, each with a ball at the plate: 24 velocities
    and 18 rows."""
    bodies = [Body("base"), Body("plate", 5.0, inertia=np.diag([0.1, 0.1, 0.2]))]
    joints, frames, loops = [Joint("plate", "base", "plate", Floating())], [], []
    for k in range(6):
        foot = np.deg2rad(60.0 * k)
        top = foot + np.deg2rad(25 if k % 2 == 0 else -25)
        bodies += [Body(f"cylinder{k}", 1.0, [0, 0, 0.2], np.diag([0.02, 0.02, 0.001])),
                   Body(f"piston{k}", 0.7, [0, 0, -0.2], np.diag([0.01, 0.01, 0.001]))]
        joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(), at(0.8 * np.cos(foot), 0.8 * np.sin(foot))),
                   Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
        frames += [Frame(f"head{k}", f"piston{k}"), Frame(f"top{k}", "plate", at(0.4 * np.cos(top), 0.4 * np.sin(top)))]
        loops.append(Loop(f"ball{k}", f"head{k}", f"top{k}", Spherical()))
    return cy.Mechanism.of("Stewart platform", bodies, joints, frames=frames, loops=loops)


def at(x: float = 0.0, y: float = 0.0) -> np.ndarray:
    pose = np.eye(4)
    pose[:2, 3] = x, y
    return pose


def rod(name: str, length: float) -> Body:
    return Body(name, 0.5, [length / 2, 0, 0], np.diag([1e-6, 1.0, 1.0]) * 0.5 * length**2 / 12)


GUESSES = {"four-bar": [0.7, 0.4, 2.0], "Stewart platform": [0, 0, 0.9, 1, 0, 0, 0, *[0, 0, 0.9] * 6]}


def closed_states(arm: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Closed configurations, velocities that the constraints allow, and forces."""
    rng = np.random.default_rng(2026)
    q = np.stack([arm.close(arm.integrate(GUESSES[arm.name], 0.1 * rng.normal(size=arm.nv))).configuration
                  for _ in range(CLOSED)])
    qd = rng.normal(size=(CLOSED, arm.nv))
    for k, A in enumerate(arm.constraint_jacobian(q)):
        qd[k] -= np.linalg.pinv(A, 1e-9) @ (A @ qd[k])
    tau = rng.normal(size=(CLOSED, arm.nv))
    return tuple(np.ascontiguousarray(np.resize(x, (count, x.shape[1]))) for x in (q, qd, tau))  # type: ignore[return-value]


# Pinocchio


class PinocchioLoops:
    """The spanning tree as a `pinocchio.Model`, and its loops as point constraints."""

    def __init__(self, arm: Any) -> None:
        import pinocchio as pin

        self.model = robots.pinocchio_model(arm.spanning_tree())
        self.data = self.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        for loop in arm.loops:
            ends = [self._place(arm, pin, frame) for frame in (loop.first, loop.second)]
            self.constraints.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *ends[0],
                                                             *ends[1], pin.ReferenceFrame.LOCAL))
        self.found = pin.StdVec_RigidConstraintData()
        self.found.extend([each.createData() for each in self.constraints])
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.found)
        redundant = arm.constraint_structure.redundant  # in a plane: regularised, or it would be singular there
        self.settings = pin.ProximalSettings(1e-12, 1e-8, 10) if redundant else pin.ProximalSettings(1e-12, 0.0, 1)

    def _place(self, arm: Any, pin: Any, name: str) -> tuple[int, Any]:
        frame = arm.frame(name)
        joint = next(j for j in arm.joints if j.child == frame.body)
        return self.model.getJointId(joint.name), pin.SE3(np.array(frame.pose))


# MuJoCo


def mujoco_model(arm: Any) -> Any:
    """The spanning tree as MJCF, its loops as `connect` equalities between sites."""
    import mujoco

    tree = arm.spanning_tree()
    specification = mujoco.MjSpec.from_string(robots.mujoco_text(tree))
    for loop in arm.loops:
        for name in (loop.first, loop.second):
            frame = arm.frame(name)
            specification.body(frame.body).add_site(name=name, pos=frame.pose[:3, 3])
        equality = specification.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, name1=loop.first, name2=loop.second,
                                              objtype=mujoco.mjtObj.mjOBJ_SITE)
        equality.solimp = [HARD, HARD, 0.001, 0.5, 2.0]
        equality.solref = [0.004, 1.0]
    return specification.compile()
