"""The names of `cayley.machines`: what a user imports from it, and where each is written."""

from cayley.machines.linkages.five_bar import FiveBar as FiveBar
from cayley.machines.linkages.four_bar import FourBar as FourBar
from cayley.machines.linkages.slider_crank import SliderCrank as SliderCrank
from cayley.machines.linkages.slider_crank import SlottedLever as SlottedLever
from cayley.machines.parallel.delta import TranslationalDelta as TranslationalDelta
from cayley.machines.parallel.planar_3rrr import Planar3RRR as Planar3RRR
from cayley.machines.parallel.singularity import actuation as actuation
from cayley.machines.parallel.singularity import parallel_singularity as parallel_singularity
from cayley.machines.parallel.stewart import StewartPlatform as StewartPlatform
from cayley.machines.rolling.path_fitting import FittedPath as FittedPath
from cayley.machines.rolling.path_fitting import fitted_path as fitted_path
from cayley.machines.rolling.rolling_robot import RobotMasses as RobotMasses
from cayley.machines.rolling.rolling_robot import RollingRobot as RollingRobot
from cayley.machines.rolling.slipping import SlipCheck as SlipCheck
from cayley.machines.rolling.slipping import slip_check as slip_check
from cayley.machines.rolling.steered_path import SteeredPath as SteeredPath
from cayley.machines.rolling.steered_path import SteeredProgram as SteeredProgram
from cayley.machines.walking.leg_motion import led_trunk as led_trunk
from cayley.machines.walking.leg_motion import shared_load as shared_load
from cayley.machines.walking.leg_motion import shared_thrust as shared_thrust
from cayley.machines.walking.planar_biped import PlanarBiped as PlanarBiped
from cayley.machines.walking.stride import Stride as Stride
from cayley.machines.walking.stride_checks import RepeatingStride as RepeatingStride
