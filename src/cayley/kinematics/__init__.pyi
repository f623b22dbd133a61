"""The names of `cayley.kinematics`: what a user imports from it, and where each is written."""

from cayley.kinematics.constraints.structure import mobility as mobility
from cayley.kinematics.contacts.contact_points import ContactPoints as ContactPoints
from cayley.kinematics.contacts.contact_points import ContactSpot as ContactSpot
from cayley.kinematics.contacts.contact_points import contact_layout as contact_layout
from cayley.kinematics.contacts.contact_points import contact_points as contact_points
from cayley.kinematics.contacts.contact_points import contact_points_kernel as contact_points_kernel
from cayley.kinematics.forward import (
    Pose as Pose,
)
from cayley.kinematics.forward import (
    body_pose as body_pose,
)
from cayley.kinematics.forward import (
    body_poses as body_poses,
)
from cayley.kinematics.forward import (
    frame_pose as frame_pose,
)
from cayley.kinematics.inverse.analytic.all_solutions import (
    AllSolutions as AllSolutions,
)
from cayley.kinematics.inverse.analytic.all_solutions import (
    all_solutions as all_solutions,
)
from cayley.kinematics.inverse.analytic.all_solutions import analytic_inverse_kinematics as analytic_inverse_kinematics
from cayley.kinematics.inverse.continuous import PostureResult as PostureResult
from cayley.kinematics.inverse.continuous import continuous_posture as continuous_posture
from cayley.kinematics.inverse.numeric import InverseKinematicsResult as InverseKinematicsResult
from cayley.kinematics.inverse.numeric import (
    distinct_solutions as distinct_solutions,
)
from cayley.kinematics.inverse.numeric import (
    inverse_kinematics as inverse_kinematics,
)
from cayley.kinematics.inverse.tracking import NewtonResult as NewtonResult
from cayley.kinematics.inverse.tracking import PathResult as PathResult
from cayley.kinematics.inverse.tracking import (
    Rates as Rates,
)
from cayley.kinematics.inverse.tracking import (
    damped_inverse as damped_inverse,
)
from cayley.kinematics.inverse.tracking import (
    damping_from_singular_value as damping_from_singular_value,
)
from cayley.kinematics.inverse.tracking import follow_path as follow_path
from cayley.kinematics.inverse.tracking import newton_iteration as newton_iteration
from cayley.kinematics.inverse.tracking import (
    resolved_rates as resolved_rates,
)
from cayley.kinematics.jacobians.analytic import (
    absolute_twist_matrix as absolute_twist_matrix,
)
from cayley.kinematics.jacobians.analytic import (
    analytic_hessian as analytic_hessian,
)
from cayley.kinematics.jacobians.analytic import (
    analytic_jacobian as analytic_jacobian,
)
from cayley.kinematics.jacobians.analytic import (
    analytic_jacobian_rate as analytic_jacobian_rate,
)
from cayley.kinematics.jacobians.analytic import (
    analytic_jacobian_second_rate as analytic_jacobian_second_rate,
)
from cayley.kinematics.jacobians.analytic import (
    coordinates as coordinates,
)
from cayley.kinematics.jacobians.analytic import (
    pose_rate as pose_rate,
)
from cayley.kinematics.jacobians.analytic import (
    similar_twist_matrix as similar_twist_matrix,
)
from cayley.kinematics.jacobians.analytic import (
    twist_matrix as twist_matrix,
)
from cayley.kinematics.jacobians.general_jacobian import (
    configuration_rate_map as configuration_rate_map,
)
from cayley.kinematics.jacobians.general_jacobian import (
    hessian as hessian,
)
from cayley.kinematics.jacobians.general_jacobian import (
    jacobian_rate as jacobian_rate,
)
from cayley.kinematics.jacobians.general_jacobian import (
    jacobian_second_rate as jacobian_second_rate,
)
from cayley.kinematics.jacobians.general_jacobian import (
    task_jacobian as task_jacobian,
)
from cayley.kinematics.jacobians.vector_parameter_chain import (
    JointLines as JointLines,
)
from cayley.kinematics.jacobians.vector_parameter_chain import PairLimits as PairLimits
from cayley.kinematics.jacobians.vector_parameter_chain import (
    active_columns as active_columns,
)
from cayley.kinematics.jacobians.vector_parameter_chain import (
    attitude_jacobian as attitude_jacobian,
)
from cayley.kinematics.jacobians.vector_parameter_chain import (
    chain_pose as chain_pose,
)
from cayley.kinematics.jacobians.vector_parameter_chain import (
    dual_jacobian as dual_jacobian,
)
from cayley.kinematics.jacobians.vector_parameter_chain import (
    joint_pairs as joint_pairs,
)
from cayley.kinematics.jacobians.vector_parameter_chain import (
    vector_parameter_jacobian as vector_parameter_jacobian,
)
from cayley.kinematics.jacobians.vector_parameter_chain import within_limits as within_limits
from cayley.kinematics.jacobians.velocity import (
    acceleration as acceleration,
)
from cayley.kinematics.jacobians.velocity import jacobian as jacobian
from cayley.kinematics.jacobians.velocity import (
    joint_rates as joint_rates,
)
from cayley.kinematics.jacobians.velocity import (
    twist as twist,
)
from cayley.kinematics.jacobians.velocity import (
    velocity_by_running as velocity_by_running,
)
from cayley.kinematics.jacobians.velocity import (
    velocity_by_sum as velocity_by_sum,
)
from cayley.kinematics.link_motion import (
    point_acceleration as point_acceleration,
)
from cayley.kinematics.link_motion import (
    point_position as point_position,
)
from cayley.kinematics.link_motion import (
    point_velocity as point_velocity,
)
from cayley.kinematics.loops.assembly_modes import AssemblyModes as AssemblyModes
from cayley.kinematics.loops.assembly_modes import assemblies as assemblies
from cayley.kinematics.loops.closing import Closure as Closure
from cayley.kinematics.loops.closing import close as close
from cayley.kinematics.loops.following_inputs import InputPath as InputPath
from cayley.kinematics.loops.following_inputs import follow_inputs as follow_inputs
from cayley.kinematics.singular.indices import (
    Indices as Indices,
)
from cayley.kinematics.singular.indices import (
    JacobianEllipsoid as JacobianEllipsoid,
)
from cayley.kinematics.singular.indices import (
    condition_number as condition_number,
)
from cayley.kinematics.singular.indices import (
    force_ellipsoid as force_ellipsoid,
)
from cayley.kinematics.singular.indices import (
    joint_velocity_ellipsoid as joint_velocity_ellipsoid,
)
from cayley.kinematics.singular.indices import (
    manipulability as manipulability,
)
from cayley.kinematics.singular.indices import uniform_jacobian as uniform_jacobian
from cayley.kinematics.singular.indices import (
    velocity_ellipsoid as velocity_ellipsoid,
)
from cayley.kinematics.singular.indices import velocity_units as velocity_units
from cayley.kinematics.singular.redundancy import (
    JointMotion as JointMotion,
)
from cayley.kinematics.singular.redundancy import (
    RateSolutions as RateSolutions,
)
from cayley.kinematics.singular.redundancy import (
    general_solution as general_solution,
)
from cayley.kinematics.singular.redundancy import (
    gradient_projection as gradient_projection,
)
from cayley.kinematics.singular.redundancy import (
    joint_motion as joint_motion,
)
from cayley.kinematics.singular.redundancy import (
    joint_velocities as joint_velocities,
)
from cayley.kinematics.singular.redundancy import (
    manipulability_gradient as manipulability_gradient,
)
from cayley.kinematics.singular.redundancy import (
    minimum_norm as minimum_norm,
)
from cayley.kinematics.singular.redundancy import (
    projected_rates as projected_rates,
)
from cayley.kinematics.singular.singular_loci import SingularCurve as SingularCurve
from cayley.kinematics.singular.singular_loci import SingularLocus as SingularLocus
from cayley.kinematics.singular.singular_loci import singular_locus as singular_locus
from cayley.kinematics.singular.singularities import (
    Singularity as Singularity,
)
from cayley.kinematics.singular.singularities import (
    singularity as singularity,
)
from cayley.kinematics.singular.singularities import (
    singularity_at as singularity_at,
)
from cayley.kinematics.statics import (
    WrenchSolutions as WrenchSolutions,
)
from cayley.kinematics.statics import (
    generalized_forces as generalized_forces,
)
from cayley.kinematics.statics import (
    joint_forces_that_exert as joint_forces_that_exert,
)
from cayley.kinematics.statics import (
    joint_forces_that_resist as joint_forces_that_resist,
)
from cayley.kinematics.statics import (
    moved_wrench as moved_wrench,
)
from cayley.kinematics.statics import (
    wrench_from_joint_forces as wrench_from_joint_forces,
)
from cayley.kinematics.subspaces import Subspaces as Subspaces
