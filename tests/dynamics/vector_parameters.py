"""The model in vector-parameters, reduced to joint coordinates."""

import numpy as np

from cayley.dynamics.inverse.vector_parameter_lagrange import inverse_dynamics, joint_coordinates
from cayley.dynamics.vector_parameter_model import vector_parameter_inertia


def joint_space_model(links, q, qd, *, whole=False):
    """H(q) (n, n) and h(q, qd) (n), gravity included: H qdd = tau + h. `whole`: see `joint_coordinates`."""
    S = joint_coordinates(links, q, whole=whole)
    n = len(S.c)
    H = vector_parameter_inertia(links, S.c, fixed=S.fixed).reshape(n, 3, n, 3)
    return (np.einsum("ia,iakb,kb->ik", S.first, H, S.first),
            -inverse_dynamics(links, q, qd, np.zeros(n), whole=whole))
