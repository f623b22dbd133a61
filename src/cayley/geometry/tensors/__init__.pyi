from cayley.geometry.tensors.checks import check_orthogonal, check_skew, check_symmetric, check_unit_vector
from cayley.geometry.tensors.cross import hat, vee
from cayley.geometry.tensors.decomposition import (
    isotropic_part,
    skew_part,
    symmetric_part,
    wedge,
)
from cayley.geometry.tensors.dyads import Dyads, dyads_with_antecedents, dyads_with_consequents, minimal_dyads
from cayley.geometry.tensors.frames import (
    components_in_frame,
    tensor_in_frame,
    tensor_of_map,
    tensor_rank,
)
from cayley.geometry.tensors.invariants import (
    ScalarInvariants,
    dual_vector,
    left_dual_tensor,
    left_dual_vector,
    scalar_invariants,
)
from cayley.geometry.tensors.products import (
    LEVI_CIVITA,
    UNIT,
    angle_between_tensors,
    contraction,
    dot,
    double_dot,
    dyad,
    tensor_norm,
    unit_vector,
    vector_triple_matrix,
)
from cayley.geometry.tensors.projections import (
    Eigenspace,
    SpectralDecomposition,
    eigenspaces,
    fixed_space,
    oblique_projection,
    perpendicular_part,
    plane_projection,
    spectral_decomposition,
)
from cayley.geometry.tensors.rotating import (
    angular_acceleration_from_vectors,
    angular_velocity_tensor,
)

__all__ = [
    "LEVI_CIVITA",
    "UNIT",
    "Dyads",
    "Eigenspace",
    "ScalarInvariants",
    "SpectralDecomposition",
    "angle_between_tensors",
    "angular_acceleration_from_vectors",
    "angular_velocity_tensor",
    "check_orthogonal",
    "check_skew",
    "check_symmetric",
    "check_unit_vector",
    "components_in_frame",
    "contraction",
    "dot",
    "double_dot",
    "dual_vector",
    "dyad",
    "dyads_with_antecedents",
    "dyads_with_consequents",
    "eigenspaces",
    "fixed_space",
    "hat",
    "isotropic_part",
    "left_dual_tensor",
    "left_dual_vector",
    "minimal_dyads",
    "oblique_projection",
    "perpendicular_part",
    "plane_projection",
    "scalar_invariants",
    "skew_part",
    "spectral_decomposition",
    "symmetric_part",
    "tensor_in_frame",
    "tensor_norm",
    "tensor_of_map",
    "tensor_rank",
    "unit_vector",
    "vector_triple_matrix",
    "vee",
    "wedge",
]
