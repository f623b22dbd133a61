"""Gains for a wanted speed: natural frequency and damping ratio of each error by itself, whatever a law makes of kp.

    K1 = -d^2 tau / d q d kp        D1 = -d^2 tau / d qd d kd        what one more of kp, and of kd, does
    kp_i = w^2 / (J M^-1 K1 J^+)_ii        kd_i = 2 zeta w / (J M^-1 D1 J^+)_ii        J = 1 for targets of joints
Of computed torque and resolved acceleration these are w^2 and 2 zeta w exactly; of laws of forces they are what they
would be if no other joint moved, a first guess to be looked at. ki is kp w / 5, a tenth of Routh's limit of a joint by
itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.stability.linear_model import entries
from cayley.control.targets import Aim, JointAim, check_gives_forces
from cayley.errors import SignatureError
from cayley.kinematics.frame_kernels import sized
from cayley.systems import System


def gains_for(make: Callable[[dict[str, ArrayLike]], System], plant: System, aim: Aim, at: Array, *,
              frequency: float = 10.0, damping_ratio: float = 1.0) -> dict[str, Array]:
    """`kp`, `kd` and `ki` of the law that `make` makes of them, at a configuration `at` that is also the target."""
    if not (0 < frequency < np.inf and 0 < damping_ratio < np.inf):
        raise SignatureError(f"a frequency and a damping ratio are positive, not {frequency} and {damping_ratio}")
    rest = {"q": at, "qd": np.zeros(aim.tree.nv)}
    inverse = plant.linearize(rest, {"tau": np.zeros(aim.tree.nv)}).B[-aim.tree.nv:]

    law = make({"kp": 1.0, "kd": 1.0})
    check_gives_forces(law)
    inputs = {name: np.zeros(port.shape) for name, port in law.ports.items()} | rest | aim.still(law, at)
    x = {name: np.full(block.shape, block.default or 0.0) for name, block in law.blocks.items()}

    def slope(of: System, by: str) -> Array:
        return of.linearize(x, inputs).D[np.ix_(entries(of.output_ports, ["tau"]), entries(of.ports, [by]))]

    stiffness = slope(law, "q") - slope(make({"kp": 2.0, "kd": 1.0}), "q")
    damping = slope(law, "qd") - slope(make({"kp": 1.0, "kd": 2.0}), "qd")
    J = kernel(sized(aim.tree, f"(q)->({len(aim.labels)},v)"), name="rows")(aim.jacobian)(at)
    of_joints = np.allclose(damping, np.eye(len(damping)))  # whatever the target is
    kp = _diagonal(J @ inverse @ stiffness @ np.linalg.pinv(J), law, "kp")
    kd = _diagonal(inverse @ damping if of_joints else J @ inverse @ damping @ np.linalg.pinv(J), law, "kd")
    found = {"kp": frequency**2 / kp, "kd": 2 * damping_ratio * frequency / kd, "ki": frequency**3 / 5 / kp}
    return {gain: _of_all(aim, values) for gain, values in found.items()}


def _of_all(aim: Aim, gains: Array) -> Array:
    """Gains (nv) of all joints, of a mechanism with constraints zero where it has no drive."""
    if not isinstance(aim, JointAim) or aim.drives.is_open or len(gains) != aim.drives.count:
        return gains
    return np.asarray(aim.drives.spread(gains))


def _diagonal(matrix: Array, law: System, gain: str) -> Array:
    found = np.diag(matrix)
    if not (np.isfinite(found) & (found > 1e-12)).all():
        raise SignatureError(f"no {gain} of {law.name} can be chosen by frequency and damping ratio at this target: "
                             f"its error number {int(np.argmin(found > 1e-12)) + 1} does not feel it there. Ask for "
                             "fewer rows of a frame, choose another target, or give the gains")
    return found
