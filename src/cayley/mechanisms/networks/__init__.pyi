"""The names of `cayley.mechanisms.networks`: what a user imports from it, and where each is written."""

from cayley.mechanisms.networks.open_network import OpenNetwork as OpenNetwork
from cayley.mechanisms.networks.operators import Operator as Operator
from cayley.mechanisms.networks.rigid_body import RigidBody as RigidBody
