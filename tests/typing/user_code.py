"""What a type checker says of a user's program. `mypy` reads this file with the package; nobody runs it.

Every line with a `type: ignore` is a mistake that must be found: where none is found, mypy calls the comment unused.
"""

from __future__ import annotations

import numpy as np

import cayley as cy
from cayley.compiler.typing import Array


def right(arm: cy.Mechanism, q: Array) -> None:
    """Arrays, lists and numbers are taken; results have types."""
    tau: Array = arm.inverse_dynamics(q, [0.0, 0.0], np.zeros(2))
    derivatives: Array = arm.linearize(q, q, q).D
    jacobian: Array = arm.jacobian(q, "tool", axes="world")
    pose: Array = arm.pose.of("tool")(q, dtype=np.float32)
    twist: Array = arm.twist(q, [1.0, 0.0], "tool", axes="body", at=(0.0, 0.0, 0.1))
    arm.pose(q, "tool", out=pose)
    text: str = arm.pose.c_source("fk", frame="tool", dtype="float32").header + str(arm.pose.operations(frame="tool"))
    arm.export("folder", "inverse-dynamics", arm.gravity_forces, layout="arduino").files[0].exists()
    arm.gravity_forces.c_source(text, batch=True).write("folder")
    found: Array = arm.inverse_kinematics(pose, "tool", start=[0.0, 0.1]).q
    arm.simulate(found, [0.0, 0.0], until=1.0, tau=tau).q.mean()
    print(derivatives, jacobian, twist)


def closed(machine: cy.Mechanism, q: Array) -> None:
    """What is asked of a machine with loops has types, too."""
    start: Array = machine.loops.close(q, fixed={"crank": 0.4}).configuration
    path: Array = machine.loops.follow_inputs({"crank": [0.0, 0.1]}, start=start).configuration
    modes: int = machine.loops.assemblies({"crank": 0.6}).count
    qd: Array = machine.loops.consistent_velocity(start, [2.0, 0.0, 0.0], keep=["crank"])
    rates: Array = machine.loops.actuated_motion(path, [[2.0]])
    forces: Array = machine.loops.forces(start, qd, [0.0, 0.0, 0.0])
    words: str = machine.variants.with_actuated("crank").loops.actuation.kind
    redundant: tuple[str, ...] = tuple(str(row) for row in machine.loops.structure.redundant)
    print(modes, rates, forces, words, redundant)
    machine.loops.close(q, fixd=["crank"])  # type: ignore[call-arg]
    machine.loops.follow_inputs({"crank": [0.0, 0.1]})  # type: ignore[call-arg]
    machine.variants.with_actuated(["crank"])  # type: ignore[arg-type]
    machine.equations(formulation="minmal")  # type: ignore[arg-type]


def wrong_frame(arm: cy.Mechanism, q: Array) -> None:
    """A frame is a name."""
    arm.jacobian(q, 3, axes="world")  # type: ignore[call-overload]
    arm.pose.of(3)  # type: ignore[arg-type]
    arm.inverse_kinematics(np.eye(4), 3)  # type: ignore[arg-type]
    arm.pose(q, "tool", relative_to=7)  # type: ignore[call-overload]


def missing_axes(arm: cy.Mechanism, q: Array) -> None:
    """Axes are always named."""
    arm.jacobian(q, "tool")  # type: ignore[call-overload]
    arm.twist(q, q, "tool")  # type: ignore[call-overload]
    arm.frame_bias(q, q, "tool")  # type: ignore[call-overload]
    arm.dexterity.joint_forces_that_exert(q, np.zeros(6), "tool")  # type: ignore[call-overload]
    arm.jacobian.of("tool")  # type: ignore[call-arg]
    arm.dexterity.indices(q, "tool", task="position")  # type: ignore[call-arg]


def missing_argument(arm: cy.Mechanism, q: Array) -> None:
    """No frame, no velocity, no target."""
    arm.jacobian(q, axes="world")  # type: ignore[call-overload]
    arm.simulate(q)  # type: ignore[call-arg]
    arm.inverse_dynamics(q, q)  # type: ignore[call-arg]
    arm.forward_dynamics(q)  # type: ignore[call-arg]
    arm.linearize(q, q)  # type: ignore[call-arg]
    arm.inverse_kinematics(frame="tool")  # type: ignore[call-arg]


def swapped_order(arm: cy.Mechanism, q: Array) -> None:
    """Arrays come before the frame."""
    arm.pose("tool", q)  # type: ignore[call-overload]
    arm.inverse_kinematics("tool", np.eye(4))  # type: ignore[arg-type]
    arm.with_frame(np.eye(4), "tool", "link2")  # type: ignore[arg-type]
    arm.with_payload(2.0, "tool")  # type: ignore[arg-type]
    arm.jacobian("tool", q, axes="world")  # type: ignore[call-overload]


def unknown_word(arm: cy.Mechanism, q: Array) -> None:
    """Options have names and values."""
    arm.pose(q, "tool", relativ_to="base")  # type: ignore[call-overload]
    arm.inverse_kinematics(np.eye(4), "tool", tolerence=1e-6)  # type: ignore[call-arg]
    cy.Mechanism.from_dh([(0, 0, 1, 0)], convention="distal")  # type: ignore[arg-type]
    arm.simulate(q, q, untill=1.0)  # type: ignore[call-arg]
    arm.rollout(methd="rk4")  # type: ignore[call-arg]
    cy.load("panda", floatingbase=True)  # type: ignore[call-arg]


def a_text(arm: cy.Mechanism, q: Array) -> None:
    """Numbers are numbers."""
    arm.with_payload("tool", "2 kg")  # type: ignore[arg-type]
    arm.simulate(q, q, until="1 s")  # type: ignore[arg-type]
    arm.with_gravity("down")  # type: ignore[arg-type]
    arm.inverse_dynamics(q, q, "zero")  # type: ignore[arg-type]
    arm.gravity_forces("home")  # type: ignore[arg-type]


def a_list_where_one_is_meant(arm: cy.Mechanism, q: Array) -> None:
    """One mass, one time, one frame."""
    arm.with_payload("tool", [2.0])  # type: ignore[arg-type]
    arm.simulate(q, q, until=[1.0])  # type: ignore[arg-type]
    arm.pose(q, ["tool"])  # type: ignore[call-overload]
