"""Coordinates of frames and analytic Jacobians in every parameterisation of the orientation; velocity and acceleration
maps both ways.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cayley.compiler.kernel import kernel
from cayley.errors import ConventionError, SignatureError, SingularityError
from cayley.geometry.rates import world_velocity_map_of_euler
from cayley.geometry.rotations import SEQUENCES
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.analytic import (
    analytic_hessian,
    analytic_jacobian,
    analytic_jacobian_rate,
    analytic_jacobian_second_rate,
    check_orientation,
    coordinates,
)
from cayley.kinematics.jacobians.general_jacobian import (
    general_jacobian,
    jacobian_rate,
    jacobian_second_rate,
    task_jacobian,
)
from cayley.kinematics.jacobians.velocity import acceleration, twist
from cayley.kinematics.orientation import orientation
from cayley.kinematics.singular.redundancy import joint_motion, joint_velocities
from compiler.parity import check_parity
from kinematics.arms import ELBOW, SIX, modified_arm, rotation, standard_arm
from kinematics.exact_motion import derivatives
from kinematics.motions import around, close, everything, of_q, random_state

EULER = [f"{sequence} {axes}" for sequence in SEQUENCES for axes in ("moving", "fixed")]
OTHERS = ["rotation vector", "vector-parameter", "quaternion"]
Q, V = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4]), np.array([0.5, -0.3, 0.8, -1.2, 0.4, 0.7])
VD = np.array([1, 0.4, -0.6, 0.9, -0.2, 0.3])


def with_scipy(name, R):
    """The parameters by another library."""
    found = Rotation.from_matrix(R)
    if name == "rotation vector":
        return found.as_rotvec()
    if name in ("quaternion", "vector-parameter"):
        x, y, z, w = found.as_quat(canonical=True)
        return np.array([w, x, y, z]) if name == "quaternion" else np.array([x, y, z]) / w
    sequence, axes = name.split()
    return found.as_euler(sequence.upper() if axes == "moving" else sequence)


@pytest.mark.parametrize("name", EULER + OTHERS)
def test_parameters_and_their_rates_by_another_library(name):
    """Rates by differences of SciPy's parameters; the rates of the map by differences in 50 digits, below."""
    named, random = orientation(name), np.random.default_rng(5)
    for _ in range(3):
        R, w = Rotation.random(random_state=random).as_matrix(), random.normal(size=3)
        close(named.parameters(R), with_scipy(name, R))
        h = 1e-4
        ahead = [with_scipy(name, Rotation.from_rotvec(k * h * w).as_matrix() @ R) for k in (-2, -1, 1, 2)]
        numeric = (8 * (ahead[2] - ahead[1]) - (ahead[3] - ahead[0])) / (12 * h)
        close(named.rate_map(R) @ w, numeric, 1e-8)


@pytest.mark.parametrize("relative_to", ["world", "frame2"])
@pytest.mark.parametrize("name", ["zyx moving", "xyz moving", "zyz fixed", "yxz fixed", *OTHERS])
def test_analytic_jacobians_and_their_rates_against_fifty_digits(name, relative_to):
    tree, asked = around("spherical"), {"orientation": name, "relative_to": relative_to}
    q, v, vd = random_state(tree)
    size = 3 + orientation(name).size
    _, rate, second = derivatives(of_q(tree, lambda q: coordinates(tree.tree, q, "frame4", **asked), (size,)), tree, q,
                                  v,
                                  vd)
    J = analytic_jacobian(tree.tree, q, "frame4", **asked)
    J_rate = analytic_jacobian_rate(tree.tree, q, v, "frame4", **asked)
    close(J @ v, rate)
    close(J @ vd + J_rate @ v, second)
    whole = of_q(tree, lambda q: analytic_jacobian(tree.tree, q, "frame4", **asked), (size, tree.nv))
    _, rate, second = derivatives(whole, tree, q, v, vd)
    close(J_rate, rate)
    close(analytic_jacobian_second_rate(tree.tree, q, v, vd, "frame4", **asked), second)
    close(analytic_hessian(tree.tree, q, "frame4", **asked) @ v, rate)


def test_every_back_end_gives_the_same():
    arm = modified_arm(ELBOW)
    # far from the singularity of the angles: float32 is compared too
    states = np.random.default_rng(0).uniform(-0.4, 0.4, size=(3, 3))
    asked = {"orientation": "zyx moving", "relative_to": "world"}
    check_parity(
        kernel("(3),(3)->(6,3)")(lambda q, v: analytic_jacobian_rate(arm.tree, q, v, "link3", **asked)), states,
        states[::-1])


@pytest.mark.spec("S3-15")
def test_the_jacobian_of_a_task_map():
    """J = df/dq for r = f(q): by the geometric route, by the compiler, and by differences; refused where the angles are
    singular.
    """
    tree = everything()
    q, v, vd = random_state(tree)
    for name in ("zyz moving", "quaternion"):
        asked = {"orientation": name, "relative_to": "world"}

        def task(q, asked=asked):
            return coordinates(tree.tree, q, "frame9", **asked)

        J = analytic_jacobian(tree.tree, q, "frame9", **asked)
        close(task_jacobian(tree.tree, q, task), J)
        close(J @ v, derivatives(of_q(tree, task, (3 + orientation(name).size,)), tree, q, v, vd)[1])
    # planar: its z axes stay parallel, which zyz angles cannot follow
    arm = modified_arm([(0, 0, 0, 0), (0.3, 0, 0, 0)])
    check = check_orientation(arm.tree, "link2", orientation="zyz moving", relative_to="world")
    with pytest.raises(SingularityError, match=r"'zyz moving' is singular for 'link6' in configuration 1 of the batch"):
        check_orientation(modified_arm(SIX).tree, "link6", orientation="zyz moving",
                       relative_to="world")(np.stack([Q, np.zeros(6)]))
    with pytest.raises(SingularityError, match="use the geometric Jacobian"):
        check(np.array([0.3, 0.4]))
    refused = kernel(
        "(2)->(6,2)",
        check=check)(lambda q: analytic_jacobian(arm, q, "link2", orientation="zyz moving", relative_to="world"))
    with pytest.raises(SingularityError):
        refused([0.3, 0.4])
    check_orientation(arm.tree, "link2", orientation="zyx moving", relative_to="world")(np.array([0.3, 0.4]))
    close(
        analytic_jacobian(arm.tree, np.array([0.3, 0.4]), "link2", orientation="zyx moving", relative_to="world")[3:],
        [[1, 1], [0, 0], [0, 0]])


@pytest.mark.spec("S3-20")
def test_the_two_jacobians_and_the_way_between_them():
    """W3-07: J_omega = blkdiag(1, Omega) J, det J = -det J_omega/sin(theta), and J singular where J_omega is not."""
    arm, asked = modified_arm(SIX), {"orientation": "zyz moving", "relative_to": "world"}
    r = coordinates(arm.tree, Q, "link6", **asked)
    close(r, [0.4451504323, 0.2433383036, -0.2121438133, 2.6272884618, 2.4003948815, -0.5669200870], 1e-9)
    geometric, analytic = general_jacobian(arm.tree, Q, "link6", axes="world"), analytic_jacobian(arm.tree, Q, "link6",
                                                                                                  **asked)
    Omega = world_velocity_map_of_euler(r[3:], sequence="zyz", axes="moving")
    close(geometric, np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), Omega]]) @ analytic, 1e-13)
    close(np.linalg.det(analytic), 0.1016068003, 1e-9)
    close(np.linalg.det(analytic), -np.linalg.det(geometric) / np.sin(r[4]), 1e-13)
    close(analytic @ V, [-0.3879382114, 0.1685998056, 0.0608416608, 2.3291689517, -0.6160390913, 1.5245233348], 1e-9)
    upright = np.eye(4)
    # a tool whose z is the root's z at Q
    upright[:3, :3] = frame_pose(arm.tree, Q, "link6").R.T @ rotation("z", 0.4)[:3, :3]
    level = arm.with_frame("upright", "link6", upright)
    close(np.linalg.det(general_jacobian(level.tree, Q, "upright", axes="world")), np.linalg.det(geometric), 1e-13)
    with pytest.raises(SingularityError):
        check_orientation(level.tree, "upright", **asked)(Q)
    check_orientation(level.tree, "upright", orientation="zyx moving", relative_to="world")(Q)


@pytest.mark.spec("S3-21")
def test_velocity_and_acceleration_maps_both_ways():
    """W3-07 forwards, round trips with both Jacobians, and the refusal at q5 = 0."""
    arm, asked = modified_arm(SIX), {"orientation": "zyz moving", "relative_to": "world"}
    kinds = {
        "geometric": (general_jacobian(arm.tree, Q, "link6", axes="world"),
                      jacobian_rate(arm.tree, Q, V, "link6", axes="world")),
        "analytic": (analytic_jacobian(arm.tree, Q, "link6", **asked),
                     analytic_jacobian_rate(arm.tree, Q, V, "link6", **asked))}
    for J, J_rate in kinds.values():
        first, second = J @ V, J @ VD + J_rate @ V
        close(joint_velocities(J, first), V)
        found = joint_motion(J, J_rate, first, second)
        close(found.velocities, V)
        close(found.accelerations, VD)
    J, J_rate = kinds["geometric"]
    close(twist(arm.tree, Q, V, "link6", axes="world"), J @ V)
    close(acceleration(arm.tree, Q, V, VD, "link6", axes="world"), J @ VD + J_rate @ V)
    close(J @ VD + J_rate @ V, [-0.1966521813, 0.1391282999, -0.0442814014, -1.0966875271, -0.8275815982, 0.0951782492],
          1e-8)
    many = np.stack([V, 2 * V, -V])
    close(joint_velocities(J, many @ J.T), many)
    straight = np.stack([Q, np.array([0.2, -0.5, 0.3, 0.6, 0.0, -0.4])])
    with pytest.raises(SingularityError, match="Jacobian 1 of the batch is singular") as refusal:
        joint_velocities(arm.jacobian(straight, "link6", axes="world"), J @ V)
    assert "no joint velocities give a rate along" in str(refusal.value)
    with pytest.raises(SignatureError, match="choose rows"):
        joint_velocities(J[:3], V[:3])


@pytest.mark.spec("S1-94")
def test_jacobians_with_first_and_second_rates():
    """R9.1: geometric and, for zyx angles, analytic; arms of five, six and seven joints; the singularity of the triple.
    """
    for joints in (5, 6, 7):
        arm = standard_arm([(0.1, 0.3 + 0.1 * k, 0.2, 0.0) for k in range(joints)], "R" * (joints - 2) + "PR")
        q, v, vd = random_state(arm, joints)
        frame = f"frame{joints}"
        for point in (None, np.array([0.1, -0.2, 0.3])):
            whole = of_q(arm, lambda q, a=arm, f=frame, p=point: general_jacobian(a.tree, q, f, axes="world", at=p),
                         (6, joints))
            now, rate, second = derivatives(whole, arm, q, v, vd)
            close(now @ v, twist(arm.tree, q, v, frame, axes="world", at=point))
            close(jacobian_rate(arm.tree, q, v, frame, axes="world", at=point), rate)
            close(jacobian_second_rate(arm.tree, q, v, vd, frame, axes="world", at=point), second)
        asked = {"orientation": "zyx moving", "relative_to": "world"}
        whole = of_q(arm, lambda q, a=arm, f=frame, k=asked: analytic_jacobian(a.tree, q, f, **k), (6, joints))
        now, rate, second = derivatives(whole, arm, q, v, vd)
        a, b, _ = coordinates(arm.tree, q, frame, **asked)[3:]
        T = np.array([[0, -np.sin(a), np.cos(a) * np.cos(b)], [0, np.cos(a), np.sin(a) * np.cos(b)], [1, 0,
                                                                                                      -np.sin(b)]])
        close(T @ now[3:], general_jacobian(arm.tree, q, frame, axes="world")[3:])
        close(now, task_jacobian(arm.tree, q, lambda q, a=arm, f=frame, k=asked: coordinates(a.tree, q, f, **k)))
        close(analytic_jacobian_rate(arm.tree, q, v, frame, **asked), rate)
        close(analytic_jacobian_second_rate(arm.tree, q, v, vd, frame, **asked), second)
    # a turn about z, then one about -y: cos b = 0 at q2 = pi/2
    nose_up = modified_arm([(0, 0, 0, 0), (0, np.pi / 2, 0, 0)])
    with pytest.raises(SingularityError, match="zyx"):
        check_orientation(nose_up.tree, "link2", orientation="zyx moving",
                          relative_to="world")(np.array([0.4, np.pi / 2]))


@pytest.mark.parametrize("name", ["zyy moving", "zyx", "zyx turning", "euler", "Quaternion"])
def test_attitudes_that_are_not_there(name):
    with pytest.raises(ConventionError, match="zyx moving"):
        orientation(name)
