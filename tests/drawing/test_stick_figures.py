"""Stick figures: what is drawn is where the kinematics say, read back from the artists; labels keep apart; every robot
is drawn.
"""

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import files
from itertools import pairwise

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pinocchio as pin
import pytest
from matplotlib.patches import Circle, Polygon

import cayley as cy
from cayley.drawing import stick_figure
from cayley.drawing.canvas import Labels, on_screen
from cayley.drawing.skeleton import configurations, link_path, resting, skeleton, stands_on_legs
from cayley.drawing.stick_figures import joint_solid, shown_frames
from cayley.drawing.views import plane_normal, view_of
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError
from cayley.model.catalogue import load_robot
from cayley.model.joint_kinds import Floating, Helical, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Joint, Limits, Loop
from cayley.model.tree import Tree

URDFS = {"/".join(f.parts[-3:]): str(f.locate()) for f in sorted(files("example-robot-data")) if f.suffix == ".urdf"}
TALOS, ANYMAL = "talos_data/robots/talos_reduced.urdf", "anymal_b_simple_description/robots/anymal.urdf"

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def chain(*motions, step=(1.0, 0.0, 0.0)):
    """Bodies one after the other, each `step` from the last."""
    pose = np.eye(4)
    pose[:3, 3] = step
    names = ["root", *[f"b{k}" for k in range(len(motions))]]
    joints = [Joint(f"j{k}", names[k], names[k + 1], motion, pose) for k, motion in enumerate(motions)]
    return Tree.of("chain", map(Body, names), joints)


def robot_polygons(ax):
    return corners_of(next(c for c in ax.collections if c.get_label() == "_robot"))


def corners_of(collection):
    """The corners of polygons in space, (n, 3); Matplotlib has no public name for them."""
    return np.reshape(collection._faces, (-1, 3)) if hasattr(collection, "_faces") else collection._vec[:3].T


def line_data(ax, label):
    return [np.stack(line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data(), axis=1)
            for line in ax.lines if line.get_label() == label]


def test_a_planar_arm_is_drawn_in_its_plane_where_trigonometry_says():
    q = [0.5, 0.8, -0.3]
    ax = stick_figure(cy.load("planar3r").tree, q)
    angles, lengths = np.cumsum(q), [1.0, 0.8, 0.5]
    corners = np.cumsum([[0, 0], *[[length * np.cos(a), length * np.sin(a)]
                                   for a, length in zip(angles, lengths, strict=True)]], axis=0)
    for k, body in enumerate(["link1", "link2", "link3"]):
        (drawn,) = line_data(ax, f"_{body}")
        assert np.allclose(drawn[[0, -1]], corners[k:k + 2], atol=1e-12)
    circles = {patch.get_label(): patch.center for patch in ax.patches if isinstance(patch, Circle)}
    assert all(np.allclose(circles[f"_joint{k + 1}"], corners[k], atol=1e-12) for k in range(3))
    assert ax.get_aspect() == 1.0 and ax.get_xlabel() == "x [m]" and ax.get_ylabel() == "y [m]"
    x_arm = next(arm for arm in line_data(ax, "_x") if np.allclose(arm[0], corners[3]))
    along = np.diff(x_arm, axis=0)[0]
    assert np.allclose(along / np.linalg.norm(along), [np.cos(angles[2]), np.sin(angles[2])])


def test_an_arm_in_space_passes_through_the_frames_of_pinocchio():
    arm, model = cy.load(URDFS["panda_description/urdf/panda.urdf"]).tree, pin.buildModelFromUrdf(
        URDFS["panda_description/urdf/panda.urdf"])
    q = np.array([0.3, 0.4, 0.2, -1.8, 0.1, 2.0, 0.5, 0.01, 0.02])
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    figure = skeleton(arm, q)
    ends = np.concatenate([line.points[[0, -1]] for line in figure.lines])
    for k in range(1, 8):
        origin = data.oMf[model.getFrameId(f"panda_link{k}")].translation
        assert np.linalg.norm(ends - origin, axis=1).min() < 1e-12
        mark = next(mark for mark in figure.marks if mark.joint == f"panda_joint{k}")
        assert np.allclose(mark.center, origin, atol=1e-12)
        assert np.allclose(mark.axes[0], data.oMf[model.getFrameId(f"panda_link{k}")].rotation[:, 2], atol=1e-12)
    ax = stick_figure(arm, q, frames=["panda_link7"], shapes=None)
    corners = robot_polygons(ax)
    for mark in figure.marks[:7]:
        for sign in (1, -1):
            cap = mark.center + sign * 1.35 * mark.size * mark.axes[0]
            assert np.abs(np.linalg.norm(corners - cap, axis=1) - 0.8 * mark.size).min() < 1e-12
    pose = data.oMf[model.getFrameId("panda_link7")]
    for k, letter in enumerate("xyz"):
        (arm_drawn,) = line_data(ax, f"_{letter}")
        assert np.allclose(arm_drawn[0], pose.translation, atol=1e-12)
        direction = np.diff(arm_drawn, axis=0)[0]
        assert np.allclose(direction / np.linalg.norm(direction), pose.rotation[:, k], atol=1e-12)


def test_links_go_over_the_common_normal_of_their_axes():
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    path = link_path(np.zeros(3), z, np.array([0.4, 0.3, 0.5]), x)
    assert np.allclose(path, [[0, 0, 0], [0, 0, 0.5], [0, 0.3, 0.5], [0.4, 0.3, 0.5]])
    assert np.allclose(link_path(np.zeros(3), z, np.array([0.4, 0.3, 0.5]), z),
                       [[0, 0, 0], [0.4, 0.3, 0], [0.4, 0.3, 0.5]])
    nearly = np.array([1e-3, 0.0, 1.0]) / np.hypot(1e-3, 1)
    assert len(link_path(np.zeros(3), z, np.array([0.4, 0.3, 0.5]), nearly)) == 2   # the common normal is far away
    assert len(link_path(np.zeros(3), None, np.ones(3), None)) == 2


def test_every_kind_of_joint_has_its_solid():
    tree = chain(Revolute(), Prismatic((0.0, 1.0, 0.0)), Helical(pitch=0.1), Universal(), Spherical(), Planar())
    q = resting(tree)
    q[1] = 0.4
    marks = {mark.joint: mark for mark in skeleton(tree, q).marks}
    assert {name: (mark.mark.shape, mark.mark.color) for name, mark in marks.items()} == {
        "j0": ("cylinder", "turn"), "j1": ("sleeve", "slide"), "j2": ("cylinder", "screw"), "j3": ("cylinder", "turn"),
        "j4": ("ball", "ball"), "j5": ("plate", "slide")}
    ball = np.concatenate(joint_solid(marks["j4"])) - marks["j4"].center
    assert np.allclose(np.linalg.norm(ball, axis=1), 1.2 * marks["j4"].size)
    box = np.concatenate(joint_solid(marks["j1"])) - marks["j1"].center
    assert np.allclose(np.ptp(box, axis=0), np.array([1.7, 3.4, 1.7]) * marks["j1"].size)
    assert marks["j3"].axes.shape == (2, 3) and abs(marks["j3"].axes[0] @ marks["j3"].axes[1]) < 1e-12
    (slide,) = skeleton(tree, q).slides
    assert slide.joint == "j1" and np.allclose(np.diff(slide.points, axis=0), [[0, 0.4, 0]])
    stick_figure(tree, q)
    plt.gcf().canvas.draw()


def test_several_configurations_fade_and_leave_a_trail():
    arm = cy.load("planar2r")
    q = np.linspace([0.0, 0.2], [1.0, 0.9], 5)
    ax = stick_figure(arm.tree, q)
    (trail,) = line_data(ax, "_trail of tool")
    assert np.allclose(trail, arm.pose(q, "tool")[:, :2, 3], atol=1e-12)
    links = [line for line in ax.lines if line.get_label() == "_link2"]
    lightness = [np.mean(matplotlib.colors.to_rgb(line.get_color())) for line in links]
    assert len(links) == 5 and all(a > b for a, b in pairwise(lightness))
    moved = stick_figure(cy.load("scara").tree, [[0.0, 0.1, 0.0, 0.0], [0.5, 0.4, 0.1, 0.0]])
    once = stick_figure(cy.load("scara").tree, [0.5, 0.4, 0.1, 0.0])
    in_column = [np.count_nonzero((np.abs(robot_polygons(ax)[:, :2]) < 0.02).all(axis=1)) for ax in (moved, once)]
    assert in_column[0] < 1.3 * in_column[1]     # it stands still and is drawn once


@pytest.mark.parametrize(("axis", "names"), [((0, 0, 1), ["x [m]", "y [m]"]), ((0, 0, -1), ["x [m]", "y [m]"]),
                                             ((0, 1, 0), ["x [m]", "z [m]"]), ((1, 0, 0), ["y [m]", "z [m]"])])
def test_planes_are_seen_with_their_own_axes(axis, names):
    across = (1.0, 0.0, 0.0) if axis[0] == 0 else (0.0, 1.0, 0.0)
    tree = chain(Revolute(axis), Prismatic(across), Revolute(tuple(-x for x in axis)))
    assert view_of(tree).names == names and stick_figure(tree).name == "rectilinear"
    assert view_of(chain(Revolute(axis), Prismatic(axis))).flat is False


def test_which_mechanisms_are_planar():
    assert plane_normal(chain(Prismatic((1.0, 0.0, 0.0)))) is None
    assert np.allclose(np.abs(plane_normal(chain(Prismatic((1.0, 0.0, 0.0)), Prismatic((0.0, 1.0, 0.0))))), [0, 0, 1])
    assert np.allclose(plane_normal(chain(Planar(), Revolute())), [0, 0, 1])
    assert all(
        plane_normal(chain(motion)) is None for motion in (Spherical(), Floating(), Universal(), Helical(pitch=0.1)))
    assert plane_normal(cy.load("scara").tree) is None
    oblique = tuple(np.array([1.0, 2.0, 2.0]) / 3)
    view = view_of(chain(Revolute(oblique), Revolute(oblique)))
    assert np.allclose(view.rows @ view.rows.T, np.eye(2)) and np.allclose(view.rows @ oblique, 0)
    stick_figure(chain(Revolute(oblique), Revolute(oblique)))
    plt.gcf().canvas.draw()


@pytest.mark.parametrize("name", [TALOS, ANYMAL, "allegro_hand_description/urdf/allegro_left_hand.urdf",
                                  "hector_description/robots/quadrotor_base.urdf"])
def test_trees_are_drawn_on_the_floor(name, tmp_path):
    tree = cy.load(URDFS[name]).tree
    ax = stick_figure(tree, shapes=None)
    plt.savefig(tmp_path / "tree.png", dpi=50)
    assert matplotlib.image.imread(tmp_path / "tree.png")[..., :3].std() > 0.01
    floor = next(c for c in ax.collections if c.get_label() == "_floor")
    height = {z for segment in floor._segments3d for _, _, z in segment}
    lowest = skeleton(tree, resting(tree)).points[:, 2].min()
    assert height == {float(lowest) if stands_on_legs(tree) else 0.0}
    limits = np.array([ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d()])
    scale = ax._box_aspect / np.ptp(limits, axis=1)
    assert np.ptp(scale) < 1e-9 * scale.max()     # equal aspect


def test_the_whole_figure_is_inside_the_axes():
    for name in ("stanford", "panda", "scara"):
        ax = stick_figure(cy.load(name).tree)
        ax.figure.canvas.draw()
        floor = next(c for c in ax.collections if c.get_label() == "_floor")
        seen = on_screen(ax, np.concatenate([robot_polygons(ax), np.concatenate(floor._segments3d)]))
        page = ax.figure.bbox
        assert (seen > [page.x0, page.y0]).all() and (seen < [page.x1, page.y1]).all()


@pytest.mark.parametrize(("name", "frames"), [("puma560", "bodies"), ("panda", "bodies"), (TALOS, "bodies"),
                                              ("planar3r", "bodies")])
def test_labels_do_not_overlap(name, frames):
    tree = cy.load(URDFS.get(name, name)).tree
    names = [body.name for body in tree.bodies][:24] if name == TALOS else frames
    ax = stick_figure(tree, frames=names, shapes=None)
    ax.figure.canvas.draw()
    labels = next(a for a in ax.artists if isinstance(a, Labels))
    boxes = [text.get_window_extent() for text in labels.texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    page = ax.figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    written = ", ".join(text.get_text() for text in labels.texts).split(", ")
    assert sorted(written) == sorted(frame.name for frame in shown_frames(tree, names))


def test_frames_that_are_shown():
    arm = cy.load("panda").tree
    assert [frame.name for frame in shown_frames(arm, "ends")] == ["panda_link0", "tool"]
    assert [frame.name for frame in shown_frames(arm, "tool")] == ["tool"] and shown_frames(arm, ()) == []
    with pytest.raises(ModelError, match=r"no frame or body 'tol'.*'tool'"):
        stick_figure(arm, frames=["tol"])


def test_the_resting_configuration_is_within_the_limits():
    arm = replace(cy.load("panda").tree, named=())
    q = resting(arm)
    assert q[0] == 0.0 and q[3] == pytest.approx(0.5 * (-3.0718 - 0.0698))
    one_sided = Tree.of("t", [Body("a"), Body("b")],
                        [Joint("j", "a", "b", Revolute(), limits=Limits((1.0,), (np.inf,)))])
    assert resting(one_sided).tolist() == [1.0]
    assert np.array_equal(configurations(arm, None), q[None])


def test_wrong_input_is_named():
    arm = cy.load("panda").tree
    with pytest.raises(SignatureError, match=r"panda has configurations \(7,\)"):
        stick_figure(arm, [0.0, 0.0])
    with pytest.raises(GeometryError, match="configuration 1 of panda is not finite"):
        stick_figure(arm, [resting(arm), [np.nan] * 7])
    with pytest.raises(SignatureError, match="7 numbers"):
        stick_figure(arm, ["a"] * 7)
    with pytest.raises(ConventionError, match="panda is not planar"):
        stick_figure(arm, ax=plt.figure().add_subplot())


def test_a_planar_arm_can_be_drawn_in_space_on_given_axes():
    ax = plt.figure().add_subplot(projection="3d")
    assert stick_figure(cy.load("planar2r").tree, [0.3, 0.4], ax=ax) is ax
    assert np.abs(robot_polygons(ax)[:, 2]).max() < 0.1
    flat = plt.figure().add_subplot()
    flat.plot([5.0], [5.0], "o")
    stick_figure(cy.load("planar2r").tree, [0.3, 0.4], ax=flat)
    assert flat.get_xlim()[1] >= 5.0 and any(isinstance(patch, Polygon) for patch in flat.patches)


def test_matplotlib_is_not_loaded_before_it_is_needed():
    code = "import sys, cayley, cayley.drawing, cayley.mechanism; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Closed machines

CLOSED = ("four_bar", "slider_crank", "five_bar", "three_rrr", "delta", "stewart", "gripper", "excavator")


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_machine_is_drawn_closed_with_all_that_holds_it(name):
    tree = load_robot(name)
    figure = skeleton(tree, resting(tree))
    touched = np.concatenate([*figure.paths, [mark.center for mark in figure.marks], [pose.p for pose in figure.poses]])
    for constraint in (*tree.loops, *tree.constraints):
        first, second = (figure.frame_pose(tree.frame(end)).p for end in constraint.frames)
        assert min(np.linalg.norm(touched - first, axis=1)) < 1e-12  # the bodies reach the places where they are held
        assert min(np.linalg.norm(touched - second, axis=1)) < 1e-12
        apart = getattr(constraint, "length", 0.0)
        assert np.linalg.norm(second - first) == pytest.approx(apart, abs=1e-12)
    assert {mark.joint for mark in figure.marks} >= {loop.name for loop in tree.loops}
    assert {slide.joint for slide in figure.slides} >= {constraint.name for constraint in tree.constraints}
    shown = [frame.name for frame in shown_frames(tree, "ends")]
    assert shown == ["base", "tool", *(["right pad"] if name == "gripper" else [])]


def test_a_platform_has_an_outline_through_its_corners():
    tree = load_robot("stewart")
    figure = skeleton(tree, tree.neutral)
    hexagon = next(line for line in figure.lines if line.body == "platform" and len(line.points) == 7)
    corners = [figure.frame_pose(tree.frame(f"corner {k}")).p for k in range(1, 7)]
    assert all(min(np.linalg.norm(hexagon.points - corner, axis=1)) < 1e-8 for corner in corners)
    assert not any(len(line.points) > 4 for line in skeleton(load_robot("panda"), np.zeros(7)).lines)


def test_the_ground_of_a_planar_machine_is_its_supports_which_labels_leave_free():
    ax = stick_figure(load_robot("three_rrr"))
    hatched = [patch for patch in ax.patches if patch.get_hatch()]
    assert len(hatched) == 3
    assert not any(line.get_label() == "_base" for line in ax.lines)
    assert sum(bool(patch.get_hatch()) for patch in stick_figure(load_robot("planar2r")).patches) == 1
    plt.close("all")


def test_wheels_have_rims_that_touch_the_floor():
    tree = load_robot("two_wheel_robot")
    figure = skeleton(tree, np.array([0.3, -0.2, 0.7, 0.4, 0.5, 1.1, 0.6]))
    for name, radius in (("left wheel", 0.1), ("castor wheel", 0.04)):
        rim = next(line.points for line in figure.lines if line.body == name)
        np.testing.assert_allclose(np.linalg.norm(rim - figure.poses[tree.body_number(name)].p, axis=1), radius)
        assert abs(rim[:, 2].min()) < 0.01 * radius


def test_the_sleeve_of_a_slide_that_closes_a_loop_is_its_block():
    bodies = [Body(name) for name in ("ground", "crank", "block", "rocker")]
    above, out = np.eye(4), np.eye(4)
    above[1, 3] = 0.3
    out[0, 3] = 0.1
    joints = [Joint("crank", "ground", "crank", Revolute(), above), Joint("block", "crank", "block", Revolute(), out),
              Joint("rocker", "ground", "rocker", Revolute())]
    tree = Tree.of("quick return", bodies, joints, loops=[Loop("slide", "rocker", "block", Prismatic((1.0, 0.0, 0.0)))])
    turned = np.arctan2(0.3, 0.1)
    figure = skeleton(tree, np.array([0.0, turned, turned]))
    sleeve = next(mark for mark in figure.marks if mark.joint == "slide")
    np.testing.assert_allclose(sleeve.center, [0.1, 0.3, 0.0], atol=1e-12)
    np.testing.assert_allclose(sleeve.axes[0], [np.cos(turned), np.sin(turned), 0.0], atol=1e-12)
