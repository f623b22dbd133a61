"""The paths of five newcomers, typed at a prompt in their order: where each of them once stumbled, the prompt now shows
the right answer, or an error or a warning that leads to it."""

import code
import io
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from cli.processes import call

ARM = """<robot name="arm"><link name="base"/>{links}</robot>"""
LINK = """<joint name="{joint}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{x} 0 0.1"/>
  <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="40" velocity="9"/><dynamics damping="0.4" friction="0.1"/>
  </joint><link name="{child}"><inertial><origin xyz="0.15 0 0"/><mass value="1.5"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>"""
WITHIN = re.compile(r"\b(Kinematics|MotionMethods|Motion|Loops|Data|functions|_\w+)\.\w+\(")  # names of our own classes


class Prompt:
    """Python's prompt with NumPy and Cayley; a line shows its output, warnings and the last line of an error."""

    def __init__(self):
        self.console = code.InteractiveConsole()
        self.shows("import numpy as np, cayley as cy")

    def shows(self, line, *said):
        """Type a line; the patterns must be in what is shown, in this order, and no class within Cayley."""
        shown = io.StringIO()
        with redirect_stdout(shown), redirect_stderr(shown), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert not self.console.push(line), f"the prompt waits for more after {line!r}"
        text = shown.getvalue()
        if "Traceback" in text:
            text = text.rstrip().split("\n")[-1]
            assert said, f"{line!r} fails: {text}"
        text = "\n".join([*[str(warning.message) for warning in caught], text])
        flat = " ".join(text.split())
        assert re.search(".*".join(said), flat), f"{line!r} shows {text!r}, not {said}"
        assert not WITHIN.search(flat) and " missing " not in flat, flat
        return text

    def value(self, line):
        return eval(line, self.console.locals)


@pytest.fixture
def prompt():
    return Prompt()


def test_the_student(prompt):
    prompt.shows('rows = [("q1", .412, 0, "-90 deg"), ("q2", .154, 0, "90 deg"), (0, "q3", 0, 0), '
                 '("q4", 0, 0, "-90 deg"), ("q5", 0, 0, "90 deg"), ("q6", .263, 0, 0)]')
    prompt.shows('arm = cy.Mechanism.from_dh(rows, convention="standard")')
    table = prompt.shows('print(arm.dh_table(convention="standard"))', "q1 0.412 0 -pi/2", "q2 0.154 0 pi/2",
                         "0 q3 0 0", "q4 0 0 -pi/2", "q5 0 0 pi/2", "q6 0.263 0 0")
    assert "yaw" not in table and "+ pi" not in table
    for name in ("puma560", "stanford", "panda"):
        assert "yaw" not in prompt.shows(f'print(cy.load("{name}").dh_table(convention="standard"))')
    prompt.shows('print(arm.dh_table(convention="standard", canonical=True))', "yaw")  # for who wants one form for all
    prompt.shows('print(arm.formulations.kinematic_equations("tool"))', r"p_x = .*\+ l_5\*c1\*s2\*c5")
    prompt.shows('arm.formulations.kinematic_equations("tool").parameters', r"l_5: 0\.263")
    prompt.shows('cy.Mechanism.from_dh([("q1", 0.412, 0, -90)], convention="standard")',
                 "alpha of row 1 is -90 rad", 'write "-90 deg"')
    prompt.shows('flat = [("q1", 0, .5, 0), ("q2", 0, .4, 0), ("q3", 0, .3, 0)]')
    prompt.shows('cy.Mechanism.from_dh(flat, convention="standard", masses=[3, 2, 1])',
                 "masses without `centers`", "far ends", "gravity .* acts on no joint", r"gravity=\(0, -9.81, 0\)")
    prompt.shows('centers = [(-.25, 0, 0), (-.2, 0, 0), (-.15, 0, 0)]')
    quiet = prompt.shows('rods = cy.Mechanism.from_dh(flat, convention="standard", masses=[3, 2, 1], centers=centers, '
                         'gravity=(0, -9.81, 0))')
    assert not quiet.strip()
    moment = 9.81 * (3 * 0.25 + 2 * 0.7 + 1 * 1.05)
    assert prompt.value("rods.gravity_forces(np.zeros(3))[0]") == pytest.approx(moment)
    prompt.shows('cy.Mechanism.from_dh([("q1", 0, "l1", 0)], convention="standard")', "'l1'", 'parameters="symbols"')
    prompt.shows('planar = cy.load("planar2r")')
    prompt.shows('planar.inverse_kinematics([.5, .4], "tool")', 'task="xy"')
    prompt.shows('planar.inverse_kinematics([.5, .4], "tool", task="xy")', "solved")
    found = prompt.value('planar.pose(planar.inverse_kinematics([.5, .4], "tool", task="xy").q, "tool")')
    np.testing.assert_allclose(found[:2, 3], [0.5, 0.4], atol=1e-6)
    for theirs, ours in (("fkine", r"arm\.pose"), ("plot", r"arm\.draw"), ("rnea", r"arm\.inverse_dynamics")):
        prompt.shows(f"planar.{theirs}(np.zeros(2))", ours)
    prompt.shows("planar.figure", r"`plt\.show\(\)` opens")
    prompt.shows('planar.report("arm.html")', r'`\.save\("arm\.html"\)` writes it', r"It is called report\(")


def test_the_control_engineer(prompt, tmp_path):
    joints = ("shoulder", "elbow", "forearm", "wrist")
    bodies = ("base", "upper", "lower", "palm", "hand")
    links = [LINK.format(joint=joint, parent=bodies[k], child=bodies[k + 1], x=0.3 * (k > 0))
             for k, joint in enumerate(joints)]
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(links="".join(links)))
    for command in ("info", "check"):
        assert "are not included" in call(command, path, columns=300).stdout
    prompt.shows(f"arm = cy.load({str(path)!r})")
    prompt.shows("start = np.zeros(4)")
    prompt.shows("fall = arm.simulate(start, start, until=0.2)", "without the friction and damping", r"including")
    prompt.shows('slow = arm.including("friction").simulate(start, start, until=0.2)')
    assert abs(prompt.value("slow.qd[-1]")).max() < 0.95 * abs(prompt.value("fall.qd[-1]")).max()
    prompt.shows('arm.including("viscous")', "not 'viscous'", r"with_friction\(.*coulomb=0\.0\)")
    prompt.shows('viscous = arm.with_friction(arm.joint_names, viscous=0.4, coulomb=0.0).including("friction")')
    prompt.shows('law = arm.control.pd_with_gravity(60.0, 8.0).renamed({"tau": "wanted_tau"})')
    prompt.shows("drives = cy.control.saturation('tau', [40.0] * 4)")
    for name in ('arm.including("friction")', "viscous"):
        prompt.shows(f"servo = cy.connect({name}, cy.control.digital(law, 1e-3, late=1), drives)")
        prompt.shows('run = servo.rollout()({"q": start, "qd": start}, step=1e-3, steps=500, '
                     'inputs={"target": [0.3, -0.2, 0.1, 0.0]})')
        assert prompt.value("run.status") == "finished" and abs(prompt.value("run['tau']")).max() <= 40.0
    figure = prompt.value("run.plot()")  # without the clock and the held values of the sampled controller
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["q [rad]", "qd [rad/s]", "wanted_tau [N m]", "tau [N m]"]
    assert all([word.get_text() for word in ax.get_legend().get_texts()] == list(joints) for ax in figure.axes)
    assert figure.get_figheight() < 10
    named = prompt.value("run.plot(['clock'])")  # on demand
    assert [ax.get_title(loc="left") for ax in named.axes] == ["clock [s]"]
    prompt.shows("law = arm.control.pd_with_gravity(60.0, 8.0)")
    prompt.shows('arm.including("friction").simulate(start, start, controller=law, until=0.1)', "'target'",
                 r"parameters=\{'target'")
    prompt.shows('arm.including("friction").simulate(start, start, controller=law, until=0.1, '
                 'parameters={"target": start})', "finished")
    prompt.shows("arm.pose(start)", r"pose needs `frame`: it is called pose\(q, frame")
    prompt.shows("T = arm.pose(start, 'hand')")
    prompt.shows("arm.inverse_kinematics(T)", r"inverse_kinematics needs `frame`\. It is called inverse_kinematics\(")
    prompt.shows("arm.dexterity.singularity(start)",
                 r"singularity needs `frame`, `task` and `axes`\. It is called singularity\(q, frame, \*, task, axes")
    prompt.shows("arm.simulate(start, start, saturation=40.0)", "no argument 'saturation'", r"cy\.control\.saturation")
    prompt.shows("arm.control.pid()", r"pid needs `kp`, `ki` and `kd`\. It is called pid\(kp, ki, kd")
    for name in ("neutral_configuration", "zero_configuration"):
        prompt.shows(f"arm.{name}()", r"`arm\.neutral` \(an array, not a function\)")
    prompt.shows("arm.neutral", r"array\(\[0\., 0\., 0\., 0\.\]\)")
    said = call("export", "--help", columns=200).stdout
    assert all(word in said for word in ("--function", "--language", "--output", "--kernel", "--folder"))


def test_the_learner(prompt):
    prompt.shows('arm = cy.load("panda")')
    prompt.shows('arm.system(parameters=["mass"])', "parameters 'parameters'")
    prompt.shows('arm.rollout(parameters=["mass"])', "no argument 'parameters'", r'arm\.system\(parameters=\["mass"')
    prompt.shows('model = arm.system(parameters=["mass"])')
    prompt.shows('model.rollout(parameters=["mass"])', "no parameter 'mass'", "it takes 'parameters'")
    prompt.shows('many = model.rollout(parameters=["parameters"])')
    prompt.shows('q = np.tile(arm.configurations["ready"], (256, 1))')
    prompt.shows('masses = model.parameters["parameters"] * np.random.default_rng(0).uniform(0.5, 1.5, (256, 7))')
    prompt.shows('runs = many({"q": q, "qd": 0 * q}, step=1e-3, steps=20, inputs={"tau": np.zeros(7)}, '
                 'parameters={"parameters": masses})')
    assert prompt.value("runs.end['q']").shape == (256, 7) and np.ptp(prompt.value("runs.end['q']"), axis=0).min() > 0
    prompt.shows("cy.learning.Environment(model, 4)", "Environment needs `action`, ", r"It is called Environment\(")


def test_the_designer_of_parallel_machines(prompt):
    prompt.shows('rrr = cy.load("three_rrr")')
    prompt.shows('here = rrr.pose(rrr.neutral, "tool")')
    prompt.shows("there = here.copy(); there[0, 3] -= 0.04")
    prompt.shows("cy.planning.circular_arc(here, there, there)", "`through` is three finite numbers", r"T\[:3, 3\]")
    prompt.shows("arc = cy.planning.circular_arc(here, here[:3, 3] + [-0.02, 0.02, 0.0], there)")
    prompt.shows('led = cy.planning.follow(rrr, arc, "tool", rrr.neutral); print(led.status)', "followed")
    prompt.shows("profile = cy.planning.effort_profile(rrr, led.timed(1.0))")
    drives = list(prompt.value("rrr.tree.actuated_velocities"))
    tau = prompt.value("profile.tau")
    assert np.abs(tau[:, drives]).max() > 0 and not np.delete(tau, drives, axis=1).any()
    prompt.shows("cy.machines.TranslationalDelta()", "TranslationalDelta needs `crank`, `rod`, `base` and `platform`")
    prompt.shows("print(cy.machines.TranslationalDelta.__doc__)", r"cy\.Mechanism\(machine\.tree\(")
    prompt.shows("delta = cy.machines.TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)")
    prompt.shows("cy.Mechanism(delta.tree()).loops.mobility", "^3")
    prompt.shows("rrr.pictures.workspace_map()", "workspace_map needs `frame`, `start` and `box`")
    prompt.shows('rrr.pictures.workspace_map("tool", start=rrr.neutral, box=((-.1, -.1), (.1, .1)), '
                 'task=(True, True, False, False, False, True), resolution=8)', "characteristic_length=")
    prompt.shows('reach = cy.load("planar2r").pictures.workspace("tool", samples=200)')
    prompt.shows("reach.plot()", "Figure")
    prompt.shows("reach.draw()", r"is `plot\(\)`; `draw` is its former name")
    prompt.shows("rrr.loops.actuation_singularity()",
                 r"actuation_singularity needs `q`, `frame`, `task` and `axes`\. It is called actuation_singularity\(")
    prompt.shows('rrr.loops.actuation_singularity(rrr.neutral, "tool", task="pose", axes="world")', "regular")


def test_the_porter_from_pinocchio(prompt):
    prompt.shows("import pinocchio as pin")
    prompt.shows("cy.buildModelFromUrdf('arm.urdf')", r"buildModelFromUrdf of Pinocchio is `cy\.load\(path\)` here")
    prompt.shows('dog = cy.load("anymal_b")')
    prompt.shows("print(dog.summary())", "floating_base=True")
    prompt.shows('dog = cy.load("anymal_b", floating_base=True, exact_angles=False)')
    prompt.shows("model = pin.buildModelFromUrdf(dog.tree.source, pin.JointModelFreeFlyer())")
    prompt.shows("data = model.createData()")
    prompt.shows("dog.q_from_pinocchio", r"arm\.configurations\.q_from_pinocchio\(model, q\)")
    prompt.shows("theirs = pin.integrate(model, pin.neutral(model), np.linspace(-1, 1, model.nv))")
    prompt.shows("v, a = np.random.default_rng(0).normal(size=(2, model.nv))")
    prompt.shows("q = dog.configurations.q_from_pinocchio(model, theirs)")
    prompt.shows("qd, qdd = (dog.configurations.v_from_pinocchio(model, x) for x in (v, a))")
    prompt.shows("tau = dog.configurations.v_from_pinocchio(model, pin.rnea(model, data, theirs, v, a))")
    prompt.shows("off = np.abs(dog.inverse_dynamics(q, qd, qdd) - tau).max(); print(bool(off < 1e-11))", "True")
    prompt.shows("cy.SE3", r"a \(4, 4\) array")
    prompt.shows('dog.jacobian(q, "base", axes="LOCAL_WORLD_ALIGNED")', 'of Pinocchio is axes="world" here')
    prompt.shows('dog.jacobian(q, "base", reference_frame="LOCAL")', "no option 'reference_frame'", 'axes="world"')
    said = prompt.shows("dog.inverse_dynamics(q, qd, qdd, fext=[])", "no argument or option 'fext'",
                        r"\.with_inputs\(wrenches=")
    assert "keepdims" not in said and "subok" not in said
    prompt.shows("dog.dIntegrate(q, qd)", r"arm\.integrate\.jacobian\(\"qd\"\)\(q, qd\)")
    assert prompt.value('dog.integrate.jacobian("qd")(q, qd)').shape == (19, 18)
