"""A two-link arm with stiff elastic drives for a minute, beside MuJoCo's integrators: who stays stable, who keeps the
energy of vibrations, and what a step costs. `make bench`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import cayley as cy
import page
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from tables import Requirement, Table, required
from timing import OtherPrograms

CASES = ((1e4, 2e-3), (1e5, 1e-3), (1e7, 1e-3))  # N m/rad, s
START, TORQUE = np.array([0.3, 0.5]), np.array([50.0, -20.0])
GEAR, ROTOR = 10.0, np.array([0.005, 0.005, 1e-4])
LINKS = ((2.0, 0.5, 0.2), (1.5, 0.4, 0.1))  # mass, centre, inertia


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=60.0, help="of motion")
    chosen = options.parse_args()
    others = OtherPrograms()
    found: dict[str, dict[str, str]] = {}
    requirements, missing = [], []
    for k, step in CASES:
        case = f"{k:.0e} N m/rad, {1e3 * step:g} ms"
        for title, run in ours(k, step, chosen.seconds):
            error, left, us = run()
            found.setdefault(title, {})[case] = shown(error, left, us)
            if "gauss" in title:
                requirements.append(Requirement(f"{case}, energy error of {title}", 1e6 * error, 1e3, "millionths"))
        try:
            for title, run in mujocos(k, step, chosen.seconds):
                error, left, us = run()
                found.setdefault(title, {})[case] = shown(error, left, us)
        except ImportError as reason:
            missing.append(f"MuJoCo: {reason}")
    cases = [f"{k:.0e} N m/rad, {1e3 * step:g} ms" for k, step in CASES]
    rows = [[title, *(cells.get(case, "") for case in cases)] for title, cells in found.items()]
    tables = [required(requirements),
              Table("Energy error, what is left of the vibration, microseconds a step", ["", *cases], rows)]
    page.write(__file__, tables, rounds=1, others=others.cores(), missing=missing)


def shown(error: float, left: float, us: float) -> str:
    what = f"{error:.1e}, {100 * left:.1f} %" if error < 1e3 and abs(left) < 1e3 else "diverges"
    return f"{what}, {us:.1f} us"


def arm(k: float, gravity: float) -> Any:
    """Two links of 1 m, their rotors on the axes of the joints, before springs and gears."""
    bodies = [Body("base")] + [Body(f"link{i}", m, (c, 0.0, 0.0), np.diag([0.01, inertia, inertia]))
                               for i, (m, c, inertia) in enumerate(LINKS, 1)]
    place = np.eye(4)
    place[0, 3] = 1.0
    made = cy.Mechanism.of("elastic arm", bodies, [Joint("joint1", "base", "link1", Revolute()),
                                                   Joint("joint2", "link1", "link2", Revolute(), place)],
                           gravity=(0.0, -gravity, 0.0))
    for joint in made.joint_names:
        made = made.with_drive(joint, stiffness=k, gear=GEAR, mass=0.5, tensor=np.diag(ROTOR))
    return made.including("elastic drives")


def scale(k: float) -> float:
    """The energy between hanging and standing, and of the springs [J]."""
    return float(9.81 * 2 * (LINKS[0][0] * 0.5 + LINKS[1][0] * 1.4 + 0.5) + (TORQUE**2).sum() / (2 * k))


def start(k: float) -> np.ndarray:
    return np.concatenate([START, GEAR * (START + TORQUE / k)])


def ours(k: float, step: float, seconds: float) -> list[tuple[str, Any]]:
    def energies(method: str, gravity: float) -> tuple[np.ndarray, float]:
        roll = arm(k, gravity).rollout(method=method)
        roll(start(k), np.zeros(4), step=step, steps=10)
        steps = round(seconds / step)
        before = time.perf_counter()
        found = roll(start(k), np.zeros(4), step=step, steps=steps, every=10)
        return found.energy, (time.perf_counter() - before) / steps * 1e6

    return [(f"Cayley, {method}", lambda method=method: figures(k, lambda gravity: energies(method, gravity)))
            for method in ("gauss-energy", "gauss", "implicit-midpoint", "rk4", "semi-implicit-euler")]


def figures(k: float, energies: Any) -> tuple[float, float, float]:
    """The energy error of the fall, what is left of a vibration without gravity, and microseconds a step."""
    fallen, us = energies(9.81)
    rung, _ = energies(0.0)
    return float(np.abs(fallen - fallen[0]).max()) / scale(k), float(rung[-1] / rung[0]), us


MODEL = """<mujoco><compiler angle="radian" autolimits="true"/>
  <option timestep="{step}" ><flag energy="enable" contact="disable"/>
  </option><worldbody>
  <body name="rotor1"><joint name="motor1" axis="0 0 1"/><inertial pos="0 0 0" mass="0.5" diaginertia="{rotor}"/></body>
  <body name="link1"><joint name="joint1" axis="0 0 1"/>
    <inertial pos="0.5 0 0" mass="2" diaginertia="0.2 0.2 0.2"/>
    <body name="rotor2" pos="1 0 0"><joint name="motor2" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="0.5" diaginertia="{rotor}"/></body>
    <body name="link2" pos="1 0 0"><joint name="joint2" axis="0 0 1"/>
      <inertial pos="0.4 0 0" mass="1.5" diaginertia="0.1 0.1 0.1"/></body></body></worldbody><tendon>
  <fixed stiffness="{k}" springlength="0"><joint joint="motor1" coef="{share}"/><joint joint="joint1" coef="-1"/>
  </fixed>
  <fixed stiffness="{k}" springlength="0"><joint joint="motor2" coef="{share}"/><joint joint="joint2" coef="-1"/>
  </fixed>
  </tendon></mujoco>"""


def mujocos(k: float, step: float, seconds: float) -> list[tuple[str, Any]]:
    import mujoco as mj

    def energies(integrator: str, gravity: float) -> tuple[np.ndarray, float]:
        rotor = " ".join(map(str, ROTOR))
        model = mj.MjModel.from_xml_string(MODEL.format(step=step, rotor=rotor, k=k, share=1 / GEAR))
        model.opt.integrator = getattr(mj.mjtIntegrator, f"mjINT_{integrator.upper()}")
        model.opt.gravity[:] = 0.0, -gravity, 0.0
        data = mj.MjData(model)
        data.qpos[[model.joint(name).qposadr[0] for name in ("joint1", "joint2", "motor1", "motor2")]] = start(k)
        mj.mj_forward(model, data)
        found = [data.energy.sum()]
        steps = round(seconds / step)
        before = time.perf_counter()
        for number in range(steps):
            mj.mj_step(model, data)
            if number % 10 == 9:
                found.append(data.energy.sum())
        us = (time.perf_counter() - before) / steps * 1e6
        bad = (mj.mjtWarning.mjWARN_BADQACC, mj.mjtWarning.mjWARN_BADQPOS, mj.mjtWarning.mjWARN_BADQVEL)
        restarted = any(data.warning[warning].number for warning in bad)
        return np.full(2, np.nan) if restarted else np.array(found), us

    known = [name.removeprefix("mjINT_").lower() for name in dir(mj.mjtIntegrator) if name.startswith("mjINT_")]
    return [(f"MuJoCo, {name}", lambda name=name: figures(k, lambda gravity: energies(name, gravity)))
            for name in known]


if __name__ == "__main__":
    main()
