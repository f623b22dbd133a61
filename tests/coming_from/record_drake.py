"""Record what Drake gives for the rows of its table: `python record_drake.py FOLDER` writes drake_values.json from
FOLDER/panda.urdf and FOLDER/crawler.urdf, which `test_drake.py` writes. It needs `pip install drake`, not Cayley, so
that the values are Drake's whatever is here; they are of Drake 1.51.1."""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "src" / "cayley" / "words" / "drake.tsv"
LINKS = {"panda": "panda_link5", "crawler": "lower"}
POINT = np.array([0.1, 0.2, 0.3])
X = np.array([[0.36, 0.48, -0.8, 0.1], [-0.8, 0.6, 0.0, -0.2], [0.48, 0.64, 0.6, 0.3], [0.0, 0.0, 0.0, 1.0]])
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, 0.6, -0.8])
BASE = {"q": np.array([0.4, -0.2, 0.8, 0.4, 0.1, -0.3, 0.5]), "v": np.array([0.7, -0.5, 0.3, 0.2, 0.9, -0.4])}


def by_name(names):
    """A state: by the names of joints their angle or length, velocity, acceleration and force."""
    return {name: (0.4 * np.sin(k + 1.0), np.cos(2.0 * k), np.sin(3.0 * k + 0.5), np.cos(k + 0.3))
            for k, name in enumerate(sorted(names))}


def built(path, floating=False):
    from pydrake.all import BodyIndex, MultibodyPlant, Parser
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    if not floating:
        plant.WeldFrames(plant.world_frame(), plant.get_body(BodyIndex(1)).body_frame())
    plant.Finalize()
    return plant


def joints_of(plant):
    """The joints of one axis, in Drake's order."""
    found = [plant.get_joint(index) for index in plant.GetJointIndices()]
    return [joint for joint in sorted(found, key=lambda joint: joint.velocity_start()) if joint.num_velocities() == 1]


def recorded(folder):
    import pydrake.all
    sys.path.insert(0, str(HERE))
    from rows import value
    _, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [(line.split("\t") + [""] * 6)[:6] for line in lines]
    values = {}
    for name, link in LINKS.items():
        plant = built(folder / f"{name}.urdf")
        order = [joint.name() for joint in joints_of(plant)]
        q, v, vdot, tau = np.array([by_name(order)[joint] for joint in order]).T
        values[name] = {"order": order}
        for _, theirs, _, _, result, _ in rows:
            if result == "no value":
                continue
            context = plant.CreateDefaultContext()
            plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
            body = plant.GetBodyByName(link)
            push = pydrake.all.SpatialForce(tau=WRENCH[3:], f=WRENCH[:3])
            names = vars(pydrake.all) | {
                "plant": plant, "context": context, "body": body, "tool": plant.GetFrameByName("tool"), "np": np,
                "world": plant.world_frame(), "point": POINT, "vdot": vdot, "tau": tau, "push": push, "X": X,
                "R": X[:3, :3]}
            values[name][theirs] = np.asarray(value(theirs, names)).tolist()
    values["floating"] = floating_values(built(folder / "crawler.urdf", floating=True))
    return values


def floating_values(plant):
    from pydrake.all import MultibodyForces
    order = [joint.name() for joint in joints_of(plant)]
    q, v, *_ = np.array([by_name(order)[joint] for joint in order]).T
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, np.concatenate([BASE["q"], q, BASE["v"], v]))
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    tool = plant.GetFrameByName("tool")
    return {"order": order, "pose": tool.CalcPoseInWorld(context).GetAsMatrix4().tolist(),
            "velocity": tool.CalcSpatialVelocityInWorld(context).get_coeffs().tolist(),
            "energy": plant.EvalKineticEnergy(context), "mass": plant.CalcMassMatrix(context).tolist(),
            "tau": plant.CalcInverseDynamics(context, np.zeros(plant.num_velocities()), forces).tolist()}


if __name__ == "__main__":
    (HERE / "drake_values.json").write_text(json.dumps(recorded(Path(sys.argv[1])), indent=0) + "\n")
