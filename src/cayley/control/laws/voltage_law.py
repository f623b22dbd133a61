"""Forces that a law asks for as voltages of motors: any law of forces becomes one of voltages.

    V = (tau + N k ke N qd / R) / K_hat                                  without inductance: tau is there at once
    V = R i + ke N qd + L w (tau / (N k) - i)                            with it, from measured currents i: then
                                                                         di/dt = w (wanted i - i), a lag of 1/w
With a law whose model includes rotors and friction it is V = (M' q* + h + g + D' qd) / K_hat. Source: spec S3-52.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.actuators.motors import windings_of
from cayley.control.arms import ArmLike, finite_or, tree_of
from cayley.errors import SignatureError
from cayley.systems import Record, System
from cayley.wording import shown


def voltage_commands(arm: ArmLike, *, bandwidth: float | None = None, name: str = "amplifiers") -> System:
    """Inputs `wanted_tau` and `qd`, output `voltage`, each (n); with a `bandwidth` w [rad/s] the current is controlled,
    and `current` (n) is an input: all motors have an inductance then. What is not finite goes out as zero volts.

    Without a bandwidth inductances are left out: the force then lags behind by L / R.

    >>> import cayley as cy
    >>> from cayley.control import computed_torque, motors_of
    >>> from cayley.model.winding import Winding
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    >>> arm = arm.including("armature")
    >>> law = computed_torque(arm, 100.0, 20.0).renamed({"tau": "wanted_tau"})
    >>> loop = cy.connect(arm, law, voltage_commands(arm), motors_of(arm))
    >>> loop.simulate({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=3.0, inputs={"target": [0.5, -0.3]}).end["q"].round(6)
    array([ 0.5, -0.3])
    """
    windings = windings_of(tree_of(arm), "a law of voltages")
    n = len(windings.gain)
    if bandwidth is None:
        return System(name, inputs={"wanted_tau": n, "qd": n}, outputs={"voltage": (n, "V")}, acts=True,
                      output=lambda t, x, u, p: finite_or(
                          (u.wanted_tau + windings.induced_damping * u.qd) / windings.gain, 0.0))
    if not 0 < bandwidth < np.inf or not windings.inductance.all():
        raise SignatureError(f"currents are controlled with a positive bandwidth, not {shown(bandwidth)}, in motors "
                             f"that all have an inductance; these have {windings.inductance}")

    def voltage(u: Record, p: Record) -> Array:
        wanted = u.wanted_tau / (windings.gear * windings.torque_constant)
        return finite_or(windings.resistance * u.current + windings.back_emf * windings.gear * u.qd
                         + windings.inductance * p.bandwidth * (wanted - u.current), 0.0)

    return System(name, inputs={"wanted_tau": n, "qd": n, "current": (n, "A")}, outputs={"voltage": (n, "V")},
                  parameters={"bandwidth": bandwidth}, acts=True, output=lambda t, x, u, p: voltage(u, p))
