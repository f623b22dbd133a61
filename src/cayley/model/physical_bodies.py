"""Check that a rigid body can have a given mass, centre and inertia, used by everything that builds mechanisms.

Numbers that are given for a link, a body or a load are refused. Files of makers have such bodies, and mechanisms are
made of theirs: these are made with a warning."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.errors import ModelError, warn_user
from cayley.model.parts import Body

_ONE_MOMENT = 1e-8  # of the largest moment: below this the other two are zero


def impossibilities(body: Body) -> tuple[str, ...]:
    """One sentence for each inequality that this mass, centre and inertia fail; none of unknown numbers.

    An inertia about one axis alone, diag(0, 0, I), with mass or without, is that of a planar model or of a link that
    turns about that axis only: there is nothing wrong with it.

    >>> impossibilities(Body("load", 2.0, inertia=np.diag([1.0, 1.0, 3.0])))
    ('the triangle inequality fails: I3 = 3 exceeds I1 + I2 = 2 by 1 kg m^2',)
    >>> impossibilities(Body("crank", 2.0, inertia=np.diag([0.0, 0.0, 3.0])))
    ()
    """
    if body.mass is None or is_symbolic(body.mass) or is_symbolic(body.inertia) or is_symbolic(body.center):
        return ()
    from cayley.geometry.inertia.consistency import physical_consistency
    from cayley.geometry.inertia.mass_properties import MassProperties
    verdict = physical_consistency(MassProperties(body.mass, body.center, body.inertia))
    moments = verdict.principal_moments
    if np.abs(moments[:2]).max() <= _ONE_MOMENT * moments[2]:
        return ()
    return verdict.violations


def check_possible(*bodies: Body) -> None:
    """Raise `ModelError` if no body can have the mass, centre and inertia of one of these.

    >>> check_possible(Body("load", 2.0, inertia=np.diag([1.0, 1.0, 3.0])))
    Traceback (most recent call last):
    cayley.errors.ModelError: no rigid body has the mass properties of 'load': the triangle inequality fails: I3 ...
    """
    for body in bodies:
        wrong = impossibilities(body)
        if wrong:
            raise ModelError(f"no rigid body has the mass properties of {body.name!r}: {'; '.join(wrong)}. Moments of "
                             "inertia are about the centre of mass, in kg m^2; "
                             "geometry.inertia.nearest_physical_inertia offers a repair")


def warn_of_impossible(bodies: Iterable[Body], source: str) -> None:
    """Give a `ModelWarning` that names the bodies whose mass properties no rigid body can have."""
    wrong = [f"{body.name!r}: {'; '.join(found)}" for body in bodies if (found := impossibilities(body))]
    if wrong:
        warn_user(f"{source}: no rigid body has the mass properties of {', nor '.join(wrong)}. The numbers are used as "
                  "given; with_body(name, inertia=...) changes them, and geometry.inertia.nearest_physical_inertia "
                  "suggests a repair")
