"""Whether a body can have the mass, centre and inertia that are said of it."""

from __future__ import annotations

from cayley.compiler.samples import is_symbolic
from cayley.errors import ModelError
from cayley.model.parts import Body


def check_possible(body: Body) -> None:
    """Raise `ModelError` if no body can have this mass, centre and inertia.

    >>> import numpy as np
    >>> check_possible(Body("load", 2.0, inertia=np.diag([1.0, 1.0, 3.0])))
    Traceback (most recent call last):
    cayley.errors.ModelError: no body can be as 'load': the triangle inequality fails: I3 = 3 exceeds I1 + I2 = 2 by ...
    """
    if body.mass is None or is_symbolic(body.mass) or is_symbolic(body.inertia) or is_symbolic(body.center):
        return
    from cayley.geometry.inertia.consistency import physical_consistency
    from cayley.geometry.inertia.mass_properties import MassProperties
    wrong = list(physical_consistency(MassProperties(body.mass, body.center, body.inertia)).violations)
    if not body.mass and body.inertia.any():
        wrong.append("it has no mass, but an inertia")
    if wrong:
        raise ModelError(f"no body can be as {body.name!r}: {'; '.join(wrong)}. Moments of inertia are about the "
                         "centre of mass, in kg m^2")
