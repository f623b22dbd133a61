"""Direct-current motors with their currents, one a joint, as a system."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import SignatureError
from cayley.systems.system import System


def dc_motors(resistance: ArrayLike, inductance: ArrayLike, torque_constant: ArrayLike, *, gear: ArrayLike = 1.0,
              name: str = "motors") -> System:
    """Motors that turn voltages into joint forces: inputs `voltage` and `qd`, output `tau`, state `current`, each (n).

        L di/dt = V - R i - k N qd        tau = k N i
    with the resistance R [ohm], the inductance L [H], the torque constant k [N m/A] and the ratio N of the gear, turns
    of the rotor to one of the joint; each (n) or a number, and all parameters of the system. The inertia of rotors
    belongs to the mechanism (`including("armature")`). Its energy is that of the magnetic fields.

    >>> import cayley as cy
    >>> cy.connect(cy.load("planar2r"), dc_motors([1.0, 1.5], 0.01, 0.05, gear=100.0))
    <system planar2r + motors: state q, qd, current; inputs voltage; outputs q, qd, tau; parameters R, L, k, N>
    """
    given = {"resistance": resistance, "inductance": inductance, "torque_constant": torque_constant, "gear": gear}
    alike = np.broadcast_arrays(*[np.atleast_1d(np.asarray(value, dtype=float)) for value in given.values()])
    R, L, k, N = map(np.array, alike)
    for (word, _), values in zip(given.items(), (R, L, k, N), strict=True):
        if values.ndim != 1 or not (np.isfinite(values) & ((values > 0) if word != "gear" else (values != 0))).all():
            raise SignatureError(f"the {word} of motors is positive and finite, a number or one for each: {values}")
    n = len(R)
    return System(
        name, state={"current": (n, "A")}, inputs={"voltage": (n, "V"), "qd": n}, outputs={"tau": n},
        parameters={"R": R, "L": L, "k": k, "N": N},
        derivative=lambda t, x, u, p: (u.voltage - p.R * x.current - p.k * p.N * u.qd) / p.L,
        output=lambda t, x, u, p: p.k * p.N * x.current,
        power=lambda t, x, u, p: x.current @ (u.voltage - p.R * x.current - p.k * p.N * u.qd),
        energy=lambda t, x, u, p: x.current @ (p.L * x.current) / 2)
