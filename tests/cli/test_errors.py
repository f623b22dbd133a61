"""Mistakes are explained in a sentence; help, completion and version are quick."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import cayley as cy
from cayley.cli.app import app
from cli.processes import call, run, widest

COMMANDS = ("tour", "robots", "info", "check", "equations", "counts", "export", "ik", "simulate", "trajectory",
            "control", "synthesise", "report")


def test_version():
    assert run("--version").stdout == f"cayley {cy.__version__}\n"


@pytest.mark.parametrize("arguments, advice", [
    (["info", "puma650"], "did you mean 'puma560'?"),
    (["equations", "pandaa"], "'panda'"),
    (["info", "arm.urdf"], "No such file"),
    (["info", "arm.json"], ".toml"),
    (["info", "xyzzy"], "puma560"),
    (["export", "puma560", "--method", "newton-eular"], "newton-euler"),
    (["ik", "panda", "--of", "0 0 0 0 0 0 0", "--all"], "closed form"),
    (["simulate", "planar2r", "--limits", "soft"], "inelastic"),
    (["counts", "scara"], "mass of 'link1'"),
    (["ik", "ur5", "--frame", "toool", "0", "0", "0", "0", "0", "0"], "'tool'"), ])
def test_wrong_values_are_explained(arguments, advice):
    done = call(*arguments, code=1)
    assert done.stdout == "" and done.stderr.startswith("Error: ") and advice in done.stderr and done.stderr.count(
        "\n") == 1


@pytest.mark.parametrize("arguments, advice", [
    (["inf"], "'info'"),
    (["info"], "ROBOT"),
    (["export", "ur5", "--function", "jacobbian"], "'jacobian'"),
    (["ik", "ur5", "1", "2"], "16"),
    (["ik", "ur5", "a", "0", "0", "0", "0", "0"], "'a'"),
    (["ik", "ur5"], "--of"),
    (["simulate", "ur5", "--q", "0 0"], "6 numbers"),
    (["export", "ur5", "--language", "pascal"], "cuda"),
    (["counts", "ur5", "--function", "pose"], "inertia_matrix"),
    (["info", "ur5", "--jsn"], "--json"),
    (["export", "ur5", "--function", "pose", "--method", "kane"], "one method only"),
    (["export", "ur5", "--frame", "tool"], "not of a frame"),
    (["export", "ur5", "--function", "pose", "--axes", "body"], "no choice of"), ])
def test_commands_that_are_not_understood(arguments, advice):
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 2 and advice in " ".join(re.sub(r"[│╭╮╰╯─]", "", found.output).split())


def test_a_broken_file_is_one_message(tmp_path):
    (tmp_path / "arm.urdf").write_text('<robot name="x">\n<link nam="a"/></robot>')
    assert "line 2" in run("info", tmp_path / "arm.urdf", code=1).stderr


def test_nothing_is_lost_on_a_narrow_terminal():
    kernel, shown = cy.load("planar2r").inverse_dynamics, call("counts", "planar2r", columns=40).stdout
    assert "…" not in shown and widest(shown) <= 40 and str(
        kernel.using("uicker-kahn").operations().multiplications) in shown
    names = call("robots", columns=50).stdout
    assert all(name in names for name in cy.catalogue()) and widest(names) <= 50


def test_what_is_odd_in_a_file_is_a_note_and_not_part_of_the_data(tmp_path):
    cy.load("planar2r").save(tmp_path / "arm.urdf", leave_out=True)
    text = (tmp_path / "arm.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(re.sub(r'(<joint name="joint2"[^>]*>)', r'\1<mimic joint="nobody"/>', text))
    done = call("info", tmp_path / "arm.urdf", "--json")
    assert done.stderr.startswith("Note: ") and "nobody" in done.stderr and json.loads(done.stdout)["nv"] == 2


def test_names_with_brackets_are_names_and_not_styles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm[b].urdf"
     ).write_text("""<robot name="no [/] arm"><link name="a[red]"/><link name="b[/z]"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j[/q]" type="continuous">
        <parent link="a[red]"/><child link="b[/z]"/><axis xyz="0 0 1"/></joint></robot>""")
    for command, options, more in (("check", [], "arm[b].urdf"), ("info", ["--picture", "p[b].png"], "p[b].png"),
                                   ("info", [], "a[red] -> b[/z]"), ("counts", [], ""), ("ik", [0, 0, 0, 0, 0,
                                                                                                0.3], "(j[/q])"),
                                   ("tour", ["--no-report"], "j[/q]"), ("simulate", ["--time", 0.1], "j[/q] [rad]"),
                                   ("report", ["--output",
                                               "r[b].html"], "r[b].html"), ("equations", ["--output",
                                                                                          "e[b].tex"], "e[b].tex")):
        shown = call(command, "arm[b].urdf", *options).stdout
        assert "no [/] arm" in shown and more in shown, shown


@pytest.mark.parametrize("command", ["simulate", "tour", "counts"])
def test_what_has_no_joint_has_no_motion(tmp_path, command):
    (tmp_path / "stone.urdf").write_text('<robot name="stone"><link name="a"/></robot>')
    assert "stone has no moving joint" in call(command, tmp_path / "stone.urdf", code=1).stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_such_letters_is_no_error(encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"}
    for arguments in (["info", "planar2r"], ["tour", "planar2r", "--no-report"], ["info", "planar2r", "--json"]):
        done = subprocess.run([sys.executable, "-m", "cayley", *arguments], capture_output=True, env=environment)
        assert done.returncode == 0 and b"planar2r" in done.stdout, done.stderr


def test_faults_of_cayley_itself_have_their_own_code(monkeypatch, capsys):
    from cayley.cli import app as module
    monkeypatch.setattr(sys, "argv", ["cayley", "robots"])
    monkeypatch.setattr("cayley.model.catalogue.catalogue_names", lambda **_: 1 / 0)
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 3 and "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits(command):
    found = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "80"})
    assert found.exit_code == 0 and f"cayley {command}" in found.output and "Examples" in found.output and widest(
        found.output) <= 80


def examples():
    for command in app.registered_commands:
        for block in re.findall(r"```\n(.*?)```", command.callback.__doc__, re.DOTALL):
            for line in block.strip().splitlines():
                if command.name not in ("tour", "report", "studio"):  # these have tests of their own
                    yield line.strip()


@pytest.mark.parametrize("line", list(examples()))
def test_the_examples_of_the_help_run(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ending in ("urdf", "toml", "xml"):
        for name in ("my_arm", "my_robot"):
            cy.load("ur5").save(f"{name}.{ending}", leave_out=True)
    found = CliRunner().invoke(app, shlex.split(line)[1:], catch_exceptions=False)
    assert found.exit_code == 0, found.output


def test_completion_of_robots_files_and_functions(tmp_path):
    (tmp_path / "pump.urdf").touch()
    (tmp_path / "pump.txt").touch()

    def completed(*words):
        environment = {
            **os.environ, "_CAYLEY_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1)}
        script = "from cayley.cli.app import main; main()"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment,
                              cwd=tmp_path).stdout.split()

    assert completed("cayley", "info", "pu") == ["puma560", "pump.urdf"]
    assert completed("cayley", "export", "ur5", "--function", "jac") == ["jacobian", "jacobian_rate"]


def test_a_reader_that_goes_away_is_no_error():
    command = [sys.executable, "-m", "cayley", "export", "puma560"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait()


def test_importing_is_light():
    heavy = "{'scipy', 'sympy', 'matplotlib', 'llvmlite', 'cayley.mechanism', 'mujoco'}"
    for module, more in (("cayley", "{'typer', 'rich', 'cayley.cli'}"), ("cayley.cli.app", "set()")):
        subprocess.run(
            [sys.executable, "-c", f"import sys, {module}; assert not ({heavy} | {more}) & set(sys.modules)"],
            check=True)


def test_names_and_texts_of_files_do_not_command_the_terminal(tmp_path):
    commands = r"\u001b]0;title\u0007\u009b31m\u202e"
    path = tmp_path / "arm\x1b]0;x\x07[red].toml"
    body = '[[bodies]]\nname = "a [bold]b[/] c"\n'
    path.write_text(f'name = "arm [red]"\nsource = "made by {commands}"\n{body}', encoding="utf-8")
    shown = [call(*arguments, path) for arguments in (["info"], ["check"])]
    path.write_text(f'name = "arm {commands}"\n{body}', encoding="utf-8")
    shown += [
        call("info", path, code=1),
        call("check", path, code=1),
        call("info", tmp_path / "no\x1b[31m.toml", code=1)]
    everything = "".join(done.stdout + done.stderr for done in shown)
    assert not [c for c in everything if c not in "\n\t" and (ord(c) < 32 or 126 < ord(c) < 160 or c == "\u202e")]
    assert ("a [bold]b[/] c" in everything and "arm [red]" in everything
            and r"\x1b]0;title\x07\x9b31m\u202e" in everything)


@pytest.mark.parametrize("columns", [0, 1, 5])
def test_terminals_of_no_width(columns):
    assert "puma560" in call("robots", columns=columns).stdout.replace("\n", "")


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no pipes that break")
def test_a_reader_that_has_seen_enough():
    command = f"{shlex.quote(sys.executable)} -m cayley robots | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.returncode in (0, 128 + signal.SIGPIPE), done.stderr) == (True, "")


def test_trust_is_said_before_the_command(tmp_path):
    place = tmp_path / "arm.xacro"
    place.write_text('<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a${(lambda: 1)()}"/>'
                     "</robot>")
    refused = CliRunner().invoke(app, ["check", str(place), "--json"])
    assert refused.exit_code == 1 and "cayley --trust" in refused.output
    assert CliRunner().invoke(app, ["--trust", "check", str(place), "--json"]).exit_code == 0
