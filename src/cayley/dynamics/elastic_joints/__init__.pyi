"""The names of `cayley.dynamics.elastic_joints`: what a user imports from it, and where each is written."""

from cayley.dynamics.elastic_joints.elastic_arm import ElasticArm as ElasticArm
from cayley.dynamics.elastic_joints.elastic_arm import elastic_arm as elastic_arm
from cayley.dynamics.elastic_joints.motor_motion import MotorMotion as MotorMotion
from cayley.dynamics.elastic_joints.motor_motion import motor_motion_kernel as motor_motion_kernel
