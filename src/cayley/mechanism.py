"""`Mechanism`: the one object that a user has of a robot. The data are the tree's; the algorithms come from the layers below."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cayley.compiler.family import KernelFamily
from cayley.compiler.kernel import Kernel, kernel
from cayley.errors import ConventionError
from cayley.kinematics import forward
from cayley.kinematics.inverse import InverseKinematicsResult, inverse_kinematics
from cayley.kinematics.jacobian_kinds import general_jacobian
from cayley.model.catalogue import catalogue_names, load_robot
from cayley.model.denavit_hartenberg import tree_from_dh
from cayley.model.dh_table import DHRow, rows_from_numbers
from cayley.model.mjcf import load_mjcf
from cayley.model.report import Report, report
from cayley.model.toml_format import load_toml
from cayley.model.tree import Tree
from cayley.model.urdf import load_urdf


def load(name_or_path: str | os.PathLike[str]) -> Mechanism:
    """A robot of the catalogue by its name, or a mechanism from a .urdf, .xml (MJCF) or .toml file.

    >>> arm = load("puma560")
    >>> arm.nq
    6
    """
    ending = Path(name_or_path).suffix.lower()
    if ending == ".urdf":
        return load_urdf(name_or_path, make=Mechanism.of)
    if ending in (".xml", ".mjcf"):
        return load_mjcf(name_or_path, make=Mechanism.of)
    if ending == ".toml":
        return load_toml(name_or_path, make=Mechanism.of)
    return load_robot(str(name_or_path), make=Mechanism.of)


def catalogue() -> tuple[str, ...]:
    """The names of the robots that `load` knows.

    >>> "panda" in catalogue()
    True
    """
    return tuple(catalogue_names())


class Mechanism(Tree):
    """An immutable tree of bodies and joints, with its kinematics as compiled kernels.

    `q` (..., nq) is the configuration, `v` (..., nv) the velocity; every function broadcasts over leading axes.

    >>> arm = load("planar2r")
    >>> arm.pose([0.0, 0.0], "tool").shape, arm.jacobian(np.zeros((10, 2)), "tool", axes="world").shape
    ((4, 4), (10, 6, 2))
    """

    @staticmethod
    def from_dh(rows: Any, *, convention: Literal["standard", "modified"], **options: Any) -> Mechanism:
        """A serial chain from a Denavit-Hartenberg table; the convention, "standard" or "modified", must be named.

        Rows are `DHRow`, or numbers (theta, d, a, alpha) of revolute joints.

        >>> Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard", name="two links")
        <two links: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        listed = list(rows)
        table = listed if all(isinstance(row, DHRow) for row in listed) else rows_from_numbers(listed)
        return tree_from_dh(table, convention=convention, make=Mechanism.of, **options)

    def report(self) -> Report:
        """Bodies, joints, limits, masses, and what is doubtful about them."""
        return report(self)

    @cached_property
    def pose(self) -> KernelFamily:
        """`pose(q, frame, relative_to=None)`: the pose (..., 4, 4) of a frame in the root's frame, or in another."""
        def make(frame: str, relative_to: str | None = None) -> Kernel:
            self._check_frames(frame, relative_to)
            return self._kernel("(q)->(4,4)", lambda q: forward.frame_pose(self, q, frame, relative_to).matrix, f"pose_of_{frame}")
        return KernelFamily(make, 1, "pose", type(self).pose.__doc__)

    @cached_property
    def jacobian(self) -> KernelFamily:
        """`jacobian(q, frame, axes=...)`: the twist (v; w) of the frame's origin by the velocities, (..., 6, nv).

        `axes` must be said: "world" (the root's axes), "body" (the frame's own), or the name of a frame.
        """
        def make(frame: str, *, axes: str | None = None) -> Kernel:
            if axes is None:
                raise ConventionError('say in which axes the Jacobian is to be: axes="world", axes="body", or the name of a frame')
            self._check_frames(frame, axes)
            return self._kernel("(q)->(6,v)", lambda q: general_jacobian(self, q, frame, axes=axes), f"jacobian_of_{frame}")
        return KernelFamily(make, 1, "jacobian", type(self).jacobian.__doc__)

    def inverse_kinematics(self, target: Any, frame: str, **options: Any) -> InverseKinematicsResult:
        """Configurations (..., nq) that bring a frame to poses (..., 4, 4), by search; options as `kinematics.inverse.inverse_kinematics`.

        >>> arm = load("ur5")
        >>> found = arm.inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, bool(found.residual < 1e-10)
        ('solved', True)
        """
        return inverse_kinematics(self, target, frame, **options)

    @cached_property
    def integrate(self) -> Kernel:
        """`integrate(q, v)`: where the constant velocity v leads from q in unit time."""
        return self._kernel("(q),(v)->(q)", lambda q, v: self._by_joint("step", q, v), "integrate")

    @cached_property
    def difference(self) -> Kernel:
        """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
        def text(start: Any, end: Any) -> Any:
            parts = [j.motion.difference(start[s], end[s]) for j, s in zip(self.joints, self.q_slices, strict=True) if j.motion.nq]
            return np.concatenate(parts or [np.zeros(0)])
        return self._kernel("(q),(q)->(v)", text, "difference")

    def _by_joint(self, method: str, q: Any, v: Any) -> Any:
        parts = [getattr(j.motion, method)(q[a], v[b])
                 for j, a, b in zip(self.joints, self.q_slices, self.v_slices, strict=True) if j.motion.nq]
        return np.concatenate(parts or [np.zeros(0)])

    def _check_frames(self, *names: str | None) -> None:
        for name in names:
            if name not in (None, "world", "body"):
                self.frame(str(name))

    def _kernel(self, signature: str, text: Any, name: str) -> Kernel:
        """A kernel with the sizes of this mechanism."""
        sized = re.sub(r"\b[qv]\b", lambda letter: str(self.nq if letter[0] == "q" else self.nv), signature)
        return kernel(sized, name="".join(c if c.isalnum() else "_" for c in name))(text)
