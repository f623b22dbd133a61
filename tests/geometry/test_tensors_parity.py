"""Every kernel of the tensors in every back end."""

import numpy as np
import pytest

from cayley.geometry import tensors as ct
from compiler.parity import check_parity
from geometry import formulas_of_tensors as ft
from geometry.parity_of_many import check_parity_of_many

RNG = np.random.default_rng(19)
CASES = [
    (ct.dyad, [(3,), (3,)]),
    (ft.right_dot, [(3, 3), (3,)]),
    (ft.left_dot, [(3,), (3, 3)]),
    (ct.dot, [(2, 2), (2, 2)]),
    (ft.tensor_product, [(2, 2), (2, 2)]),
    (ct.double_dot, [(3, 3), (3, 3)]),
    (ft.inner_product, [(3, 3), (3, 3)]),
    (ct.tensor_norm, [(3, 3)]),
    (ct.angle_between_tensors, [(2, 2), (2, 2)]),
    (ct.unit_vector, [(3,)]),
    (ft.scalar_triple_product, [(3,)] * 3),
    (ft.vector_triple_product, [(3,)] * 3),
    (ct.vector_triple_matrix, [(3,)] * 2),
    (ct.symmetric_part, [(3, 3)]),
    (ct.skew_part, [(3, 3)]),
    (ct.isotropic_part, [(3, 3)]),
    (ct.wedge, [(3,), (3,)]),
    (ct.tensor_in_frame.unchecked, [(2, 2), (2, 2)]),
    (ft.axis_projection.unchecked, [(3,)]),
    (ct.plane_projection.unchecked, [(3,)]),
    (ft.parallel_part.unchecked, [(3,), (3,)]),
    (ct.perpendicular_part.unchecked, [(3,), (3,)]),
    (ct.scalar_invariants, [(3, 3)]),
    (ft.principal_invariants, [(3, 3)]),
    (ft.principal_from_eigenvalues, [(3,)]),
    (ft.power_traces, [(3, 3)]),
    (ft.principal_from_power_traces, [()] * 3),
    (ft.symmetric_square, [()] * 2),
    (ct.dual_vector.unchecked, [(3, 3)]),
    (ct.left_dual_tensor, [(3,)]),
    (ct.left_dual_vector.unchecked, [(3, 3)]),
    (ct.hat, [(3,)]),
    (ct.vee, [(3, 3)]),
    (ct.angular_velocity_tensor, [(2, 2)] * 2),
    (ft.angular_acceleration_tensor, [(2, 2)] * 2),
    (ft.split_angular_acceleration, [(2, 2)]),
    (ft.angular_acceleration_from_tensors, [(2, 2)] * 2),
    (ct.angular_acceleration_from_vectors, [(3,)] * 2),
    (ft.point_velocity_by_tensor, [(3,), (3, 3), (3,)]),
    (ft.point_acceleration_by_tensor, [(3,), (3, 3), (3,)]), ]


def test_parity():
    check_parity_of_many([(kernel, [RNG.normal(size=(2, *shape)) for shape in shapes]) for kernel, shapes in CASES])


@pytest.mark.parametrize("kernel, shapes", [
    (ct.unit_vector, [(3,)]), (ct.angle_between_tensors.unchecked, [(2, 2), (2, 2)]), (ct.scalar_invariants, [(3, 3)]),
    (ct.angular_acceleration_from_vectors, [(3,), (3,)]),
], ids=lambda value: getattr(value, "__name__", ""))
def test_derivatives(kernel, shapes):
    check_parity(kernel, *[RNG.normal(size=(2, *shape)) for shape in shapes])
