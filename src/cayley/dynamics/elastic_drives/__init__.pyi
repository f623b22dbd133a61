"""The names of `cayley.dynamics.elastic_drives`: what a user imports from it, and where each is written."""

from cayley.dynamics.elastic_drives.motor_motion import ElasticArm as ElasticArm
from cayley.dynamics.elastic_drives.motor_motion import MotorMotion as MotorMotion
from cayley.dynamics.elastic_drives.motor_motion import elastic_arm as elastic_arm
from cayley.dynamics.elastic_drives.motor_motion import motor_motion_kernel as motor_motion_kernel
from cayley.dynamics.elastic_drives.reduction import ReductionError as ReductionError
from cayley.dynamics.elastic_drives.reduction import VectorParameterState as VectorParameterState
from cayley.dynamics.elastic_drives.reduction import angles_of_vector_parameters as angles_of_vector_parameters
from cayley.dynamics.elastic_drives.reduction import reduction_error as reduction_error
from cayley.dynamics.elastic_drives.reduction import (
    vector_parameter_dynamics_kernel as vector_parameter_dynamics_kernel,
)
from cayley.dynamics.elastic_drives.reduction import vector_parameters_of_angles as vector_parameters_of_angles
