"""Former name of `cayley.dynamics.elastic_drives`, for one version."""

import warnings

from cayley.dynamics.elastic_drives import ElasticArm, MotorMotion, elastic_arm, motor_motion_kernel

__all__ = ["ElasticArm", "MotorMotion", "elastic_arm", "motor_motion_kernel"]
warnings.warn(
    "`cayley.dynamics.elastic_joints` is now `cayley.dynamics.elastic_drives`", DeprecationWarning, stacklevel=2)
