"""Configurations of a mechanism: drawn at random, checked, integrated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import one_kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.mechanism.data import Data
from cayley.model import configurations


class Configurations(Data):
    """Configurations of a mechanism: drawn at random, checked, integrated."""

    # Configurations

    @property
    def configurations(self) -> Mapping[str, Array]:
        """By name, the configurations (nq) that have one: of SRDF files beside the URDF file, keyframes of MJCF,
        `[configurations]` of TOML and the catalogue, and those of `with_configuration`.

        >>> cy.load("panda").configurations["ready"].round(4)
        array([ 0.    , -0.7854,  0.    , -2.3562,  0.    ,  1.5708,  0.7854])
        """
        from cayley.model.named_configurations import NamedConfigurations
        return NamedConfigurations(self.tree)

    @property
    def neutral_within_limits(self) -> Array:
        """The configuration (nq) with every joint at its zero, or in the middle of its range where zero is outside; of
        a mechanism with loops a closed one near that. `neutral` is the zero of the configuration space, which the
        limits may exclude.

        >>> arm = cy.load("panda")
        >>> arm.neutral[3], arm.neutral_within_limits[3].round(4)
        (np.float64(0.0), np.float64(-1.5708))
        """
        from cayley.kinematics.loops.resting import neutral_within_limits
        return neutral_within_limits(self.tree)

    def random_configuration(self, size: int | tuple[int, ...] = (), *,
                             seed: int | np.random.Generator | None = None) -> Array:
        """Configurations (*size, nq) within the limits; see `cayley.model.configurations`. Of a mechanism with loops,
        rods or couplings closed ones, of any assembly mode; see `cayley.kinematics.loops.random_closed`.

        >>> cy.load("ur5").random_configuration((2, 3), seed=0).shape
        (2, 3, 6)
        """
        if self.loops or self.constraints:
            from cayley.kinematics.loops.random_closed import random_closed_configuration
            return random_closed_configuration(self.tree, size, seed=seed)
        return configurations.random_configuration(self.tree, size, seed=seed)

    def normalized(self, q: ArrayLike) -> Array:
        """The configurations with their quaternions brought to length one."""
        return configurations.normalized(self.tree, q)

    def with_mimic_joints(self, q: ArrayLike) -> Array:
        """The configurations with every joint that follows another (`mimic`) where that one takes it; in q they are
        independent.
        """
        return configurations.with_mimic_joints(self.tree, q)

    def check_configuration(self, q: ArrayLike, *, limits: bool = True) -> None:
        """Raise if `q` (..., nq) is no configuration of the joints of this mechanism, or, with `limits`, outside them.
        Whether its constraints are kept there, `constraint_residual` says."""
        configurations.check_configuration(self.tree, q, limits=limits)

    @one_kernel("q", "qd")
    def integrate(self) -> Kernel:
        """`integrate(q, qd)`: where the constant velocity qd leads from q in unit time."""
        from cayley.kinematics.configuration_kernels import integrate_kernel
        return integrate_kernel(self.tree)

    @one_kernel("start", "end")
    def difference(self) -> Kernel:
        """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
        from cayley.kinematics.configuration_kernels import difference_kernel
        return difference_kernel(self.tree)
