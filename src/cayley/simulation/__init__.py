"""Motion in time: adaptive simulation with events, and compiled rollouts of fixed steps."""

from cayley.simulation.events import Event
from cayley.simulation.rollouts import Rollout, rollout
from cayley.simulation.simulate import simulate
from cayley.simulation.state_equation import inertia_parameters
from cayley.simulation.trajectory import Occurrence, Trajectory

__all__ = ["Event", "Occurrence", "Rollout", "Trajectory", "inertia_parameters", "rollout", "simulate"]
