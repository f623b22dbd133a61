"""A quadruped on its feet: steps with contacts and Coulomb friction under random targets, beside MuJoCo's, in one run.
`make bench`."""

from __future__ import annotations

import argparse
import re
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import page
import robots
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, agree, race

STEP = 2e-3
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
RADIUS, FRICTION = 0.03, 0.7
STIFFNESS, DAMPING = 80.0, 2.0
POSE = np.array([0.0, 0.4, -0.8] * 2 + [0.0, -0.4, 0.8] * 2)
AGREEMENT = {"MuJoCo": 5e-2, "MuJoCo, stiff": 1e-2}  # m, of the height at which it stands: its contacts give way
WAYS = {None: "to rounding", 10: "10 sweeps at most", 5: "5 sweeps at most"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="times that every contestant is measured")
    options.add_argument("--batch", type=int, default=256, help="trajectories")
    options.add_argument("--steps", type=int, default=250, help="steps of each")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), []
    dog = robots.robot("anymal").with_contacts(points=dict.fromkeys(FEET, RADIUS), friction=FRICTION)
    begun = time.perf_counter()
    found = [ours(dog, chosen.batch, chosen.steps, sweeps) for sweeps in WAYS]
    compiled = (time.perf_counter() - begun) / len(WAYS)
    try:
        found += mujoco(dog, chosen.batch, chosen.steps)
    except ImportError as error:
        missing.append(f"mujoco: {error}")
    heights = [np.median(c.torques()[:, 2]) for c in found]
    for c, height in zip(found[1:], heights[1:], strict=True):
        agree(c.title, abs(height - heights[0]), AGREEMENT.get(c.key, 1e-3))
    ns: dict[str, float] = {}
    for medians in track(race(found, chosen.rounds), "anymal", total=chosen.rounds, console=console, transient=True):
        ns = medians
    rows = [[c.title, f"{ns[c.key]:.0f}", f"{1e9 / ns[c.key]:,.0f}", f"{ns[c.key] / ns['Cayley 10']:.1f}",
             left_over(dog, chosen, c.key)] for c in found]
    requirements = [Requirement("ANYmal, four feet, 10 sweeps", ns["Cayley 10"], 350, "ns a step")]
    tables = [required(requirements), Table("ANYmal on four feet, random targets", [
        "", "ns a step", "steps a second", "times 10 sweeps", "largest residual left"], rows),
        Table("Compilation", ["", "s"], [["a rollout", f"{compiled:.1f}"]])]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def start(dog: Any, batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States above the ground, and targets of the joints."""
    r = np.random.default_rng(0)
    q = np.tile(dog.neutral, (batch, 1))
    q[:, 2] = 0.52 + 0.02 * r.random(batch)
    q[:, 7:] = POSE + 0.05 * r.normal(size=(batch, 12))
    return q, np.zeros((batch, dog.nv)), POSE + 0.1 * r.normal(size=(batch, 12))


def law() -> Any:
    """Springs and dampers at the joints."""
    @cy.kernel("(19),(18),(12)->(18)", inputs=("q", "qd", "target"))
    def springs(q: np.ndarray, qd: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(6), STIFFNESS * (target - q[7:]) - DAMPING * qd[6:]])
    return springs


def ours(dog: Any, batch: int, steps: int, sweeps: int | None) -> Contestant:
    q, qd, target = start(dog, batch)
    names = {"roll": dog.rollout(controller=law(), iterations=sweeps), "q": q, "qd": qd, "steps": steps, "h": STEP,
             "target": target}
    call = "roll(q, qd, target=target, step=h, steps=steps, every=steps)"
    end = eval(call, names).q[:, -1]
    return Contestant(f"Cayley {sweeps}", f"Cayley, {WAYS[sweeps]}", call, names, batch * steps, lambda: end)


def left_over(dog: Any, chosen: argparse.Namespace, key: str) -> str:
    """The largest velocity by which a step violated the law of contact, in all trajectories."""
    if not key.startswith("Cayley"):
        return ""
    q, qd, target = start(dog, chosen.batch)
    roll = dog.rollout(controller=law(), iterations=None if key.endswith("None") else int(key.split()[1]))
    run = roll(q, qd, target=target, step=STEP, steps=chosen.steps, every=chosen.steps)
    left = re.search(r"by (\S+) m/s.* in (\d+ of \d+)", run.message)
    return f"{left[1]} m/s, in {left[2]} robots" if left else run.message or "within the tolerance"


def mujoco(dog: Any, batch: int, steps: int) -> list[Contestant]:
    import mujoco as mj

    spec = mj.MjSpec.from_string(robots.mujoco_text(dog))
    spec.compiler.balanceinertia, spec.compiler.boundinertia = True, 1e-9  # of tiny links that are joined in MJCF
    ground = spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[FRICTION, 0.005, 1e-4])
    ground.condim = 3
    for foot in FEET:
        frame = dog.tree.frame(foot)
        spec.body(frame.body).add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=frame.pose[:3, 3],
                                       friction=[FRICTION, 0.005, 1e-4], condim=3)
    joints = [j for body in spec.bodies for j in body.joints if j.type != mj.mjtJoint.mjJNT_FREE]
    for k, joint in enumerate(joints):
        joint.name = f"joint {k}"
        spec.add_actuator(trntype=mj.mjtTrn.mjTRN_JOINT, target=joint.name, gainprm=[STIFFNESS] + 9 * [0.0],
                          biastype=mj.mjtBias.mjBIAS_AFFINE, biasprm=[0.0, -STIFFNESS, -DAMPING] + 7 * [0.0])
    return [contestant(spec.compile(), dog, batch, steps, stiff) for stiff in (False, True)]


def contestant(model: Any, dog: Any, batch: int, steps: int, stiff: bool) -> Contestant:
    """MuJoCo as it is, or with elliptic cones and contacts about as stiff as the step allows."""
    import mujoco as mj
    from mujoco import rollout as mj_rollout

    model.opt.timestep = STEP
    if stiff:
        model.opt.cone, model.opt.impratio = mj.mjtCone.mjCONE_ELLIPTIC, 10.0
        model.geom_solref[:] = -1e5, -500.0
    q, _, target = start(dog, batch)
    state = np.zeros((batch, mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1:1 + dog.nq] = q
    control = np.repeat(target[:, None], steps, axis=1)
    names = {"rollout": mj_rollout.rollout, "model": model, "data": mj.MjData(model), "state": state,
             "control": control}
    call = "rollout(model, data, state, control)"
    end = eval(call, names)[0][:, -1, 1:1 + dog.nq]
    key = "MuJoCo, stiff" if stiff else "MuJoCo"
    title = "elliptic cones, stiff contacts" if stiff else "its own settings"
    return Contestant(key, f"MuJoCo, `rollout`, one thread, {title}", call, names, batch * steps, lambda: end)


if __name__ == "__main__":
    main()
