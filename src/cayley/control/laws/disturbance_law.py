"""Control with a disturbance observer: computed torque, and what the momentum observer sees taken back.

    tau = M (target'' + kd e' + kp e) + h - r        r' = gain (d - r)        (`momentum_observer`)
    M (e'' + kd e' + kp e) = r - d
d is all that acts besides: of a constant or slow one the error dies without an offset. Where d changes with the
frequency w, the part w / sqrt(w^2 + gain^2) of it is left. A gain beyond some tenth of the sampling frequency shakes.
Source: Ohnishi, Shibata & Murakami, Motion control for advanced mechatronics, 1996, with the momentum observer of
De Luca & Mattone 2003; spec S3-48."""

from __future__ import annotations

from cayley.compiler.typing import ArrayLike
from cayley.control.arms import ArmLike
from cayley.control.compensators.compensation import compensated
from cayley.control.compensators.observers import momentum_observer
from cayley.control.laws.computed_torque_law import computed_torque
from cayley.systems import System, connect


def disturbance_rejection(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, gain: ArrayLike, *,
                          limits: ArrayLike | None = None, name: str = "disturbance rejection") -> System:
    """Computed torque with a disturbance observer, whose estimate is compensated.

    Inputs: `q`, `qd`, `target`, `target_qd`, `target_qdd`. Outputs: `tau`, the `disturbance` (nv) that is seen, and the
    parts of the sum. State: `impulse` of the observer. Forces stay within `limits` (nv), and the observer knows what
    acts: drives that saturate do not wind it up. What is not finite gives no force, and is not learned.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> loop = cy.connect(arm.with_payload("tool", 0.5), disturbance_rejection(arm, 100.0, 20.0, 30.0))
    >>> run = loop.simulate({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=5.0, inputs={"target": [0.5, -0.3]})
    >>> run.end["q"].round(6)
    array([ 0.5, -0.3])
    """
    law = computed_torque(arm, kp, kd)
    observer = momentum_observer(arm, gain)
    count = observer.output_ports["disturbance"].size
    against = System("against", inputs={"disturbance": count}, outputs={"compensation": count},
                     output=lambda t, x, u, p: -u.disturbance)
    return compensated(law, connect(observer, against), limits=limits, name=name)
