"""The names of `cayley.mechanisms.networks`: what a user imports from it, and where each is written."""

from cayley.mechanisms.networks.bridge import network_of as network_of
from cayley.mechanisms.networks.bridge import tree_of as tree_of
from cayley.mechanisms.networks.circuit import Circuit as Circuit
from cayley.mechanisms.networks.circuits_in_time import circuit_system as circuit_system
from cayley.mechanisms.networks.circuits_in_time import driven as driven
from cayley.mechanisms.networks.formulation_tree import chain_graph as chain_graph
from cayley.mechanisms.networks.formulation_tree import formulation as formulation
from cayley.mechanisms.networks.hybrid_solve import driven_motion as driven_motion
from cayley.mechanisms.networks.network import Connection as Connection
from cayley.mechanisms.networks.network import LineSpring as LineSpring
from cayley.mechanisms.networks.network import Network as Network
from cayley.mechanisms.networks.open_network import OpenNetwork as OpenNetwork
from cayley.mechanisms.networks.operators import Operator as Operator
from cayley.mechanisms.networks.planar_rods import planar_arm as planar_arm
from cayley.mechanisms.networks.planar_rods import planar_tables as planar_tables
from cayley.mechanisms.networks.rigid_body import RigidBody as RigidBody
from cayley.mechanisms.networks.signal_flow import block_diagram as block_diagram
from cayley.mechanisms.networks.signal_flow_picture import draw_block_diagram as draw_block_diagram
from cayley.mechanisms.networks.system_graph import Edge as Edge
from cayley.mechanisms.networks.system_graph import EdgeKind as EdgeKind
from cayley.mechanisms.networks.system_graph import SystemGraph as SystemGraph
from cayley.mechanisms.networks.tableau import network_motion as network_motion
