"""Configurations of a mechanism: `arm.configurations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.compiler.typing import Array, ArrayLike
from cayley.mechanism import functions
from cayley.mechanism.room import Room, forwarded
from cayley.model import configurations
from cayley.model.named_configurations import NamedConfigurations

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism


class Configurations(NamedConfigurations, Room):
    """Named configurations of a mechanism, as a mapping, checks of configurations, and states of Pinocchio models.

    Names come from SRDF files beside the URDF file, keyframes of MJCF, `[configurations]` of TOML, the catalogue, and
    `arm.variants.with_configuration`."""

    def __init__(self, arm: Mechanism) -> None:
        Room.__init__(self, arm)
        NamedConfigurations.__init__(self, arm.tree)

    @property
    def neutral_within_limits(self) -> Array:
        """The configuration (nq) with every joint at its zero, or in the middle of its range where zero is outside; of
        a mechanism with loops a closed one near that. `neutral` is the zero of the configuration space, which the
        limits may exclude.

        >>> arm = cy.load("panda")
        >>> arm.neutral[3], arm.configurations.neutral_within_limits[3].round(4)
        (np.float64(0.0), np.float64(-1.5708))
        """
        return functions.neutral_within_limits(self.tree)

    def check(self, q: ArrayLike, *, limits: bool = True) -> None:
        """Raise if `q` (..., nq) is no configuration of the joints of this mechanism, or, with `limits`, outside them.
        Whether its constraints are kept there, `constraint_residual` says."""
        configurations.check_configuration(self.tree, q, limits=limits)

    def normalized(self, q: ArrayLike) -> Array:
        """The configurations with their quaternions brought to length one."""
        return configurations.normalized(self.tree, q)

    def with_mimic_joints(self, q: ArrayLike) -> Array:
        """The configurations with every joint that follows another (`mimic`) where that one takes it; in q they are
        independent."""
        return configurations.with_mimic_joints(self.tree, q)

    # States of other programs

    q_from_pinocchio = forwarded(lambda: functions.q_from_pinocchio)
    v_from_pinocchio = forwarded(lambda: functions.v_from_pinocchio)
    q_to_pinocchio = forwarded(lambda: functions.q_to_pinocchio)
    v_to_pinocchio = forwarded(lambda: functions.v_to_pinocchio)
