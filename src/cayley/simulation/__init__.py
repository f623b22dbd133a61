"""Motion in time: adaptive simulation with events, and compiled rollouts of fixed steps."""

from cayley.dynamics.open_tree import inertia_parameters
from cayley.simulation.rollouts import rollout
from cayley.simulation.separation import separated
from cayley.simulation.simulate import simulate
from cayley.systems.adaptive.events import Event
from cayley.systems.rollouts.rollout import Rollout
from cayley.systems.trajectory import Trajectory
from cayley.systems.trajectory_parts import Occurrence

__all__ = ["Event", "Occurrence", "Rollout", "Trajectory", "inertia_parameters", "rollout",
           "separated", "simulate"]
