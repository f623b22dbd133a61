"""The family of an arm, found from its table."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import ModelError, UnsupportedError
from cayley.kinematics.inverse.analytic.arms import Arm, check_target, kinds_of
from cayley.kinematics.inverse.analytic.decoupled import DECOUPLED_6R
from cayley.kinematics.inverse.analytic.parallel import PARALLEL_6R
from cayley.kinematics.inverse.analytic.planar import PLANAR_2R, PLANAR_3R
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.kinematics.inverse.analytic.scara import SCARA
from cayley.kinematics.inverse.analytic.stanford import STANFORD
from cayley.kinematics.inverse.analytic.verification import Family
from cayley.model.denavit_hartenberg.table import DHTable

FAMILIES = (PLANAR_2R, PLANAR_3R, SCARA, STANFORD, DECOUPLED_6R, PARALLEL_6R)


def family_of(table: DHTable) -> tuple[Family, Arm]:
    """The family that an arm belongs to, and the arm made ready for it.

    An arm of no known family is refused with the reasons.
    """
    kinds = kinds_of(table)
    reasons = []
    for family in FAMILIES:
        if family.joints == kinds:
            try:
                return family, family.arm(table)
            except ModelError as refusal:
                reasons.append(str(refusal))
    raise UnsupportedError(
        f"no closed form for this arm with the joints {kinds}: {'; '.join(reasons) or 'no family has these joints'}. "
        "Use the numeric inverse_kinematics")


def analytic_inverse_kinematics(table: DHTable, targets: ArrayLike, *,
                                reference: ArrayLike | None = None) -> AnalyticResult | list[AnalyticResult]:
    """All configurations that reach a pose (4, 4), or each of a batch of poses (k, 4, 4), by the family that the arm
    belongs to.

    The number of solutions differs from pose to pose: a batch gives a list, made pose by pose. For many poses of a
    mechanism, `all_solutions` is the quicker way. An arm of no known family is refused with the reasons.
    """
    targets = np.asarray(targets, dtype=np.float64)
    batch = targets.ndim == 3 and targets.shape[1:] == (4, 4)
    for target in targets if batch else [targets]:
        check_target(target)
    family, arm = family_of(table)
    found = [family.solutions(arm, target, reference) for target in (targets if batch else [targets])]
    return found if batch else found[0]
