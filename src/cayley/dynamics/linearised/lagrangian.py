"""The sensitivity matrices of open chains from Lagrange's equations over homogeneous matrices, as they were first
linearised.

    W        transform (4, 4) of a link          U_k, U_k', U_k''    its derivative by q_k, and the rates of that
    J        pseudo-inertia                      U_ik                its second derivatives
    D_ik = sum tr(U_i J U_k^T)
    V_ik = 2 sum tr(U_i J U_k'^T)
    P_ik = sum tr(U_ik J W''^T) + tr(U_i J U_k''^T) - g . U_ik J e_4
over the links that both joints move. A baseline, of O(n^3) terms with matrices of 16 numbers. Source: after
Neuman & Murray 1984 and Balafoutis, Misra & Patel 1986, references 8 and 15 of Balafoutis & Patel 7.2.2 b), on (5.2.9).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.rigid_links import transforms
from cayley.dynamics.rigid_links.links import Links

_LAST = np.array([0.0, 0.0, 0.0, 1.0])


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (n, n) of an open chain of revolute and prismatic joints."""
    n = len(links.links)
    g = np.array([*links.gravity, 0.0])
    D = np.zeros((n, n))
    V = np.zeros((n, n))
    P = np.zeros((n, n))
    second = transforms.transform_derivatives(links, q).second
    moving = transforms.at_rest(4)
    changing = [transforms.MovingMatrix(*[np.zeros((4, 4))] * 3)] * n
    for number, link in enumerate(links.links):
        A = transforms.transform(link, q)
        Q = transforms.insertion(link)
        rates = (qd[number], qdd[number])
        moving = moving.carried(A, Q, *rates)
        changing = [change.carried(A, Q, *rates) for change in changing]
        changing[number] = transforms.MovingMatrix(*[x @ Q for x in moving])  # dA/dq = A Q, and Q is constant
        U, dU, ddU = (np.stack(x) for x in zip(*changing, strict=True))
        J = transforms.pseudo_inertia(link.moments)
        weighed = U @ J
        D = D + np.einsum("iab,kab->ik", weighed, U)
        V = V + 2 * np.einsum("iab,kab->ik", weighed, dU)
        P = P + np.einsum("iab,kab->ik", weighed, ddU) + np.einsum("ikab,ab->ik", second[number] @ J,
                                                                   moving.ddW - np.outer(g, _LAST))
    return Sensitivities(D, V, P)
