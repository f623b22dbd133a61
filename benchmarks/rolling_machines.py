"""The machines on wheels of the benchmarks, and the same by Kane's method of SymPy, and by MuJoCo's contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import cayley as cy
from cayley.machines import RobotMasses, RollingRobot
from cayley.model.constraint_kinds import KnifeEdge
from cayley.model.joint_kinds import Planar
from cayley.model.parts import Body, Joint

ROBOT = RollingRobot(radius=0.1, track=0.5, axle=0.12, pivot=0.3, trail=0.08,
                     masses=RobotMasses(1.5, 0.8, 0.4, 20.0, 0.003, 1.1))
MASS, INERTIA, AHEAD = 2.0, 0.5, 0.3


def sleigh() -> Any:
    """Chaplygin's: a blade, and the mass centre ahead of it."""
    body = Body("sleigh", MASS, [AHEAD, 0, 0], np.diag([0, 0, INERTIA]))
    return cy.Mechanism.of("sleigh", [Body("ice"), body], [Joint("base", "ice", "sleigh", Planar())],
                           constraints=[KnifeEdge("edge", "ice", "sleigh")])


def rolling_robot() -> Any:
    """Five bodies on two driven wheels and a castor: 7 velocities, 5 independent constraints."""
    return cy.Mechanism(ROBOT.tree())


def kane_sleigh() -> Callable[..., np.ndarray]:
    """`(q, qd, tau)` -> qdd, from SymPy's equations, lambdified."""
    import sympy
    from sympy.physics import mechanics as me

    q, u, tau = me.dynamicsymbols("q:3"), me.dynamicsymbols("u:3"), sympy.symbols("t:3")
    ground, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    body.orient_axis(ground, ground.z, q[2])
    body.set_ang_vel(ground, u[2] * ground.z)
    blade = me.Point("O")
    blade.set_vel(ground, u[0] * ground.x + u[1] * ground.y)
    center = blade.locatenew("C", AHEAD * body.x)
    center.v2pt_theory(blade, ground, body)
    solid = me.RigidBody("sleigh", center, body, MASS, (me.inertia(body, 0, 0, INERTIA), center))
    return _lambdified(ground, q, u, [0, 2], [1], [blade.vel(ground).dot(body.y)], [solid],
                       [(blade, tau[0] * ground.x + tau[1] * ground.y), (body, tau[2] * ground.z)], tau)


def kane_rolling_robot() -> Callable[..., np.ndarray]:
    """The same of the robot, with torques at its driven wheels."""
    import sympy
    from sympy.physics import mechanics as me

    r, m = ROBOT.radius, ROBOT.masses
    q, u, tau = me.dynamicsymbols("q:7"), me.dynamicsymbols("u:7"), sympy.symbols("t:7")
    ground, chassis, bracket = (me.ReferenceFrame(name) for name in "NCB")
    chassis.orient_axis(ground, ground.z, q[2])
    chassis.set_ang_vel(ground, u[2] * ground.z)
    bracket.orient_axis(chassis, chassis.z, q[5])
    bracket.set_ang_vel(chassis, u[5] * chassis.z)
    point = me.Point("C")
    point.set_vel(ground, u[0] * ground.x + u[1] * ground.y)
    pivot = _at(point, -ROBOT.pivot * chassis.y, ground, chassis)
    arm = _at(pivot, -ROBOT.trail / 2 * bracket.x, ground, bracket)
    solids = [me.RigidBody("chassis", point, chassis, m.chassis, (me.inertia(chassis, 0, 0, m.chassis_inertia), point)),
              me.RigidBody("bracket", arm, bracket, m.bracket, (me.inertia(bracket, 0, 0, m.bracket_inertia), arm))]
    rows, loads = [], []
    side = ROBOT.track / 2
    for k, (center, frame, axis, ahead, mass) in enumerate([
            (_at(point, ROBOT.axle * chassis.y + side * chassis.x, ground, chassis), chassis, -chassis.x, chassis.y,
             m.wheel),
            (_at(point, ROBOT.axle * chassis.y - side * chassis.x, ground, chassis), chassis, -chassis.x, chassis.y,
             m.wheel),
            (_at(pivot, -ROBOT.trail * bracket.x, ground, bracket), bracket, bracket.y, bracket.x, m.castor)]):
        place = (3, 4, 6)[k]
        wheel = me.ReferenceFrame(f"W{k}")
        wheel.orient_axis(frame, axis, q[place])
        wheel.set_ang_vel(frame, u[place] * axis)
        along = [2 if axis.dot(each) != 0 else 1 for each in (frame.x, frame.y, frame.z)]
        moments = me.inertia(frame, *[mass * r * r / 4 * each for each in along])
        solids.append(me.RigidBody(f"wheel{k}", center, wheel, mass, (moments, center)))
        touching = center.vel(ground) + wheel.ang_vel_in(ground).cross(-r * ground.z)
        rows += [touching.dot(ahead), *([] if k == 1 else [touching.dot(axis)])]
        loads += [(wheel, tau[place] * axis), (frame, -tau[place] * axis)]
    return _lambdified(ground, q, u, [3, 4], [0, 1, 2, 5, 6], rows, solids, loads, tau)


def _at(start: Any, along: Any, ground: Any, frame: Any) -> Any:
    found = start.locatenew("P", along)
    found.v2pt_theory(start, ground, frame)
    return found


def _lambdified(ground: Any, q: Sequence[Any], u: Sequence[Any], independent: list[int], others: list[int],
                rows: list[Any], solids: list[Any], loads: list[Any], tau: Sequence[Any]) -> Callable[..., np.ndarray]:
    import sympy
    from sympy.physics import mechanics as me

    kane = me.KanesMethod(ground, q, [u[k] for k in independent], u_dependent=[u[k] for k in others],
                          kd_eqs=[each.diff(me.dynamicsymbols._t) - rate for each, rate in zip(q, u, strict=True)],
                          velocity_constraints=rows)
    kane.kanes_equations(solids, loads)
    both = sympy.lambdify([q, u, tau], [kane.mass_matrix, kane.forcing], cse=True)
    order = np.argsort([*independent, *others])

    def accelerations(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        M, forcing = both(q, qd, tau)
        return np.linalg.solve(M, forcing)[:, 0][order]

    return accelerations


MUJOCO = f"""
<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="50 50 1"/>
<body pos="0 0 {ROBOT.radius}"><freejoint/><geom type="box" size="0.2 0.2 0.03" mass="20" contype="0" conaffinity="0"/>
<geom type="sphere" size="{ROBOT.radius}" pos="0 -0.3 0" mass="0.8" condim="1"/>
<body pos="{ROBOT.track / 2} {ROBOT.axle} 0"><joint axis="-1 0 0"/>
<geom type="cylinder" size="{ROBOT.radius} 0.01" zaxis="1 0 0" mass="1.5"/></body>
<body pos="{-ROBOT.track / 2} {ROBOT.axle} 0"><joint axis="-1 0 0"/>
<geom type="cylinder" size="{ROBOT.radius} 0.01" zaxis="1 0 0" mass="1.5"/></body>
</body></worldbody></mujoco>"""
