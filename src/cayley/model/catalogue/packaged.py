"""Robots whose files come with another package, with all their meshes: `pip install 'cayley[robots]'`.

They are not copied: each stays under the licence of those who made it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cayley.errors import ModelError, shown

PACKAGE = "example-robot-data"
_FOLDER = "cmeel.prefix/share/example-robot-data/robots"


@dataclass(frozen=True)
class Packaged:
    """A robot of another package: its title, its file there, and its licence."""

    title: str
    file: str
    licence: str

    @property
    def source(self) -> str:
        """Title, file, package and licence in one line."""
        return f"{self.title}: {Path(self.file).name} of {PACKAGE} ({self.licence})"


PACKAGED = {
    "a1": Packaged("Unitree A1, a quadruped", "a1_description/urdf/a1.urdf", "MPL-2.0"),
    "anymal_b": Packaged("ANYmal B, a quadruped", "anymal_b_simple_description/robots/anymal.urdf", "BSD-3-Clause"),
    "anymal_c": Packaged("ANYmal C, a quadruped", "anymal_c_simple_description/urdf/anymal.urdf", "BSD-3-Clause"),
    "b1": Packaged("Unitree B1, a quadruped", "b1_description/urdf/b1.urdf", "MPL-2.0"),
    "baxter": Packaged("Rethink Robotics Baxter, two arms", "baxter_description/urdf/baxter.urdf", "BSD"),
    "bolt": Packaged("Bolt, a biped", "bolt_description/robots/bolt.urdf", "BSD-3-Clause"),
    "centauro": Packaged("Centauro, four wheels on legs and two arms", "centauro_description/urdf/centauro.urdf",
                         "Apache-2.0"),
    "g1": Packaged("Unitree G1, a humanoid", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "BSD-3-Clause"),
    "go1": Packaged("Unitree Go1, a quadruped", "go1_description/urdf/go1.urdf", "MPL-2.0"),
    "go2": Packaged("Unitree Go2, a quadruped", "go2_description/urdf/go2.urdf", "MPL-2.0"),
    "hyq": Packaged("HyQ, a quadruped", "hyq_description/robots/hyq_no_sensors.urdf", "Apache-2.0"),
    "icub": Packaged("iCub, a humanoid", "icub_description/robots/icub.urdf", "CC-BY-SA-4.0"),
    "iris": Packaged("Iris, a quadrotor", "iris_description/robots/iris.urdf", "Apache-2.0"),
    "kinova_gen2": Packaged("Kinova Gen2 (Jaco)", "kinova_description/robots/kinova.urdf", "BSD"),
    "romeo": Packaged("Aldebaran Romeo, a humanoid", "romeo_description/urdf/romeo.urdf", "BSD"),
    "so101": Packaged("SO-101, an arm for learning", "so_arm_description/urdf/so101.urdf", "Apache-2.0"),
    "solo12": Packaged("Solo 12, a quadruped", "solo_description/robots/solo12.urdf", "BSD-3-Clause"),
    "talos": Packaged("PAL Robotics Talos, a humanoid", "talos_data/robots/talos_reduced.urdf", "LGPL-3.0"),
    "talos_full": Packaged("PAL Robotics Talos, with all its fingers", "talos_data/robots/talos_full_v2.urdf",
                           "LGPL-3.0"),
    "tiago": Packaged("PAL Robotics Tiago, a mobile arm", "tiago_description/robots/tiago.urdf", "CC-BY-NC-ND-3.0"),
    "xarm7": Packaged("UFACTORY xArm 7", "xarm_description/urdf/xarm7.urdf", "BSD-3-Clause"),
    "z1": Packaged("Unitree Z1, an arm", "z1_description/urdf/z1.urdf", "MPL-2.0"),
}

# whose shapes robots of the catalogue have, link frame by link frame
_SHAPES = {"panda": "panda_description/urdf/panda.urdf", "panda_hand": "panda_description/urdf/panda.urdf"} | {
    name: f"ur_description/urdf/{name}_robot.urdf" for name in ("ur3", "ur5", "ur10")}


def packaged_shapes(source: str) -> Path | None:
    """The file with the shapes of a robot of the catalogue, by the source of its model; None for others, and where the
    package is not installed. The digest tells the catalogue's file from one of the same name."""
    name = getattr(source, "file", "").removesuffix(".toml")
    if name not in _SHAPES:
        return None
    own = (Path(__file__).parent / f"{name}.toml").read_bytes()
    is_own = getattr(source, "sha256", "") == hashlib.sha256(own).hexdigest()
    found = _in_package(_SHAPES[name]) if is_own else None
    return found if found is not None and found.exists() else None


def _in_package(file: str) -> Path | None:
    from importlib.metadata import PackageNotFoundError, distribution  # brings email, which only these need
    try:
        return Path(str(distribution(PACKAGE).locate_file(f"{_FOLDER}/{file}")))
    except PackageNotFoundError:
        return None


def packaged_file(name: str) -> Path | None:
    """The file of a robot of the package by its name in the catalogue; None if it is not one of these."""
    robot = PACKAGED.get(name)
    if robot is None:
        return None
    path = _in_package(robot.file)
    if path is None:
        raise ModelError(f"{shown(name)} comes with its meshes in another package: pip install 'cayley[robots]'")
    if not path.exists():
        raise ModelError(f"{shown(name)}: {PACKAGE} has no {robot.file} in the version that is installed")
    return path
