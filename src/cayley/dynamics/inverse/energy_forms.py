"""Inverse dynamics of trees by the forms of Gibbs and Appell, Nielsen, and Tzenov: derivatives of a scalar function of
the whole mechanism.

    S    Gibbs' function, sum of 1/2 integral |a + W r|^2 dm = 1/2 m a.a + a.(W u) + 1/2 tr(W E W^T) over the links: a
         the acceleration of the link's origin, less gravity, W = wd~ + w~ w~, u and E first and second moments about it
    L    kinetic less potential energy
dS/dqdd are the forces of joints of every kind. Nielsen's and Tzenov's forms need coordinates whose rates are the
velocities: spherical and floating joints raise an error. Source: `cayley.dynamics.mechanics.lagrange`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import movements
from cayley.dynamics.mechanics.lagrange import gibbs_appell_forces, nielsen_forces, tzenov_forces
from cayley.dynamics.rigid_links.energies import lagrangian
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.errors import ConventionError, UnsupportedError, did_you_mean
from cayley.kinematics.jacobians.general_jacobian import on_its_own_variables
from cayley.model.tree import Tree

Form = Callable[..., Array]  # of links, q, qd and qdd


def acceleration_energy(links: Links, q: Array, qd: Array, qdd: Array) -> Scalar:
    """S [kg m^2/s^4], with gravity as an acceleration of the root upwards: dS/dqdd are then all forces.

    >>> from cayley.model.catalogue import load_robot
    >>> fall = links_of(load_robot("s1_f1"))
    >>> at_rest = acceleration_energy(fall, np.zeros(1), np.zeros(1), np.zeros(1))
    >>> bool(np.isclose(at_rest, 0.5 * fall.links[0].moments.mass * 9.81**2))
    True
    """
    total: Scalar = np.float64(0.0)
    for link, moved in zip(links.links, movements(links, q, qd, qdd), strict=True):
        m, u, E = link.moments
        total = total + m * (moved.a @ moved.a) / 2 + moved.a @ (moved.W @ u) + np.trace(moved.W @ E @ moved.W.T) / 2
    return total


def _of_lagrangian(form: Callable[..., Array]) -> Form:
    return lambda links, q, qd, qdd: form(lambda q, qd, t: lagrangian(links, q, qd), q, qd, qdd)


FORMS: dict[str, Form] = {
    "gibbs-appell": lambda links, *state: gibbs_appell_forces(
        lambda *state: acceleration_energy(links, *state), *state),  # dS/dqdd
    "nielsen": _of_lagrangian(nielsen_forces),  # dL'/dqd - 2 dL/dq
    "tzenov": _of_lagrangian(tzenov_forces)}  # (dL''/dqdd - 3 dL/dq) / 2


def form_of(tree: Tree, name: str) -> Callable[[Array, Array, Array], Array]:
    """The text `(q, qd, qdd)` of a form for the open tree of a mechanism."""
    if name not in FORMS:
        raise ConventionError(f"there is no form {name!r} of the equations of motion"
                              f"{did_you_mean(name, FORMS, otherwise='.')} The forms are {', '.join(FORMS)}")
    links = links_of(tree.spanning_tree())
    if name != "gibbs-appell":
        for link in links.links:
            if not link.motion.velocity_is_rate:
                raise UnsupportedError(
                    f"the form {name!r} is of coordinates whose rates the velocities are; those of joint {link.name!r} "
                    f"of {tree.name}, which is {link.motion.word}, are not: use 'gibbs-appell'")
    if not links.nv:
        return lambda q, qd, qdd: np.zeros(0)
    return lambda q, qd, qdd: on_its_own_variables(partial(FORMS[name], links), (links.nv,), q, qd, qdd,
                                                   inside=links.has_symbols)
