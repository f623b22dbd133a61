"""The configuration of a body by six numbers, chi = (x, y, z, alpha, beta, gamma): a position and three angles of a
named convention.

chi is a list of coordinates and not a vector: the angles of a product of rotations are not the sum of the angles. So it
is an object that can be turned into a pose and back, and has no arithmetic. Source: Balafoutis & Patel 2.2.1, Remark
2.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import place, refuse, tolerance_of
from cayley.geometry.rotations.euler import Axes, EulerSolutions, euler_from_matrix, euler_kernels, matrix_from_euler
from cayley.geometry.rotations.matrix import check_rotation_matrix


@dataclass(frozen=True, eq=False)
class Configuration:
    """Positions (..., 3) [m] and Euler angles (..., 3) [rad] of the named sequence, about "moving" or "fixed" axes.

    >>> turned = Configuration([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], sequence="zyx", axes="moving")
    >>> turned.coordinates
    array([1. , 2. , 3. , 0.1, 0.2, 0.3])
    >>> turned + turned
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for +: 'Configuration' and 'Configuration'
    """

    position: Array
    angles: Array
    sequence: str
    axes: Axes

    __array_ufunc__: ClassVar[None] = None  # NumPy too refuses to calculate with it

    def __post_init__(self) -> None:
        euler_kernels(self.sequence, axes=self.axes)  # refuses a convention that does not exist
        for name in ("position", "angles"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if values.shape[-1:] != (3,):
                raise GeometryError(f"the {name} of a configuration must have shape (..., 3), not {values.shape}")
            object.__setattr__(self, name, values)

    @property
    def coordinates(self) -> Array:
        """(x, y, z, alpha, beta, gamma), shape (..., 6)."""
        return np.concatenate(np.broadcast_arrays(self.position, self.angles), axis=-1)

    def rotation(self) -> Array:
        """The rotation matrices (..., 3, 3)."""
        return matrix_from_euler(self.angles, sequence=self.sequence, axes=self.axes)

    def pose(self) -> Array:
        """The poses (..., 4, 4)."""
        rotation = self.rotation()
        batch = np.broadcast_shapes(self.position.shape[:-1], rotation.shape[:-2])
        pose = np.zeros((*batch, 4, 4))
        pose[..., :3, :3] = rotation
        pose[..., :3, 3] = self.position
        pose[..., 3, 3] = 1.0
        return pose


@dataclass(frozen=True, eq=False)
class ConfigurationSolutions:
    """The two configurations of a pose, and their angles; where `orientation.singular`, one of a family."""

    configuration: Configuration
    other: Configuration
    orientation: EulerSolutions


def configuration_from_coordinates(chi: ArrayLike, *, sequence: str, axes: Axes) -> Configuration:
    """The configuration with the coordinates chi = (x, y, z, alpha, beta, gamma), shape (..., 6).

    >>> configuration_from_coordinates([1, 2, 3, 0, 0, 0], sequence="xyz", axes="fixed").pose() + 0.0
    array([[1., 0., 0., 1.],
           [0., 1., 0., 2.],
           [0., 0., 1., 3.],
           [0., 0., 0., 1.]])
    """
    chi = np.asarray(chi, dtype=np.float64)
    if chi.shape[-1:] != (6,):
        raise GeometryError(f"a configuration must have six coordinates, shape (..., 6), not {chi.shape}")
    return Configuration(chi[..., :3], chi[..., 3:], sequence, axes)


def configuration_from_pose(pose: ArrayLike, *, sequence: str, axes: Axes) -> ConfigurationSolutions:
    """The two configurations of poses (..., 4, 4), with the singular case of the angles reported.

    >>> configuration_from_pose(np.diag([1.0, -1.0, -1.0, 1.0]), sequence="xyz",
    ...                         axes="fixed").configuration.coordinates + 0.0
    array([0.        , 0.        , 0.        , 3.14159265, 0.        , 0.        ])
    """
    pose = np.asarray(pose, dtype=np.float64)
    _check_pose(pose)
    found = euler_from_matrix(pose[..., :3, :3], sequence=sequence, axes=axes)
    position = pose[..., :3, 3].copy()
    return ConfigurationSolutions(Configuration(position, found.angles, sequence, axes),
                                  Configuration(position, found.other, sequence, axes), found)


def _check_pose(pose: Array) -> None:
    if pose.ndim < 2 or pose.shape[-2:] != (4, 4):
        raise GeometryError(f"a pose must have shape (..., 4, 4), not {pose.shape}")
    straight = np.abs(pose[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(axis=-1) <= tolerance_of(pose)
    refuse(straight & np.isfinite(pose[..., :3, 3]).all(axis=-1), lambda bad:
           f"matrix{place(bad)} is not a pose: its last row is {pose[bad][3]}, not (0, 0, 0, 1), or its position is "
           "not finite")
    check_rotation_matrix(pose[..., :3, :3])
