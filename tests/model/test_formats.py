"""A file format is one class and one line in a table: the one below exists in this file only."""

import numpy as np
import pytest

import cayley as cy
from cayley.cli.check import examine
from cayley.errors import ModelError, UnsupportedError
from cayley.model.formats import FORMATS, endings, files_in_words, format_of
from cayley.model.formats.format import Format, check_holds
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from cli.processes import call, data


class Links(Format):
    """Planar arms as a line for each link: length and mass."""

    name = "LINKS"
    endings = (".links",)
    check_words = "Every line of LINKS is looked at."

    def read(self, path):
        lines = path.read_text(encoding="utf-8").splitlines()
        wrong = [self._wrong(path, number, line) for number, line in enumerate(lines, 1)
                 if self._wrong(path, number, line)]
        if wrong:
            raise ModelError(wrong[0])
        bodies, joints, before = [Body("base")], [], 0.0
        for number, line in enumerate(lines, 1):
            length, mass = map(float, line.split())
            placement = np.eye(4)
            placement[0, 3] = before
            bodies.append(Body(f"link{number}", mass, (length / 2, 0.0, 0.0)))
            joints.append(Joint(f"joint{number}", bodies[-2].name, bodies[-1].name, Revolute(), placement))
            before = length
        return Tree.of(path.stem, bodies, joints, source=str(path))

    def write(self, tree, *, leave_out):
        odd = [f"the {joint.motion.word} joint {joint.name!r}" for joint in tree.joints
               if joint.motion.word != "revolute"]
        check_holds(self.name, tree, odd, leave_out=leave_out)
        return "".join(f"{2 * float(body.center[0])!r} {body.mass!r}\n" for body in tree.bodies[1:])

    def parts(self, path):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            wrong = self._wrong(path, number, line)
            yield [wrong] if wrong else []

    @staticmethod
    def _wrong(path, number, line):
        try:
            _, _ = map(float, line.split())
        except ValueError:
            return f"{path}, line {number}: {line!r} is not a length and a mass"
        return ""


@pytest.fixture
def links():
    FORMATS.append(Links())
    yield
    FORMATS.pop()


def test_a_new_format_is_read_and_written(links, tmp_path):
    path = tmp_path / "arm.LINKS"
    path.write_text("0.5 2.0\n0.4 1.5\n", encoding="utf-8")
    arm = cy.load(path)
    assert arm.nq == 2 and arm.pose([0.0, 0.0], "link2")[0, 3] == 0.5
    assert cy.load(path, floating_base=True).nq == 9
    arm.save(tmp_path / "same.links")
    assert (tmp_path / "same.links").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    arm.save(tmp_path / "arm.urdf", leave_out=True)
    assert cy.load(tmp_path / "arm.urdf").nq == 2


def test_what_a_new_format_cannot_hold_is_said(links, tmp_path):
    with pytest.raises(UnsupportedError, match=r"LINKS cannot hold these parts of scara: the .* with leave_out=True"):
        cy.load("scara").save(tmp_path / "scara.links")


def test_the_command_line_knows_a_new_format(links, tmp_path):
    good, bad = tmp_path / "good.links", tmp_path / "bad.links"
    good.write_text("0.5 2.0\n", encoding="utf-8")
    bad.write_text("0.5 2.0\n0.4 heavy\n\n0.3 1.0\n", encoding="utf-8")
    assert "good: 2 bodies" in data(call("check", good, "--json"))["mechanism"]
    errors = data(call("check", bad, "--json", code=1))["errors"]
    assert [error.split(": ")[0].split(", ")[1] for error in errors] == ["line 2", "line 3"]
    assert examine(bad).all_found
    assert "good" in call("info", good).stdout
    assert ".links" in call("check", tmp_path / "none.sld", code=1).stdout


def test_messages_and_help_list_what_the_table_has(links):
    assert endings() == (".urdf", ".xacro", ".sdf", ".world", ".xml", ".mjcf", ".toml", ".links")
    assert files_in_words() == ".urdf, .xacro, .sdf, .xml (MJCF), .toml or .links file"
    with pytest.raises(ModelError, match=r"read from files that end in .*\.toml, \.links"):
        format_of("arm.step")
    with pytest.raises(UnsupportedError, match=r"written as .*\.toml or \.links, not as '.stl'"):
        cy.load("planar2r").save("arm.stl")


def test_help_of_the_command_line_is_that_of_the_table():
    shown = " ".join(call("check", "--help", columns=200).stdout.split())
    assert files_in_words() in shown and all(each.check_words in shown for each in FORMATS)
    assert files_in_words() in " ".join(call("--help", columns=200).stdout.split())


def test_a_format_may_only_be_read_or_only_be_written(tmp_path):
    class Picture(Format):
        name = "PICTURE"
        endings = (".picture",)

    with pytest.raises(UnsupportedError, match="PICTURE files are written, not read"):
        Picture().read(tmp_path / "arm.picture")
    with pytest.raises(UnsupportedError, match="PICTURE files are read, not written"):
        Picture().write(cy.load("planar2r").tree, leave_out=False)


def test_the_text_of_a_file_is_no_path():
    text = "<robot name='long'>" + "".join(f"<link name='a{k}'/>" for k in range(400)) + "</robot>"
    with pytest.raises(ModelError, match="is the text of a file, not its path"):
        cy.load(text)
