"""The family of an arm, found from its table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.errors import ModelError, UnsupportedError
from cayley.kinematics.inverse.analytic.closing import check_target
from cayley.kinematics.inverse.analytic.decoupled import decoupled_6r
from cayley.kinematics.inverse.analytic.parallel import parallel_6r
from cayley.kinematics.inverse.analytic.planar import planar_2r, planar_3r
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.kinematics.inverse.analytic.scara import scara
from cayley.kinematics.inverse.analytic.stanford import stanford_arm
from cayley.model.dh_table import DHTable

Solver = Callable[..., AnalyticResult]
FAMILIES: dict[str, tuple[Solver, ...]] = {"RR": (planar_2r,), "RRR": (planar_3r,), "RRPR": (scara,), "RRPRRR": (stanford_arm,),
                                           "RRRRRR": (decoupled_6r, parallel_6r)}


def analytic_inverse_kinematics(table: DHTable, targets: Any, *, reference: Any = None) -> AnalyticResult | list[AnalyticResult]:
    """All configurations that reach a pose (4, 4), or each of a batch of poses (k, 4, 4), by the family that the arm belongs to.

    The number of solutions differs from pose to pose: a batch gives a list. An arm of no known family is refused with the reasons.
    """
    kinds = "".join(row.kind[0].upper() for row in table.rows)
    targets = np.asarray(targets, dtype=np.float64)
    for target in targets if targets.ndim == 3 and targets.shape[1:] == (4, 4) else [targets]:
        check_target(target)
    reasons = []
    for solve in FAMILIES.get(kinds, ()):
        try:
            if targets.ndim != 3:
                return solve(table, targets, reference=reference)
            return [solve(table, target, reference=reference) for target in targets]
        except ModelError as refusal:
            reasons.append(str(refusal))
    raise UnsupportedError(f"no closed form for this arm with the joints {kinds}: {'; '.join(reasons) or 'no family has these joints'}. "
                           "Use the numeric inverse_kinematics")
