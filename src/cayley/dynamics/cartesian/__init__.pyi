"""The names of `cayley.dynamics.cartesian`, and where each is written."""

from cayley.dynamics.cartesian.linearised import CartesianLinearisation as CartesianLinearisation
from cayley.dynamics.cartesian.linearised import CartesianLinearised as CartesianLinearised
from cayley.dynamics.cartesian.linearised import Perturbation as Perturbation
from cayley.dynamics.cartesian.linearised import PerturbationMap as PerturbationMap
from cayley.dynamics.cartesian.linearised import perturbation_map as perturbation_map
from cayley.dynamics.cartesian.model import CartesianCoordinates as CartesianCoordinates
from cayley.dynamics.cartesian.model import CartesianMechanism as CartesianMechanism
from cayley.dynamics.cartesian.model import CartesianModel as CartesianModel
from cayley.dynamics.cartesian.model import OperationalSpace as OperationalSpace
from cayley.dynamics.cartesian.model import operational_space_kernel as operational_space_kernel
