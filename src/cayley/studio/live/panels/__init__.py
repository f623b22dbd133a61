"""The panels of a robot in the studio: each a class in a file of its own, and a line in this table."""

from cayley.studio.live.panels.appearance import Appearance
from cayley.studio.live.panels.center_of_mass import CenterOfMass
from cayley.studio.live.panels.ellipsoids import Ellipsoids
from cayley.studio.live.panels.end_effector import EndEffector
from cayley.studio.live.panels.equations import EquationsPanel
from cayley.studio.live.panels.frames import Frames
from cayley.studio.live.panels.joints import Joints
from cayley.studio.live.panels.motions import Motions
from cayley.studio.live.panels.panel import Panel
from cayley.studio.live.panels.plots import Plots
from cayley.studio.live.panels.reach import Reach
from cayley.studio.live.panels.simulation import Simulation

PANELS: tuple[type[Panel], ...] = (
    Joints,
    EndEffector, Motions, Simulation, Appearance, Frames, CenterOfMass, Ellipsoids, Reach, Plots, EquationsPanel)
