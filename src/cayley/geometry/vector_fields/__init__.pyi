"""The names of `cayley.geometry.vector_fields`: what a user imports from it, and where each is written."""

from cayley.geometry.vector_fields.brackets import LieGroup as LieGroup
from cayley.geometry.vector_fields.brackets import algebra_axioms as algebra_axioms
from cayley.geometry.vector_fields.brackets import iterated_bracket as iterated_bracket
from cayley.geometry.vector_fields.brackets import lie_bracket as lie_bracket
from cayley.geometry.vector_fields.brackets import lie_derivative as lie_derivative
from cayley.geometry.vector_fields.brackets import structure_constants as structure_constants
from cayley.geometry.vector_fields.brackets import vector_field as vector_field
from cayley.geometry.vector_fields.distributions import Involutivity as Involutivity
from cayley.geometry.vector_fields.distributions import involutivity as involutivity
from cayley.geometry.vector_fields.distributions import rank as rank
from cayley.geometry.vector_fields.generated_algebra import ControllabilityAlgebra as ControllabilityAlgebra
from cayley.geometry.vector_fields.generated_algebra import controllability_algebra as controllability_algebra
from cayley.geometry.vector_fields.output_degrees import Linearisability as Linearisability
from cayley.geometry.vector_fields.output_degrees import RelativeDegrees as RelativeDegrees
from cayley.geometry.vector_fields.output_degrees import linearisability as linearisability
from cayley.geometry.vector_fields.output_degrees import output_linearising_law as output_linearising_law
from cayley.geometry.vector_fields.output_degrees import relative_degrees as relative_degrees
