"""The names of `cayley.dynamics.elastic_drives`: what a user imports from it, and where each is written."""

from cayley.dynamics.elastic_drives.reduction import ReductionError as ReductionError
from cayley.dynamics.elastic_drives.reduction import reduction_error as reduction_error
from cayley.dynamics.elastic_drives.vector_parameter_form import VectorParameterState as VectorParameterState
from cayley.dynamics.elastic_drives.vector_parameter_form import (
    angles_of_vector_parameters as angles_of_vector_parameters,
)
from cayley.dynamics.elastic_drives.vector_parameter_form import (
    vector_parameter_dynamics_kernel as vector_parameter_dynamics_kernel,
)
from cayley.dynamics.elastic_drives.vector_parameter_form import (
    vector_parameters_of_angles as vector_parameters_of_angles,
)
