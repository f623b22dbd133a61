"""The names of `cayley.dynamics.linearised`, and where each is written."""

from cayley.dynamics.linearised.identified_discrete_model import FittedModel as FittedModel
from cayley.dynamics.linearised.identified_discrete_model import IdentifiedCoefficients as IdentifiedCoefficients
from cayley.dynamics.linearised.identified_discrete_model import RecursiveFit as RecursiveFit
from cayley.dynamics.linearised.identified_discrete_model import fit_coefficients as fit_coefficients
from cayley.dynamics.linearised.identified_discrete_model import fit_state_space as fit_state_space
from cayley.dynamics.linearised.identified_discrete_model import identified_coefficients as identified_coefficients
from cayley.dynamics.linearised.kernels import ForwardDerivatives as ForwardDerivatives
from cayley.dynamics.linearised.kernels import Linearize as Linearize
from cayley.dynamics.linearised.partials import PartialDerivatives as PartialDerivatives
from cayley.dynamics.linearised.second_derivatives import ForwardSecondDerivatives as ForwardSecondDerivatives
from cayley.dynamics.linearised.second_derivatives import InverseSecondDerivatives as InverseSecondDerivatives
from cayley.dynamics.linearised.second_derivatives import (
    forward_second_derivatives_kernel as forward_second_derivatives_kernel,
)
from cayley.dynamics.linearised.second_derivatives import (
    inverse_second_derivatives_kernel as inverse_second_derivatives_kernel,
)
from cayley.dynamics.linearised.state_space import Linearisation as Linearisation
from cayley.dynamics.linearised.state_space import LinearisedMechanism as LinearisedMechanism
from cayley.dynamics.linearised.state_space import StateSpace as StateSpace
