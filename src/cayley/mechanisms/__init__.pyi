"""The names of `cayley.mechanisms`: what a user imports from it, and where each is written."""

from cayley.mechanisms.linkages.five_bar import FiveBar as FiveBar
from cayley.mechanisms.linkages.four_bar import FourBar as FourBar
from cayley.mechanisms.linkages.slider_crank import SliderCrank as SliderCrank
from cayley.mechanisms.linkages.slotted_lever import SlottedLever as SlottedLever
from cayley.mechanisms.parallel.actuation import actuation as actuation
from cayley.mechanisms.parallel.delta import TranslationalDelta as TranslationalDelta
from cayley.mechanisms.parallel.planar_3rrr import Planar3RRR as Planar3RRR
from cayley.mechanisms.parallel.singularity import parallel_singularity as parallel_singularity
from cayley.mechanisms.parallel.stewart import StewartPlatform as StewartPlatform
from cayley.mechanisms.rolling.path_fitting import FittedPath as FittedPath
from cayley.mechanisms.rolling.path_fitting import fitted_path as fitted_path
from cayley.mechanisms.rolling.rolling_robot import RobotMasses as RobotMasses
from cayley.mechanisms.rolling.rolling_robot import RollingRobot as RollingRobot
from cayley.mechanisms.rolling.slipping import SlipCheck as SlipCheck
from cayley.mechanisms.rolling.slipping import slip_check as slip_check
from cayley.mechanisms.rolling.steered_path import SteeredPath as SteeredPath
from cayley.mechanisms.rolling.steered_path import SteeredProgram as SteeredProgram
from cayley.mechanisms.walking.load_sharing import led_trunk as led_trunk
from cayley.mechanisms.walking.load_sharing import shared_load as shared_load
from cayley.mechanisms.walking.load_sharing import shared_thrust as shared_thrust
from cayley.mechanisms.walking.planar_biped import PlanarBiped as PlanarBiped
from cayley.mechanisms.walking.repeating_stride import RepeatingStride as RepeatingStride
from cayley.mechanisms.walking.stride import Stride as Stride
