"""Reports: the page holds all it needs, its numbers are those of the mechanism, its equations say what the kernels
compute.
"""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy

import cayley as cy
from cayley.drawing.skeleton import skeleton
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.kinematics.forward import body_poses
from cayley.model.catalogue import catalogue_names
from cayley.model.constraint_kinds import PrescribedMotion
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits
from cayley.model.report import TextTable
from cayley.model.tree import Tree
from cayley.planning import cubic_spline
from cayley.studio import mathml, write_report
from cayley.studio.equation_section import equation_section
from cayley.studio.motion_sections import motion_forces, motion_section
from cayley.studio.opening_motion import floating, held, opening_motion, whole_configurations
from cayley.studio.pictures import html_table
from cayley.studio.queries import Asked
from cayley.studio.report import Page
from cayley.studio.scene import embedded, main_frame, scene
from model.random_trees import KINDS, random_configuration, random_parts
from studio.conftest import NAMES, TOO_FAR, pendulum

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


class Outline(HTMLParser):
    """What stands in a page: identities, addresses, texts of scripts and headings; tags that are left open are an
    error.
    """

    VOID = ("meta", "link", "input", "img", "br", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.places, self.addresses, self.scripts, self.text, self.headings = [], [], [], {}, [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places += [found["id"]] if "id" in found else []
        self.addresses += [found[key] for key in ("src", "href", "srcset", "action", "data") if key in found]
        if tag not in self.VOID:
            self.open.append((tag, found))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, found = self.open[-1] if self.open else ("", {})
        if tag == "script":
            self.scripts[found.get("id", "code")] = data
        elif tag == "h2":
            self.headings.append(data)
        elif tag != "style":
            self.text.append(data)


@pytest.fixture(scope="module")
def outlines(pages):
    return lambda name: Outline(pages(name).read_text(encoding="utf-8"))


# The page


@pytest.mark.parametrize("name", NAMES)
def test_nothing_comes_from_outside(pages, outlines, name):
    text, found = pages(name).read_text(encoding="utf-8"), outlines(name)
    assert all(address.startswith(("data:", "#")) for address in found.addresses)
    assert "http:" not in text and "https:" not in text and "@import" not in text and not re.search(r"url\(", text)
    assert set(a[1:] for a in found.addresses if a.startswith("#")) <= set(found.places)
    assert len(found.places) == len(set(found.places))
    assert pages(name).stat().st_size < 3_000_000


def test_a_robot_with_masses_has_every_section(outlines):
    found = outlines("planar2r")
    assert found.headings == [
        "Model", "Workspace and manipulability", "Payload", "Equations of motion", "Operation counts", "Times"]
    assert sum(address.startswith("data:image/png") for address in found.addresses) == 2
    text = "".join(found.text)
    assert "newton-euler" in text and "93n-108 (78)" in text and "Table 5.3" in text  # published beside compiled
    assert {"play", "scrub", "cursor", "view", "sliders"} <= set(found.places)
    for words in ("total mass", "ns per state", "Warnings (", "Mass matrix M", "joint1 [N m]"):
        assert words in text
    for words in ("lower [rad]", "velocity [rad/s]", "armature [kg m^2]", "mimics"):  # of which nothing is known
        assert words not in text
    assert not [words for words in ("What is doubtful", "known mass", "nothing idle") if words in text]


def test_a_robot_without_masses_says_so(outlines):
    found = outlines("scara")
    assert found.headings == ["Model", "Workspace", "Dynamics"]
    assert "Kinematics only: the dynamics of scara need the mass of 'link1'" in "".join(found.text)
    shown, arm = json.loads(found.scripts["played"]), cy.load("scara")
    q = np.array(shown["q"])  # one joint after the other, within the limits
    assert "play" in found.places and (np.ptp(q, axis=0) > 0.1).all()
    assert (q <= arm.upper + 1e-6).all() and (q >= arm.lower - 1e-6).all()
    assert ((np.abs(np.diff(q, axis=0)) > 1e-9).sum(axis=1) <= 2).all()


def test_a_tree_has_its_own_counts_and_says_what_does_not_apply(outlines):
    text = "".join(outlines("anymal").text)
    assert "which this mechanism is not" in text and "methods do not apply" in text and "LF_KFE" in text


def test_names_cannot_break_the_page(outlines):
    found = outlines("odd")
    assert json.loads(found.scripts["scene"])["name"] == "</script><b>odd & 'name'"
    assert "</script><b>odd & 'name'" in "".join(found.text)
    assert "This is the recursive Newton-Euler algorithm" in "".join(found.text)
    assert json.loads(embedded({"a": "<!--</script>"})) == {"a": "<!--</script>"} and "<!" not in embedded("<!--")


def test_a_folder_gets_a_file_with_a_plain_name(robots, tmp_path):
    tree = cy.Mechanism.of("a/b c", [Body("base"), Body("rod")], [Joint("pivot", "base", "rod", Revolute())])
    assert write_report(tree, tmp_path) == tmp_path / "a_b_c.html"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        write_report(robots["scara"], tmp_path / "nowhere" / "x.html")
    with pytest.raises(ModelError, match="puma560"):
        write_report("puma56", tmp_path)


def test_a_planned_motion_is_drawn_and_played(tmp_path):
    arm = cy.load("planar2r")
    move = cubic_spline([0.0, 1.0, 2.0], [[0.1, 0.2], [0.9, -0.4], [0.5, 0.3]], "clamped")
    page = write_report(arm, tmp_path, motion=move).read_text(encoding="utf-8")
    outline = Outline(page)
    assert "Motion" in outline.headings and "play" in outline.places
    assert "From 0 to 2 s; it begins and ends at rest." in outline.text
    assert 'alt="Joint forces of a motion of planar2r"' in page
    played = json.loads(outline.scripts["played"])
    assert len(played["q"]) == 101 and played["step"] == 0.02
    np.testing.assert_allclose(played["q"][50], [0.9, -0.4], atol=1e-6)
    with pytest.raises(cy.CayleyError, match="planar2r"):
        write_report(arm, tmp_path, motion=cubic_spline([0.0, 1.0], np.eye(2, 3)))


def test_forces_of_a_loaded_arm_stand_beside_their_limits():
    arm = cy.load("planar2r")
    limited = [replace(joint, limits=Limits(effort=(limit,)))
               for joint, limit in zip(arm.joints, (30.0, np.inf), strict=True)]
    arm = cy.Mechanism(replace(arm.tree, joints=tuple(limited))).with_payload("tool", 2.0)
    move = cubic_spline([0.0, 1.0, 2.0], [[0.1, 0.2], [0.9, -0.4], [0.5, 0.3]], "clamped")
    t = np.linspace(0.0, 2.0, 600)
    most = np.abs(arm.inverse_dynamics(*move(t))).max(axis=0)
    assert most[0] > 30.0  # the load is too much
    found = Outline(motion_section(arm, move)).text
    assert "The motion needs more than the maximum force of joint1." in found
    rows = motion_forces(arm.tree, np.asarray(arm.inverse_dynamics(*move(t)))).rows
    assert rows == (("joint1 [N m]", f"{most[0]:.4g}", "30", f"{most[0] / 0.3:.0f}"),
                    ("joint2 [N m]", f"{most[1]:.4g}", "inf", ""))
    run = arm.simulate([0.1, 0.2], np.zeros(2), times=np.linspace(0.0, 0.5, 26))
    words = Outline(motion_section(arm, run)).text
    assert "A simulation from 0 to 0.5 s." in words and "more than the maximum" not in words
    page = Page(arm, Asked(run))
    page._motion()
    np.testing.assert_allclose(page.played["q"], run.q, atol=1e-6)


def test_a_report_takes_a_motion_a_load_limits_and_a_law(pages):
    page = pages("asked").read_text(encoding="utf-8")
    arm, (t, q) = pendulum(), TOO_FAR
    outline = Outline(page)
    text = "".join(outline.text)
    assert outline.headings == ["Model", "Workspace", "Payload", "Motion", "Step response",
                                "Tracking", "Joint forces", "Stability", "Equations of motion", "Operation counts",
                                "Times"]
    for words in ("1 kg at tip", "computed", "The motion leaves the range of pivot.",
                  "The motion exceeds the velocity limit of pivot.", "along the motion that was given"):
        assert words in text, words
    move = cubic_spline(t, q, "not-a-knot")
    at = np.linspace(0.0, 1.5, 600)
    most = np.abs(arm.with_payload("tip", 1.0).inverse_dynamics(*move(at))).max()
    assert f'<td>pivot [N m]</td><td class="number">{most:.4g}</td><td class="number">18</td>' in page
    own = (18.0 - 2.0 * 9.81 * 0.3 - 9.81 * 0.6) / (9.81 * 0.6)  # besides the load
    assert f"The drives hold {own:.3g} kg at tip in every posture" in text
    played = np.array(json.loads(outline.scripts["played"])["q"])
    assert len(played) == 76 and 0.001 < np.abs(played[:, 0] - np.interp(
        np.linspace(0, 1.5, 76), at, move.position(at)[:, 0])).max() < 0.5  # the law, which does not know of the load
    assert "<b>bob" not in re.sub("<script.*?</script>", "", page, flags=re.DOTALL)


def test_the_report_of_a_mechanism_is_the_page_of_the_command(tmp_path):
    arm = pendulum(mass=None)
    made = arm.report()
    assert repr(made).startswith("<report of <b>bob: a notebook shows it")
    assert made.page == write_report(arm, tmp_path / "same.html").read_text(encoding="utf-8")
    assert made.save(tmp_path / "bob.html").read_text(encoding="utf-8") == made.page
    assert "sandbox" in made._repr_html_() and "&lt;b&gt;bob" in made._repr_html_()
    assert str(arm.report()) == str(arm.summary()) and "pivot" in str(arm.report())
    with pytest.warns(DeprecationWarning, match=r"'warnings' is of arm.summary\(\)"):
        assert arm.report().warnings == arm.summary().warnings
    with pytest.raises(AttributeError, match="page, save and summary"):
        _ = arm.report().nonsense
    with pytest.raises(ConventionError, match=r"bob\.pdf"):
        made.save(tmp_path / "bob.pdf")
    with pytest.raises(ModelError, match="does not exist"):
        made.save(tmp_path / "none" / "bob.html")


@pytest.mark.parametrize(("options", "words"), [
    ({"payload": -1.0}, "`payload` must be a mass"), ({"payload": np.nan}, "`payload` must be a mass"),
    ({"effort": [1.0, 2.0]}, "each of the 1 velocities"), ({"effort": 0.0}, "positive"), ({"frame": "tp"}, "'tip'"),
    ({"motion": ([0.0, 1.0], np.zeros((2, 3)))}, r"configurations \(k, 1\)"), ({"motion": 3}, "a pair"),
    ({"payload": "3"}, "`payload` must be a mass"), ({"law": "computed-torque"}, "`law` must be a controller")])
def test_what_a_report_cannot_take_is_refused_before_any_work(options, words):
    with pytest.raises(cy.CayleyError, match=words):
        pendulum().report(**options)


def test_rotations_among_the_coordinates_are_played_without_forces():
    arm = cy.Mechanism.of("ball", [Body("base"), Body("arm", 1.0, (0.1, 0, 0))],
                          [Joint("shoulder", "base", "arm", Spherical())])
    q = np.array([[1.0, 0.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0]])
    page = Page(arm, Asked((np.array([0.0, 1.0]), q)))
    page._motion()
    assert "whose rates are not known" in page.sections[-1][2] and len(page.played["q"]) == 51
    with pytest.raises(UnsupportedError, match="a controller is tried on a planned motion"):
        Asked(page.planned).goal(arm, page.planned)


def test_what_does_not_move_has_a_page(tmp_path):
    text = write_report(cy.Mechanism.of("stone", [Body("stone", 1.0)], []), tmp_path).read_text(encoding="utf-8")
    assert "no joint of stone moves" in text


def test_a_base_that_floats_is_held_for_reach_and_motion(tmp_path):
    tree = cy.Mechanism.of(
        "drone",
        [Body("world"), Body("hull", 1.0, inertia=np.eye(3)),
         Body("arm", 1.0, center=(0.3, 0, 0))],
        [Joint("free", "world", "hull", Floating()),
         Joint("hinge", "hull", "arm", Revolute((0.0, 1.0, 0.0)))])
    found = Outline(write_report(tree, tmp_path).read_text(encoding="utf-8"))
    moved = json.loads(found.scripts["played"])["q"]
    assert np.shape(moved) == (201, 8) and np.ptp(np.array(moved)[:, :7], axis=0).max() == 0 and np.ptp(
        np.array(moved)[:, 7]) > 0.5


def test_progress_is_shown_and_the_library_draws_on_no_screen(tmp_path, capsys, monkeypatch):
    stone, figures = cy.Mechanism.of("stone", [Body("stone", 1.0)], []), plt.get_fignums()
    write_report(stone, tmp_path, progress=True)
    assert capsys.readouterr() == ("", "")  # not a terminal
    monkeypatch.setenv("FORCE_COLOR", "1")
    write_report("scara", tmp_path, progress=True)
    seen = capsys.readouterr()
    assert "scara: workspace" in seen.err and seen.out == "" and plt.get_fignums() == figures
    write_report(stone, tmp_path)
    assert capsys.readouterr() == ("", "")


# The scene


def rows(frame, key):
    return np.vstack([np.reshape(frame[key], (3, 4)), [0, 0, 0, 1]])


@pytest.mark.parametrize("name", [*catalogue_names(), "random"])
def test_the_scene_has_the_frames_and_links_of_the_mechanism(name):
    random = np.random.default_rng(1)
    tree = cy.Mechanism.of("random", *random_parts(random, KINDS)[:2]) if name == "random" else cy.load(name)
    data = json.loads(embedded(scene(tree.tree)))
    q = random_configuration(random, tree)
    found = [pose.matrix for pose in body_poses(tree.tree, q)]
    main = next(frame for frame in data["frames"] if frame["main"])
    np.testing.assert_allclose(found[main["body"]] @ rows(main, "pose"), tree.pose(q, main_frame(tree.tree)),
                               atol=1e-12)
    placed = [
        found[link["body"]]
        @ np.vstack([np.array(link["points"]).T, np.ones(len(link["points"]))]) for link in data["links"]]
    for line in skeleton(tree.tree, q).lines:  # links stay links wherever the joints are
        assert min(abs(p[:3].T - line.points).max() for p in placed if p.shape[1] == len(line.points)) < 2e-6


def test_an_arm_that_reaches_below_its_root_stands_on_a_column_on_the_floor():
    """The shoulder of a PUMA is its root; the plate of its base floated above the floor under its motion."""
    arm = cy.load("puma560")
    way = np.stack([arm.configurations["ready"], [0.0, 0.9, 0.2, 0.0, 0.3, 0.0]])
    lowest = arm.pose(way[1], "tool")[2, 3]
    data = scene(arm.tree, way=way)
    base, = [mark for mark in data["marks"] if mark["shape"] == "base"]
    assert data["floor"]["height"] <= lowest < -0.1
    assert base["center"][2] - 0.3 * base["size"] == pytest.approx(data["floor"]["height"])
    assert data["links"][-1]["body"] == 0 and data["links"][-1]["points"] == [[0.0, 0.0, 0.0], base["center"]]
    hanging = np.array([[0.0, 1.7, 0.2, 0.0, 0.3, 0.0]])
    low = scene(arm.tree, way=hanging)  # it has no column through it
    base, = [mark for mark in low["marks"] if mark["shape"] == "base"]
    assert base["center"][2] > low["floor"]["height"] + base["size"]
    assert low["links"] == scene(arm.tree)["links"]


def test_sliders_stay_within_limits_and_leave_out_followers():
    data = scene(cy.load("panda_hand").tree)
    assert [s["place"] for s in data["sliders"]] == [*range(8)]
    assert all(s["lower"] <= s["value"] <= s["upper"] and s["lower"] < s["upper"] for s in data["sliders"])
    one_sided = Tree.of("t", [Body("a"), Body("b")],
                        [Joint("j", "a", "b", Prismatic(), limits=Limits((2.0,), (np.inf,)))])
    slider, = scene(one_sided)["sliders"]
    assert slider["lower"] == 2.0 and np.isfinite(slider["upper"]) and slider["upper"] > 2.0


# The opening motion


@pytest.mark.parametrize("name", ["panda", "four_bar", "two_wheel_robot", "delta"])
def test_the_opening_motion_returns_and_its_forces_do_the_work_of_its_energy(name):
    arm = cy.load(name)
    found = opening_motion(arm.tree)
    q = found.configurations
    np.testing.assert_allclose(q[0], arm.configurations["ready"], atol=1e-6)
    np.testing.assert_allclose(q[[0]], q[[-1]], atol=1e-6)
    drives = list(arm.tree.actuated_velocities)
    assert [word for word, _ in found.drives] == list(arm.tree.actuated_joints)
    places = [arm.tree.q_slices[arm.tree.joint_number(word)].start for word, _ in found.drives]
    half = len(q) // 2  # at rest there: the work is that of gravity alone
    rates = np.gradient(q[:half + 1, places], found.t[:half + 1], axis=0, edge_order=2)
    power = (found.tau[:half + 1] * rates).sum(axis=1)
    work = np.sum((power[1:] + power[:-1]) / 2 * np.diff(found.t[:half + 1]))
    raised = arm.potential_energy(q[half]) - arm.potential_energy(q[0])
    assert np.ptp(q, axis=0).max() > 0.2 and len(drives) == found.tau.shape[1]
    assert work == pytest.approx(raised, abs=2e-3 * np.abs(power).max() + 1e-9)


@pytest.mark.parametrize("name", ["panda", "puma560", "stanford", "kuka_kr6_r900"])
def test_the_opening_motion_stays_within_the_limits(name):
    arm = cy.load(name)
    q = opening_motion(arm.tree).configurations if name == "panda" else None
    if q is None:
        q = np.stack([arm.configurations["ready"]])
    assert (q > arm.lower).all() and (q < arm.upper).all()


def test_what_no_drive_moves_has_a_note_in_place_of_a_motion(tmp_path):
    brick = cy.Mechanism.of("brick", [Body("base"), Body("brick", 2.0, (0.1, 0, 0), np.diag([0.1, 0.2, 0.25]))],
                            [Joint("free", "base", "brick", Floating())])
    found = Outline(write_report(brick, tmp_path).read_text(encoding="utf-8"))
    assert "No motion: brick has no joint that a drive moves by itself." in "".join(found.text)
    assert found.scripts["played"].strip() == "null"


def test_held_is_where_it_rests(robots):
    tree = cy.Mechanism.of("t", *random_parts(np.random.default_rng(5), ["floating", "revolute", "spherical"])[:2]).tree
    still = held(tree, floating(tree))
    q = random_configuration(np.random.default_rng(6), still)
    whole, = whole_configurations(tree, floating(tree), q[None])
    for one, other in zip(body_poses(still, q), body_poses(tree, whole), strict=True):
        np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-13)
    assert whole_configurations(robots["scara"].tree, [False] * 4, np.ones((1, 4))).tolist() == [[1.0] * 4]
    hand = cy.load("panda_hand").tree
    fingers = opening_motion(hand).configurations[:, 7:]
    np.testing.assert_allclose(fingers[:, 0], fingers[:, 1], atol=1e-9)  # one mimics the other
    assert (fingers >= hand.lower[7:] - 1e-6).all()


# The equations, read back from what the browser typesets


def read(node):
    """The Python text of a MathML element: an independent reader."""
    children = [read(child) for child in node]
    text = (node.text or "").strip()
    if node.tag == "mspace":
        return ""
    if node.tag == "mo":
        return {"\u2062": "*", "·": "*", "−": "-", "\u2061": "", "=": "="}.get(text, text)
    if node.tag in ("mi", "mn"):
        return text.replace("−", "-")
    if node.tag == "mover":
        return children[0] + {"˙": "d", "¨": "dd"}[children[1]]
    if node.tag == "msub":
        apart = "" if node[0].get("mathvariant") == "normal" else "_"  # c2, a cosine, is not c_2, a centre
        return f"{children[0]}{apart}{children[1].replace('-', 'm').replace(',', '_')}"
    if node.tag == "msup":
        return f"({children[0]})**({children[1]})"
    if node.tag == "mfrac":
        return f"(({children[0]})/({children[1]}))"
    assert node.tag in ("math", "mrow"), node.tag
    return re.sub(r"(cos|sin)(?!\()(\w+)", r"\1(\2)",
                  f"{''.join(children)}" if node.tag == "math" else f"({''.join(children)})")


def equations_of(html):
    """(names, value text) of every equation, in order."""
    for row in re.findall(r'<div class="equation"><span>(.*?)</span> <span>(.*?)</span></div>', html):
        left = read(ElementTree.fromstring(row[0])).strip("=").split("=")
        yield left, "".join(read(ElementTree.fromstring(one)) for one in re.findall(r"<math>.*?</math>", row[1]))


@pytest.mark.parametrize("name", ["planar2r", "stanford", "puma560", "panda"])
def test_the_typeset_equations_are_those_of_the_kernels(name):
    arm = cy.load(name)
    html = equation_section(arm)
    html = html[html.index("Numeric"):].split("<summary>Symbolic")[0]
    random = np.random.default_rng(0)
    q, qd = random.normal(size=(2, arm.nv))
    known = {"cos": np.cos, "sin": np.sin}
    known |= {f"q_{k + 1}": q[k] for k in range(arm.nv)} | {f"qd_{k + 1}": qd[k] for k in range(arm.nv)}
    for names, text in equations_of(html):
        known |= dict.fromkeys(names, eval(text, {}, known))
    M = [[known.get(f"M_{i + 1}{j + 1}", 0.0) for j in range(arm.nv)] for i in range(arm.nv)]
    V, G = ([known.get(f"{letter}_{i + 1}", 0.0) for i in range(arm.nv)] for letter in "VG")
    for found, true in ((M, arm.inertia_matrix(q)), (V, arm.coriolis_matrix(q, qd) @ qd), (G, arm.gravity_forces(q))):
        np.testing.assert_allclose(found, true, atol=2e-5 * abs(true).max())


def test_groups_of_masses_and_lengths_have_names():
    html = equation_section(cy.load("puma560"))
    letters = html[html.index("<summary>Symbolic"):]
    known = {"cos": np.cos, "sin": np.sin}
    q = np.array([0.3, -0.4, 0.5, 0.7, -0.2, 0.1])
    known |= {f"q_{k + 1}": x for k, x in enumerate(q)} | {f"qd_{k + 1}": 0.3 for k in range(6)}
    head, values = letters.split("Values of the symbols")
    known |= {name: eval(text) for (name, *_), text in equations_of(values)}
    for names, text in equations_of(head):
        known |= dict.fromkeys(names, eval(text, {}, known))
    M = cy.load("puma560").inertia_matrix(q)
    assert known["a_1"] > 0 and "constants a for groups" in head
    np.testing.assert_allclose([known["M_11"], known["M_23"]], [M[0, 0], M[1, 2]], rtol=1e-5)


def test_a_large_machine_with_loops_has_the_recursion_of_its_tree():
    html = equation_section(cy.load("stewart"))
    assert "This is the recursive Newton-Euler algorithm" in html and "arm.loops.jacobian" in html
    assert len(list(equations_of(html))) > 100 and "No equations" not in html


def test_signs_powers_fractions_and_dots_are_typeset():
    x, rate, angle = sympy.symbols("x_12 qd_3 alpha")
    html = mathml.equations([("y", -x / 3 + 2.5e-7 * rate**2 - sympy.sin(angle + x))], order="none")
    (names, text), = equations_of(html)
    value = eval(text, {"sin": np.sin, "x_12": 0.7, "qd_3": 1.3, "α": 0.4})
    assert names == ["y"] and abs(value - (-0.7 / 3 + 2.5e-7 * 1.69 - np.sin(1.1))) < 1e-12
    assert "<mover><mi>q</mi><mo>˙</mo></mover>" in html and "<mo>·</mo><msup><mn>10</mn><mn>−7</mn></msup>" in html
    assert mathml.formula("M qdd = tau").count("<mi>") == 3
    assert '<mi mathvariant="normal">c</mi><mn>2−3</mn>' in mathml.formula(
        "c2m3") and "<mi>c</mi><mn>2x</mn>" in mathml.formula("c_2x")


# Closed machines


def test_a_closed_machine_has_its_loops_its_motion_and_its_costs(tmp_path):
    arm = cy.load("four_bar")
    found = Outline(write_report(arm, tmp_path).read_text(encoding="utf-8"))
    assert found.headings == [
        "Model", "Workspace", "Payload", "Equations of motion", "Operation counts and times"]
    text = "".join(found.text)
    for words in ("5 constraint rows on 3 velocities: mobility 1.", "Redundant constraint rows: pin: z",
                  "The mechanism is fully actuated by crank", "forward dynamics, projection", "constraint Jacobian",
                  "Constraints Ψ", "Constraint Jacobian A"):
        assert words in text
    q = np.array(json.loads(found.scripts["played"])["q"])
    assert q.shape == (201, 3) and np.ptp(q[:, 0]) > 0.2 and np.abs(arm.loops.residual(q)).max() < 1e-5
    assert [slider["name"] for slider in json.loads(found.scripts["scene"])["sliders"]] == ["crank"]


def test_sliders_of_closed_machines_are_independent_actuated_ones_first():
    tree = cy.load("four_bar").tree
    assert [slider["name"] for slider in scene(tree.with_actuated("rocker"))["sliders"]] == ["rocker"]
    assert [slider["name"] for slider in scene(tree.with_actuated("rocker", "crank"))["sliders"]] == ["crank"]
    assert [slider["name"]
            for slider in scene(cy.load("five_bar").variants.with_actuated("left crank").tree)["sliders"]] == [
        "left crank", "left rod"]
    timed = tree.with_constraints(tree.loops, [PrescribedMotion("drive", "crank", "t")])
    assert scene(timed)["sliders"] == [] and scene(timed)["closing"] is None


def test_a_machine_that_does_not_close_has_no_sliders():
    tree = cy.load("four_bar").tree
    far = np.eye(4)
    far[1, 3] = 2.0
    frames = tuple(Frame(f.name, f.body, far) if f.name == "end of rocker" else f for f in tree.frames)
    assert scene(replace(tree, frames=frames))["sliders"] == []


def test_tables_of_many_columns_are_set_closely():
    few, many = (html_table(TextTable("", tuple("abcdefghij"[:n]), (("1",) * n,))) for n in (8, 9))
    assert 'class="scroll"' in few and 'class="scroll dense"' in many
