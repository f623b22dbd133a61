"""Folders of C: they build without a warning, their test programs find nothing wrong, and find what is."""

import re
import subprocess

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, SignatureError, UnsupportedError
from cayley.exports import LAYOUTS, export_folder
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint
from cayley.systems import UNIT_QUATERNION, Block, System
from compiler.parity import COMPILER
from programs import missing, needs
from systems.cortex import PROCESSOR

pytestmark = needs("cc")

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Werror")
ARDUINO = """\
#pragma once
#include <cstdio>
#define F(text) text
struct Port {
    void begin(long) { }
    void print(const char *x) { std::printf("%s", x); }
    void print(int x) { std::printf("%d", x); }
    void print(unsigned long x) { std::printf("%lu", x); }
    void print(double x, int digits) { std::printf("%.*f", digits, x); }
    void println(const char *x) { std::printf("%s\\n", x); }
    void println(double x, int digits) { std::printf("%.*f\\n", digits, x); }
};
static Port Serial;
static unsigned long micros() { return 0; }
"""


def checked(folder, compiler=COMPILER, flags=("-std=c99",), language="c"):
    """What the test program of a CMake folder says, built by the compiler alone."""
    files = [str(path) for path in sorted(folder.glob("src/*.c"))] + [str(folder / "tests" / "check.c")]
    program = folder / f"check_{language.replace('+', 'p')}"
    done = subprocess.run([compiler, "-x", language, *flags, *STRICT, "-O1", f"-I{folder / 'include'}", *files, "-lm",
                           "-o", str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], capture_output=True, text=True)


def turning():
    """A system with an orientation as its state, whose beginning must be given."""
    return System("turning", state={"attitude": Block((4,), manifold=UNIT_QUATERNION), "count": Block((), default=2.0)},
                  inputs={"speed": 3, "gain": ""}, outputs={"angle": 3, "sum": ""},
                  derivative=lambda t, x, u, p: {"attitude": u.speed, "count": u.gain},
                  output=lambda t, x, u, p: {"angle": x.attitude[1:] * u.gain, "sum": x.count + t})


def parts():
    """Open, closed, floating, with mimic joints; laws with a memory and without; kernels of one's own."""
    arm = cy.load("planar2r")
    closed, gripper = cy.load("four_bar"), cy.load("gripper")
    afloat = cy.load("planar2r", floating_base=True).variants.with_missing_masses(1.0)

    @cy.kernel("(3),()->(),(3),(0)", outputs=("length", "unit", "nothing"))
    def parted(v, scale):
        size = np.sqrt(v @ v)
        return scale * size, v / size, v[:0]

    return {
        "inverse dynamics": arm.inverse_dynamics, "pose": arm.pose.of("tool"), "mass": afloat.inertia_matrix,
        "floating": afloat.inverse_dynamics, "closed": closed.forward_dynamics,
        "open forces": closed.loops.forces, "mimic": gripper.inverse_dynamics,
        "tuned": arm.gravity_forces.with_parameters("mass"), "parted": parted, "pd": arm.control.pd(80.0, 9.0),
        "law": arm.control.computed_torque(100.0, 20.0, 50.0, wind_up=30.0), "turning": turning()}


@pytest.fixture(scope="module")
def functions():
    return parts()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_kind_of_function_is_right_in_c_and_in_cpp(functions, dtype, tmp_path):
    made = export_folder(tmp_path / "new" / "folder", functions, name="all kinds", dtype=dtype, batch=True)
    assert len(made.files) == len(set(made.files)) and all(path.is_file() for path in made.files)
    states = 8 * len(functions)
    for compiler, flags, language in ((COMPILER, ("-std=c99",), "c"), ("g++", ("-std=c++14",), "c++"))[
            :2 if dtype == "float64" else 1]:
        done = checked(made.folder, compiler, flags, language)
        assert done.returncode == 0 and f"{states} states, 0 wrong numbers" in done.stdout, done.stdout
    texts = "".join(path.read_text() for path in made.files)
    assert max(map(len, texts.splitlines())) < 160
    if dtype == "float32":
        assert "double" not in re.sub(r"/\*.*?\*/", "", (made.folder / "src" / "law.c").read_text(), flags=re.S)


@needs("cmake")
def test_cmake_builds_tests_and_installs(functions, tmp_path):
    made = export_folder(tmp_path / "made", {"law": functions["law"], "fk": functions["pose"]}, name="arm")
    run = lambda *command: subprocess.run(command, capture_output=True, text=True, cwd=made.folder)  # noqa: E731
    for line in made.commands:
        done = run(*line.split())
        assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout
    assert run("cmake", "--install", "build", "--prefix", str(tmp_path / "installed")).returncode == 0
    user = tmp_path / "user"
    user.mkdir()
    (user / "main.c").write_text('#include "arm.h"\nint main(void) { double q[2] = {0, 0}, T[16]; fk(q, T);\n'
                                 "return T[15] == 1.0 ? 0 : 1; }\n")
    (user / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.10)\nproject(user C)\n"
                                         "find_package(arm REQUIRED)\nadd_executable(user main.c)\n"
                                         "target_link_libraries(user arm)\n")
    for command in (["cmake", "-S", str(user), "-B", str(user / "b"), f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}"],
                    ["cmake", "--build", str(user / "b")], [str(user / "b" / "user")]):
        done = run(*command)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_test_program_finds_what_is_wrong(functions, tmp_path):
    """A number that is off in the fourth digit, a law that forgets, and a result that is not a number."""
    made = export_folder(tmp_path, {name: functions[name] for name in ("pose", "law", "parted")})
    for file, old, new, said in [("pose.c", "0.5*", "0.5001*", "pose: out[3] of state 0 is "),
                                 ("law.c", "state->integral[i] = x[i]", "state->integral[i] = 0.0*x[i]", "law: tau"),
                                 ("parted.c", "sqrt(", "sqrt(-", "parted: length[0] of state 7 is ")]:
        path = made.folder / "src" / file
        right = path.read_text()
        assert old in right
        path.write_text(right.replace(old, new))
        done = checked(made.folder)
        path.write_text(right)
        assert done.returncode == 1 and said in done.stdout and " 0 wrong" not in done.stdout, done.stdout


@pytest.mark.parametrize("processor", ["this", "cortex-m4"])
def test_arduino_sketches_compile(functions, processor, tmp_path):
    """With a stand-in for the board's own header; on this machine the sketch is run as well."""
    made = export_folder(tmp_path, {name: functions[name] for name in ("inverse dynamics", "law")}, layout="arduino",
                         name="two links")
    properties = dict(line.split("=", 1) for line in (tmp_path / "library.properties").read_text().splitlines())
    assert {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
            "architectures"} <= properties.keys() and properties["name"] == "two_links"
    assert (tmp_path / "examples" / "Check" / "Check.ino").is_file() and (tmp_path / "src" / "two_links.h").is_file()
    compiler, flags = ("g++", ()) if processor == "this" else ("arm-none-eabi-g++", PROCESSOR)
    if why := missing(compiler):
        pytest.skip(why)
    (tmp_path / "Arduino.h").write_text(ARDUINO)
    sketch = [compiler, *flags, *STRICT, "-Wno-unused-function", "-std=c++14", f"-I{tmp_path}", f"-I{tmp_path / 'src'}",
              "-include", "Arduino.h", "-x", "c++", str(tmp_path / "examples" / "Check" / "Check.ino")]
    objects = [str(tmp_path / f"{path.stem}.o") for path in sorted((tmp_path / "src").glob("*.c"))]
    for path, target in zip(sorted((tmp_path / "src").glob("*.c")), objects, strict=True):
        subprocess.run([compiler.replace("g++", "gcc"), *flags, *STRICT, "-std=c99", "-c", str(path), "-o", target],
                       check=True)
    subprocess.run([*sketch, "-c", "-o", str(tmp_path / "sketch.o")], check=True)
    if processor == "this":
        (tmp_path / "main.cpp").write_text("void setup(); void loop(); int main() { setup(); loop(); }\n")
        subprocess.run(["g++", str(tmp_path / "main.cpp"), str(tmp_path / "sketch.o"), *objects, "-o",
                        str(tmp_path / "sketch")], check=True)
        said = subprocess.run([str(tmp_path / "sketch")], capture_output=True, text=True).stdout
        assert said.startswith("two_links: 8 states, 0 wrong numbers"), said
    assert made.commands[0].startswith("arduino-cli compile")


HOSTILE = ["*/ int x; /*", "??/", "arm\\", "a\nb", 'say "hi"', "θ 関節", "../../etc/passwd", "$(rm -rf x)", "test",
           "int", "x" * 300, "${CMAKE_COMMAND}", "arm;boom", "1.5", "-", "A", "a"]


def test_no_name_breaks_out_of_its_place(tmp_path):
    """Of the robot, its joints, its frame and the function at once; all are in one folder."""
    def arm(word):
        bodies = [Body(f"base {word}"), Body(f"rod {word}", 1.0, [0.2, 0.0, 0.0], 0.01 * np.eye(3))]
        return cy.Mechanism.of(word, bodies, [Joint(word, bodies[0].name, bodies[1].name, Revolute())],
                               frames=[Frame(word, bodies[1].name, np.eye(4))], source=word, gravity=(0.0, -9.81, 0.0))
    functions = {}
    for word in HOSTILE:
        try:
            made = arm(word)
        except CayleyError:
            made = cy.load("planar2r")  # such a name is refused at once
        functions[word] = made.pose.of(made.frame_names[0])
    for layout in LAYOUTS:
        folder = tmp_path / layout
        for name in (HOSTILE[0], HOSTILE[6], "test"):
            made = export_folder(folder, functions, layout=layout, name=name, about=name, dtype="float64")
            assert all(folder.resolve() in path.resolve().parents for path in made.files)
            assert len({str(path).lower() for path in made.files}) == len(made.files)
        if layout == "arduino":
            lines = (folder / "library.properties").read_text().splitlines()
            assert [line.partition("=")[0] for line in lines] == [
                "name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures",
                "includes"]
    export_folder(tmp_path / "one", functions, name="test", about=HOSTILE[0])
    assert checked(tmp_path / "one").returncode == 0


def test_a_mechanism_that_does_not_move(tmp_path):
    """It has no coordinates, and C has no arrays of no elements."""
    stone = cy.Mechanism.of("stone", [Body("stone", 1.0)], [])
    stone.export(tmp_path / "one", "gravity-forces", batch=True)
    stone.export(tmp_path / "three", "pose:stone", "gravity-forces", "inertia-matrix", batch=True)
    assert checked(tmp_path / "one").returncode == 0 and checked(tmp_path / "three").returncode == 0


def test_of_a_mechanism_by_names(tmp_path):
    arm = cy.load("planar2r")
    made = arm.export(tmp_path, "gravity-forces", "pose:tool", "jacobian:tool:body", arm.control.pd(80.0, 9.0),
                      arm.kinetic_energy)
    names = {path.stem for path in made.files if path.suffix == ".c"} - {"check"}
    assert names == {"planar2r_gravity_forces", "planar2r_pose_tool", "planar2r_jacobian_tool_body", "planar2r_pd",
                     "planar2r_kinetic_energy"}
    assert checked(tmp_path).returncode == 0
    assert "cmake --build build" in str(made) and "files in" in repr(made)


def test_states_of_ones_own(tmp_path):
    @cy.kernel("()->()")
    def root(x):
        return np.sqrt(x - 10.0)
    with pytest.raises(UnsupportedError, match=r"no finite results at random states: give states=\{'x': ...\}"):
        export_folder(tmp_path, {"root": root})
    export_folder(tmp_path, {"root": root}, states={"x": [11.0, 12.0, 19.0]})
    done = checked(tmp_path)
    assert done.returncode == 0 and "3 states" in done.stdout
    for states, words in [({"x": [[1.0]]}, "give"), ({"x": [1.0]}, "no finite results at a state that is given")]:
        with pytest.raises(CayleyError, match=words):
            export_folder(tmp_path, {"root": root}, states=states)


def test_wrong_questions_are_told_the_cure(tmp_path):
    arm = cy.load("planar2r")
    free = cy.kernel("(n)->(n)")(lambda q: 2.0 * q)
    file = tmp_path / "file"
    file.write_text("")
    for ask, error, words in [
            (lambda: arm.export(tmp_path, "pose"), SignatureError, "say of which frame, 'pose:tool'"),
            (lambda: arm.export(tmp_path, "mass-matrix"), SignatureError, "inertia_matrix"),
            (lambda: arm.export(tmp_path, "pose:tool:world"), SignatureError, "no choice of axes"),
            (lambda: arm.export(tmp_path, "gravity-forces:tool"), SignatureError, "is not of a frame"),
            (lambda: arm.export(tmp_path, "constraint-forces"), SignatureError, "no constraints"),
            (lambda: arm.export(tmp_path, "gravity-forces", "gravity_forces"), SignatureError, "twice"),
            (lambda: arm.export(tmp_path), SignatureError, "no function is named"),
            (lambda: arm.export(tmp_path, arm.pose), SignatureError, "a kernel or a system"),
            (lambda: arm.export(tmp_path, "pose:tool", layout="cmak"), UnsupportedError, "did you mean 'cmake'"),
            (lambda: arm.export(file, "pose:tool"), UnsupportedError, "is a file"),
            (lambda: arm.export(tmp_path, "pose:tool", dtype="int32"), UnsupportedError, "float64 or float32"),
            (lambda: export_folder(tmp_path, {"free": free}), SignatureError, "of any n")]:
        with pytest.raises(error, match=words):
            ask()
    assert not [path for path in tmp_path.iterdir() if path != file]  # nothing is half written
