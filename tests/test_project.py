"""The files of the project around its code say the same as the code: versions, systems, extras, commands, variables."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import cayley as cy
from cayley import lazy_names

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def commands(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def test_tests_run_on_the_systems_and_pythons_that_are_promised():
    matrix = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["test"]["strategy"]["matrix"]
    promised = [row.rsplit(" ", 1)[1] for row in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", row)]
    assert matrix["python"] == promised and promised[0] == PROJECT["requires-python"].removeprefix(">=")
    assert {system.split("-")[0] for system in matrix["os"]} == {"ubuntu", "windows", "macos"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_what_is_there(path):
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    for command in commands(path):
        assert set(re.findall(r"\bmake ([a-z]+)", command)) <= targets
        assert all((ROOT / name).exists() for name in re.findall(r"python (tools/\S+)", command))
        assert set(re.findall(r'"\.\[(\w+)\]"', command)) <= set(PROJECT["optional-dependencies"])


def test_the_night_has_the_fuzz_and_the_benchmarks():
    ran = "\n".join(commands(ROOT / ".github" / "workflows" / "nightly.yml"))
    assert "make fuzz" in ran and "make bench" in ran


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_of_issues_are_complete(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"] and form["description"] and any(
        field.get("validations", {}).get("required") for field in form["body"])
    assert len({field["id"] for field in form["body"]}) == len(form["body"])


def test_a_release_has_its_notes_and_one_version():
    notes = subprocess.run([sys.executable, ROOT / "tools" / "release_notes.py", cy.__version__], text=True,
                           capture_output=True, check=True).stdout
    assert "\n### Added\n" in notes and "## [" not in notes
    early = subprocess.run([sys.executable, ROOT / "tools" / "release_notes.py", "9.9.9"], text=True,
                           capture_output=True)
    assert early.returncode and "not 9.9.9" in early.stderr
    cited = yaml.safe_load(text("CITATION.cff"))
    assert cited["version"] == cy.__version__ and cited["license"] == PROJECT["license"] and cited["authors"]
    assert f"| {cy.__version__.rpartition('.')[0]} | yes |" in text("SECURITY.md")


def test_what_is_deprecated_goes_with_a_version_to_come():
    going = lazy_names.GOES.rpartition(" ")[2]
    assert [int(part) for part in going.split(".")] > [int(part) for part in cy.__version__.split(".")]
    assert f"goes with {going}" in text("docs/start/versions.md")


def test_extras_and_environment_variables_are_told():
    page = text("docs/start/installing.md")
    assert all(f"`{extra}`" in page for extra in PROJECT["optional-dependencies"])
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    read = set(re.findall(r'os\.environ(?:\.get\(|\[)"(\w+)"', source)) - {"LOCALAPPDATA", "XDG_CACHE_HOME"}
    assert all(f"`{variable}`" in page for variable in read)


@pytest.mark.parametrize("k, nq, mobility", [(0, 1, 1), (1, 2, 1), (2, 4, 1), (3, 7, 2), (4, 2, 2)])
def test_files_of_the_page_on_toml_are_mechanisms(tmp_path, k, nq, mobility):
    file = tmp_path / "page.toml"
    examples = re.findall(r"```toml\n(.*?)```", text("docs/robots/toml.md"), re.DOTALL)
    file.write_text(examples[k], encoding="utf-8")
    arm = cy.load(file)
    assert (len(examples), arm.nq, arm.loops.mobility) == (5, nq, mobility)
    arm.save(tmp_path / "again.toml")
    assert cy.load(tmp_path / "again.toml").nq == nq


PRONOUNS = re.compile("(What|That|Those|These|This|Which|Whether|It|Its|They|Their|Who|Whose|One that|And|But|Such|"
                      r"Both|Nothing|Nobody|All that|How|Where|When|Of|As|By|With|Without)\b")


def test_first_sentences_of_docstrings_name_their_object():
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [f"{path.relative_to(ROOT)}: {said.splitlines()[0]}" for path in (ROOT / "src").rglob("*.py")
             for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)
             and (said := ast.get_docstring(node)) and PRONOUNS.match(said)]
    assert not found, found


def test_a_class_has_a_name_of_its_own():
    """One class `Rollout`, one `Trajectory`; the published recursions alone have a `LinkState` each."""
    classes = [node.name for path in (ROOT / "src").rglob("*.py")
               for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ClassDef)]
    public = [name for name in classes if not name.startswith("_")]
    assert {"Rollout", "Trajectory"} <= {*public}
    assert {name for name in public if public.count(name) > 1} == {"LinkState"}
