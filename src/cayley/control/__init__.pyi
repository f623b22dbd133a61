"""The names of `cayley.control`: what a user imports from it, and where each is written."""

from cayley.control.computed_torque_law import computed_torque as computed_torque
from cayley.control.feedback_linearisation import FeedbackLinearisation as FeedbackLinearisation
from cayley.control.flexible_link import FlexibleLink as FlexibleLink
from cayley.control.global_linearisation import OutputLinearisation as OutputLinearisation
from cayley.control.global_linearisation import ResolvedAcceleration as ResolvedAcceleration
from cayley.control.global_linearisation import computed_torque_kernel as computed_torque_kernel
from cayley.control.integrator_chains import chain_gains as chain_gains
from cayley.control.motion_targets import motion_target as motion_target
from cayley.control.motion_targets import motor_motion_along as motor_motion_along
from cayley.control.motors import dc_motors as dc_motors
from cayley.control.observer import luenberger_observer as luenberger_observer
from cayley.control.parameter_sensitivity import trajectory_sensitivity as trajectory_sensitivity
from cayley.control.path_stabiliser import PathStabiliser as PathStabiliser
from cayley.control.pid_control import pid as pid
from cayley.control.platform_law import PlatformLaw as PlatformLaw
from cayley.control.state_fields import affine_fields as affine_fields
from cayley.control.tracking import Tracking as Tracking
from cayley.control.tracking import Weights as Weights
from cayley.control.tracking import simulate_law as simulate_law
from cayley.control.tracking import tracking_control as tracking_control
from cayley.control.vector_parameter_law import vector_parameter_control as vector_parameter_control
from cayley.control.vector_parameter_law import vector_parameter_control_kernel as vector_parameter_control_kernel
