"""The parallel-axis theorem for the inertia tensor and for the Euler tensor.

Tables hold tensors about the centre of mass; every other point is reached from there or by way of it. `r` is the vector
from the point to the centre of mass (its sign does not matter). Sources: Balafoutis & Patel (4.3.8)-(4.3.12); Yamamoto
(E.1)-(E.10), corrected as in spec E3-41; the products of inertia of seed 2, section 3.1.3, corrected as in spec E-01.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.tensors.products import vector_triple_matrix


@kernel("(),(3),(3,3)->(3,3)")
def inertia_about_point(mass: Scalar, r: Array, inertia: Array) -> Array:
    """I_o = I_c + m (r.r 1 - r r^T): from the centre of mass to a point.

    >>> inertia_about_point(2.0, [0.3, -0.2, 0.5], np.diag([0.1, 0.2, 0.25]))   # W3-16
    array([[ 0.68,  0.12, -0.3 ],
           [ 0.12,  0.88,  0.2 ],
           [-0.3 ,  0.2 ,  0.51]])
    """
    return inertia + mass * vector_triple_matrix(r, r)


@kernel("(),(3),(3,3)->(3,3)")
def inertia_about_center(mass: Scalar, r: Array, inertia: Array) -> Array:
    """I_c = I_o - m (r.r 1 - r r^T): from a point to the centre of mass.

    >>> inertia_about_center(2.0, [1.0, 0.0, 0.0], np.diag([1.0, 3.0, 3.0])).diagonal()
    array([1., 1., 1.])
    """
    return inertia - mass * vector_triple_matrix(r, r)


@kernel("(),(3),(3,3)->(3,3)")
def euler_tensor_about_center(mass: Scalar, r: Array, euler: Array) -> Array:
    """J_c = J_o - m r (x) r.

    >>> euler_tensor_about_center(2.0, [1.0, 0.0, 0.0], np.diag([5.0, 1.0, 1.0])).diagonal()
    array([3., 1., 1.])
    """
    return euler - mass * np.outer(r, r)
