"""Every command, run as a process; what it says is checked against the library and against other tools."""

import ctypes
import importlib.util
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.cli.motion_files import read_motion
from cayley.errors import ModelError
from cayley.model.parts import Body, Frame
from cayley.simulation import Trajectory
from cli.processes import call, data, run, widest
from programs import needs

STATE = np.random.default_rng(5).normal(size=(3, 6))


def test_the_catalogue():
    found = data(run("robots", "--json"))
    assert sorted(robot["name"] for robot in found) == sorted(cy.catalogue())
    puma = next(robot for robot in found if robot["name"] == "puma560")
    assert puma["joints"] == "6R" and puma["nv"] == 6 and puma["mass"] == pytest.approx(17.4 + 4.8 + 0.82 + 0.34 + 0.09)
    shown = call("robots").stdout
    assert all(name in shown for name in (*cy.catalogue(), "mass [kg]")) and widest(shown) <= 80


def test_what_a_robot_consists_of(tmp_path):
    arm, found = cy.load("panda_hand"), data(call("info", "panda_hand", "--picture", tmp_path / "hand.png", "--json"))
    assert [joint["name"] for joint in found["joints"]] == [joint.name for joint in arm.joints]
    assert [body["mass"] for body in found["bodies"]] == [body.mass for body in arm.bodies]
    np.testing.assert_array_equal([joint["upper"] for joint in found["joints"] if joint["upper"]],
                                  [list(joint.limits.upper) for joint in arm.joints if joint.motion.nq])
    assert Path(found["picture"]).read_bytes().startswith(b"\x89PNG")
    shown = call("info", "panda_hand").stdout
    assert all(joint.name in shown for joint in arm.joints) and widest(shown) <= 80


def test_equations_are_those_of_the_robot():
    arm, q = cy.load("planar2r"), [0.4, -1.1]
    text = data(call("equations", "planar2r", "--json"))["text"]
    lines = dict(line.split(" = ", 1) for line in text.splitlines()[1:])
    values = {sympy.Symbol(f"q_{k + 1}"): x for k, x in enumerate(q)}
    assert float(sympy.sympify(lines["M_11"]).subs(values)) == pytest.approx(arm.inertia_matrix(q)[0, 0], rel=1e-5)
    assert "I_1" in call("equations", "planar2r", "--symbols").stdout
    assert "tau_p = tau_1 + " in call("equations", "slider_crank", "--formulation", "minimal").stdout


def test_functions_of_a_machine_with_loops_are_written_as_c(tmp_path):
    for name in ("linearize", "constraint_forces"):
        call("export", "four_bar", "--function", name, "--output", tmp_path)
        assert f"four_bar_{name}(" in (tmp_path / f"four_bar_{name}.c").read_text()
    assert "planar2r has no constraints" in call("export", "planar2r", "--function", "constraint_forces",
                                                code=2).stderr


def test_equations_as_latex_in_a_file(tmp_path):
    call("equations", "planar2r", "--latex", "--output", tmp_path / "new" / "arm.tex")
    text = (tmp_path / "new" / "arm.tex").read_text()
    assert text.count(r"\begin{aligned}") == text.count(r"\end{aligned}") == 1 and r"\ddot{q}" in text


def test_counts_are_those_of_the_kernels_beside_the_published():
    found = {row["method"]: row for row in data(call("counts", "puma560", "--json"))["methods"]}
    kernel = cy.load("puma560").inverse_dynamics
    assert set(found) == set(kernel.methods)
    for method in ("newton-euler", "luh-walker-paul", "kane"):
        expected = kernel.using(method).operations()
        assert (found[method]["multiplications"], found[method]["additions"]) == (expected.multiplications,
                                                                                  expected.additions)
    # 150n-48, 131n-48
    assert [found["luh-walker-paul"]["published"][key] for key in ("multiplications", "additions")] == [852, 738]
    shown = call("counts", "puma560", "--function", "inertia_matrix").stdout
    assert all(method in shown for method in cy.load("puma560").inertia_matrix.methods) and widest(shown) <= 80


def test_published_tables_fit_a_narrow_terminal():
    shown = call("counts", "planar2r", "--tables").stdout
    assert "Table 5.1" in shown and "Table 2 of Mladenova" in shown and widest(shown) <= 80


@needs("cc")
def test_exported_c_computes_the_forces(tmp_path):
    run("export", "puma560", "--function", "inverse_dynamics", "--language", "c", "--output", tmp_path)
    source = tmp_path / "puma560_inverse_dynamics.c"
    subprocess.run(
        ["cc", "-O1", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", source, "-o", tmp_path / "arm.so", "-lm"],
        check=True)
    function = ctypes.CDLL(str(tmp_path / "arm.so")).puma560_inverse_dynamics
    tau = np.zeros(6)
    function(*[x.ctypes.data_as(ctypes.c_void_p) for x in (*STATE, tau)])
    np.testing.assert_allclose(tau, cy.load("puma560").inverse_dynamics(*STATE), rtol=1e-12)


def test_exported_python_computes_the_jacobian(tmp_path):
    call("export", "puma560", "--function", "jacobian", "--axes", "body", "--language", "python", "--output", tmp_path,
         "--name", "jac")
    spec = importlib.util.spec_from_file_location("jac", tmp_path / "jac.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expected = cy.load("puma560").jacobian(STATE[0], "tool", axes="body")
    np.testing.assert_allclose(module.jac(STATE[0].tolist()), expected, rtol=1e-12, atol=1e-13)


def test_exported_cuda_and_latex_are_the_texts_of_the_kernel():
    found = data(
        call("export", "planar2r", "--function", "gravity_forces", "--language", "cuda", "--precision", "float",
             "--json"))
    (name, text), = found["files"].items()
    assert (name == "planar2r_gravity_forces.cu" and "__global__ void planar2r_gravity_forces(" in text
            and "const float *q" in text)
    latex = call("export", "planar2r", "--function", "inertia_matrix", "--language", "latex").stdout
    assert latex.startswith(r"\documentclass") and r"\begin{align*}" in latex and latex.rstrip().endswith(
        r"\end{document}")


def test_inverse_kinematics_reaches_the_pose():
    arm = cy.load("puma560")
    found = data(call("ik", "puma560", 0.5, -0.2, 0.1, "180deg", 0, "-90deg", "--json"))
    pose = arm.pose(found["q"], "tool")
    expected = [[0, -1, 0, 0.5], [-1, 0, 0, -0.2], [0, 0, -1, 0.1], [0, 0, 0, 1]]  # Rz(-90) Rx(180), by hand
    assert found["status"] == "solved"
    np.testing.assert_allclose(pose, expected, atol=1e-9)
    again = data(call("ik", "puma560", *np.ravel(expected), "--all", "--json"))
    assert again["status"] == "solved" and len(again["solutions"]) == 8
    for solution in again["solutions"]:
        np.testing.assert_allclose(arm.pose(solution["q"], "tool"), expected, atol=1e-12)


def test_inverse_kinematics_of_a_configuration_in_degrees():
    shown = call("ik", "ur5", "--of", "0.1 -1.2 1.0 0.2 0.7 0", "--all", "--degrees").stdout
    assert "5.730" in shown and "-68.755" in shown and "elbow up" in shown and widest(shown) <= 80  # 0.1 and -1.2 rad


def test_a_pose_out_of_reach_is_an_answer_not_a_success():
    done = call("ik", "ur5", 5, 0, 0, 0, 0, 0, code=1)
    assert "beyond the reach" in done.stderr and done.stdout == ""
    assert data(call("ik", "ur5", 5, 0, 0, 0, 0, 0, "--json", code=1))["status"] == "unreachable"


def test_a_simulation_is_what_scipy_finds_with_the_forward_dynamics(tmp_path):
    arm = cy.load("planar2r")
    found = data(
        call("simulate", "planar2r", "--q", "30deg, -0.5", "--qd=-1 0.5", "--tau", "0.1 0.2", "--time", 0.7,
             "--samples", 15, "--plot", tmp_path / "swing.svg", "--save", tmp_path / "swing", "--json"))

    def rates(t, y):
        return np.concatenate([y[2:], arm.forward_dynamics(y[:2], y[2:], [0.1, 0.2])])

    expected = solve_ivp(rates, (0, 0.7), [np.pi / 6, -0.5, -1.0, 0.5], method="Radau", rtol=1e-10, atol=1e-11)
    assert found["status"] == "finished" and len(found["t"]) == 15
    np.testing.assert_allclose([*found["q"][-1], *found["qd"][-1]], expected.y[:, -1], rtol=1e-6, atol=1e-6)
    assert (tmp_path / "swing.svg").read_text().lstrip().startswith("<?xml")
    np.testing.assert_array_equal(Trajectory.load(tmp_path / "swing.npz").q, found["q"])


def test_a_simulation_says_what_happened():
    shown = call("simulate", "planar2r", "--time", "0.3").stdout
    assert "Energy balance kept" in shown and widest(shown) <= 80


def test_a_report_is_one_page(tmp_path):
    found = data(run("report", "scara", "--json", cwd=tmp_path))
    page = (tmp_path / found["report"]).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert found["bytes"] == (tmp_path
                              / "scara_report.html").stat().st_size and "scara" in page and 'src="http' not in page


def test_a_report_takes_a_motion_a_load_limits_and_a_law(tmp_path):
    joint = cy.load("planar2r").joints[1]
    bodies = [Body("base"), Body("rod", 1.0, (0.2, 0, 0), 0.01 * np.eye(3))]
    tip = Frame("tip", "rod", np.eye(4) + 0.4 * np.eye(4, k=3))
    cy.Mechanism.of("rod", bodies, [replace(joint, parent="base", child="rod", placement=np.eye(4))], frames=[tip],
                    gravity=(0, -9.81, 0)).save(tmp_path / "rod.toml")
    (tmp_path / "run.csv").write_text("t,joint2 [deg],tau_1\n0,0,1\n0.5,20,1\n1,60,1\n1.5,80,1\n")
    found = data(call("report", "rod.toml", "--trajectory", "run.csv", "--payload", "0.5", "--frame", "tip", "--limits",
                     "30", "--law", "computed-torque", "--json", cwd=tmp_path))
    page = (tmp_path / found["report"]).read_text(encoding="utf-8")
    for words in ("0.5 kg at tip", "along the motion that was given", "payload, unknown to the controller",
                  "The drives hold"):
        assert words in page, words


@pytest.mark.parametrize(("text", "wanted"), [
    ("time,joint2,joint1\n0,2,1\n1,4,3\n", [[1, 2], [3, 4]]), ("0,1,2\n1,3,4\n", [[1, 2], [3, 4]]),
    ("# a note\nt [s],q_joint1 (deg),q2,qd_joint1,tau2\n0,180,2,9,9\n1,0,4,9,9\n", [[np.pi, 2], [0, 4]])])
def test_tables_of_motions_are_read_by_their_names(tmp_path, text, wanted):
    (tmp_path / "run.csv").write_text(text)
    t, q = read_motion(tmp_path / "run.csv", cy.load("planar2r"))
    np.testing.assert_allclose(t, [0, 1])
    np.testing.assert_allclose(q, wanted)


def test_the_table_of_a_run_is_a_motion(tmp_path):
    arm = cy.load("planar2r")
    ran = arm.simulate([0.1, 0.2], [0.0, 0.0], times=np.linspace(0.0, 0.5, 6))
    t, q = read_motion(Path(ran.to_csv(tmp_path / "run.csv")), arm)
    np.testing.assert_allclose(q, ran.q, rtol=1e-12)
    np.testing.assert_allclose(t, ran.t)
    np.testing.assert_array_equal(read_motion(Path(ran.save(tmp_path / "run.npz")), arm).q, ran.q)


@pytest.mark.parametrize(("text", "words"), [
    ("t,joint1\n0,1\n1,2\n", "no column 'joint2'"), ("t,joint1,joint3\n0,1,2\n", "no coordinate 'joint3'"),
    ("t,joint1,joint1\n0,1,2\n", "second column of 'joint1'"), ("t,joint1,joint2\n0,1,x\n1,2,3\n", "'x' in row 2"),
    ("t,joint1,joint2\n1,1,2\n0,2,3\n", "later than"), ("0,1\n1,2\n", "row 1 has 2 columns"), ("", "two rows"),
    ("t,joint1,joint2\n0,1\n", "'' in row 2")])
def test_tables_that_are_no_motion_are_refused_by_name(tmp_path, text, words):
    (tmp_path / "run.csv").write_text(text)
    with pytest.raises(ModelError, match=words):
        read_motion(tmp_path / "run.csv", cy.load("planar2r"))


# Closed machines


def test_commands_know_closed_machines(tmp_path):
    arm = cy.load("four_bar")
    shown = call("info", "four_bar").stdout
    assert "mobility 1, fully actuated by crank" in " ".join(shown.split()) and widest(shown) <= 80
    found = {row["method"]: row for row in data(call("counts", "four_bar", "--function", "forward_dynamics", "--json"))[
        "methods"]}
    assert found["projection"]["additions"] == arm.forward_dynamics.using("projection").operations().additions
    assert not any("published" in row for row in data(call("counts", "four_bar", "--json"))["methods"])
    motion = data(call("simulate", "four_bar", "--time", 0.3, "--samples", 4, "--json"))
    assert motion["status"] == "finished" and np.abs(arm.loops.residual(motion["q"])).max() < 1e-9
    target = arm.pose(arm.loops.close(arm.neutral, fixed={"crank": -0.4}).configuration, "tool")[:3, 3]
    answer = data(call("ik", "four_bar", *target, "--task", "position", "--json"))
    assert answer["frame"] == "tool" and np.abs(arm.loops.residual(answer["q"])).max() < 1e-9
    np.testing.assert_allclose(arm.pose(answer["q"], "tool")[:3, 3], target, atol=1e-8)
    arm.save(tmp_path / "bar.toml")
    assert "mobility 1" in " ".join(call("check", tmp_path / "bar.toml").stdout.split())


def test_what_a_command_cannot_do_with_loops_is_said_in_a_sentence():
    failed = call("tour", "four_bar", "--no-report", code=1)
    assert "loop 'pin' is closed" in " ".join(failed.stderr.split()) and not failed.stdout
    opening = call("simulate", "five_bar", "--qd", "1 0 0 0", code=1)
    assert "'pin' of five_bar opens" in " ".join(opening.stderr.split())


def test_a_linkage_from_pairs_and_from_dead_centres(tmp_path):
    pairs = [f"{psi}deg:{phi}deg" for psi, phi in zip((40, 60, 80), (70, 80, 95), strict=True)]
    found = data(call("synthesise", "four-bar", *pairs, "--picture", tmp_path / "bar.png", "--output",
                     tmp_path / "bar.toml", "--json"))
    np.testing.assert_allclose(found["parameters"], [1.2468946365, 1.1818457897, 1.0248547668], atol=1e-8)
    assert found["class"] == "double rocker" and found["defects"] == "none"
    assert Path(found["picture"]).read_bytes().startswith(b"\x89PNG")
    machine = cy.load(tmp_path / "bar.toml")
    assert machine.loops.mobility == 1 and machine.joint_names == ("crank", "coupler", "rocker")
    shown = call("synthesise", "quick-return", "60deg", "100deg", "--time-ratio", "1.2").stdout
    assert "crank-rocker" in shown and "error [deg]" in shown and widest(shown) <= 100
    unassembled = [f"{30 + 15 * i}deg:{60 + 60 * (i / 6) ** 1.5}deg" for i in range(7)]
    assert "cannot be assembled at the inputs 0.523599 rad" in call("synthesise", "four-bar", *unassembled,
                                                                   code=1).stderr
    assert "three or more" in call("synthesise", "four-bar", *pairs[:2], code=1).stderr
    assert "is not made here" in call("synthesise", "six-bar", "1:2", code=2).stderr


def test_a_library_is_written_from_the_shell(tmp_path):
    """What is printed are the files and what to type; the functions are named as Python names them."""
    said = call("export", "panda", "--folder", tmp_path / "c", "--kernel", "inverse-dynamics", "--kernel", "pose:tool",
                "--layout", "arduino", "--batch").stdout
    assert "panda_pose_tool.c" in said and "arduino-cli compile" in said
    assert "float" in (tmp_path / "c" / "src" / "panda_pose_tool.h").read_text()
    assert "panda_pose_tool_batch" in (tmp_path / "c" / "src" / "panda_pose_tool.h").read_text()
    told = data(call("export", "planar2r", "--function", "jacobian", "--axes", "body", "--folder", tmp_path / "d",
                    "--precision", "float", "--json"))
    assert any(file.endswith("planar2r_jacobian_tool_body.c") for file in told["files"]) and told["layout"] == "cmake"
    assert "did you mean 'pose'" in call("export", "planar2r", "--folder", tmp_path, "--kernel", "pos:tool",
                                        code=1).stderr
