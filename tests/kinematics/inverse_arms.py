"""Arms of the tests of inverse kinematics: four of industry with their limits, and two of the textbooks."""

import numpy as np

import cayley as cy
from cayley.model.denavit_hartenberg.table import DHRow

PUMA_560, PANDA, UR5, IIWA = (cy.load(name) for name in ("puma560", "panda", "ur5", "iiwa14"))
INDUSTRY = {arm.name: arm for arm in (PUMA_560, PANDA, UR5, IIWA)}

PLANAR_2R = cy.Mechanism.from_dh([DHRow(a=1.0), DHRow(a=0.8)], convention="standard", name="planar 2R")
SIX_JOINTS = cy.Mechanism.from_dh([
    DHRow(),
    DHRow(alpha=-np.pi / 2),
    DHRow(a=0.4318, d=0.15005),
    DHRow(a=0.0203, alpha=-np.pi / 2, d=0.4318),
    DHRow(alpha=np.pi / 2),
    DHRow(alpha=-np.pi / 2)], convention="modified", name="W3-07")


def random_configurations(random, arm, count):
    """Within the limits, or within half a turn where there are none."""
    low, high = np.where(np.isfinite(arm.lower), arm.lower, -np.pi), np.where(np.isfinite(arm.upper), arm.upper, np.pi)
    return random.uniform(low, high, size=(count, arm.nq))
