"""Second derivatives of inverse and of forward dynamics, as kernels: the analytic first derivatives, differentiated on
the graph.

The last index is the direction in which the configuration or the velocity moves; configurations move along the
velocities. What is not listed is zero or follows: D does not depend on velocities, the derivatives of V by the
coordinates are those of P by the velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.dynamics.linearised.by_differentiation import along_velocities
from cayley.dynamics.linearised.kernels import forward_derivatives_text, sensitivities_text
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree
from cayley.showing import shown_briefly


@shown_briefly
class InverseSecondDerivatives(NamedTuple):
    """Each (nv, nv, nv): dD/dq, dV/dqd, dP/dqd and dP/dq."""

    D_by_q: Array
    V_by_qd: Array
    P_by_qd: Array
    P_by_q: Array


@shown_briefly
class ForwardSecondDerivatives(NamedTuple):
    """Each (nv, nv, nv): of the accelerations by (q, q), (q, qd), (qd, qd) and (tau, q)."""

    by_q_q: Array
    by_q_qd: Array
    by_qd_qd: Array
    by_tau_q: Array


def inverse_second_derivatives_kernel(tree: Tree) -> Kernel[InverseSecondDerivatives]:
    """`inverse_second_derivatives(q, qd, qdd)`: how D, V and P change.

    >>> from cayley.model.catalogue import load_robot
    >>> found = inverse_second_derivatives_kernel(load_robot("s1_g1"))([0.3, -0.7], [0.5, 1.2], [-0.4, 0.8])
    >>> found.D_by_q[0, 0].round(6) + 0.0
    array([0. , 0.773061])
    """
    links = links_of(tree)
    text = sensitivities_text(tree)

    def inverse_second_derivatives(q: Array, qd: Array, qdd: Array) -> InverseSecondDerivatives:
        D, V, P = _differentiated(links, text, q, qd, qdd)
        return InverseSecondDerivatives(D[0], V[1], P[1], P[0])

    return kernel(sized(tree, "(q),(v),(v)->(v,v,v),(v,v,v),(v,v,v),(v,v,v)"),
                  outputs=InverseSecondDerivatives._fields)(inverse_second_derivatives)


def forward_second_derivatives_kernel(tree: Tree) -> Kernel[ForwardSecondDerivatives]:
    """`forward_second_derivatives(q, qd, tau)`: how the derivatives of the accelerations change."""
    links = links_of(tree)
    text = forward_derivatives_text(tree)

    def forward_second_derivatives(q: Array, qd: Array, tau: Array) -> ForwardSecondDerivatives:
        _, by_q, by_qd, by_tau = _differentiated(links, text, q, qd, tau)
        return ForwardSecondDerivatives(by_q[0], by_q[1], by_qd[1], by_tau[0])

    return kernel(sized(tree, "(q),(v),(v)->(v,v,v),(v,v,v),(v,v,v),(v,v,v)"),
                  outputs=ForwardSecondDerivatives._fields)(forward_second_derivatives)


def _differentiated(links: Links, text: Callable[..., Any], q: Array, *others: Array) -> list[tuple[Any, Any]]:
    """The derivatives (..., nv) of what a text gives: along the velocities, and by the velocity."""
    if not links.nv:
        return [(np.zeros((*np.shape(x), 0)),) * 2 for x in text(q, *others)]
    own = [independent(x) for x in (q, *others)]
    derived = [jacobian(x, np.concatenate(own)) for x in text(*own)]
    return [(along_velocities(links, q, x[..., :links.nq]), x[..., links.nq:links.nq + links.nv]) for x in derived]
