"""Descriptions of robots, damaged at random: each is read as a mechanism that can be reported and written, or refused
with a `ModelError`. Nothing else happens, and nothing takes long. `check(seed)` reads one file."""

import re
import time
import warnings
from functools import cache
from importlib.resources import files

import numpy as np

from cayley.errors import ModelError, UnsupportedError
from cayley.model.catalogue import catalogue_names, load_robot
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_text import dump_toml
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.urdf_text import dump_urdf
from cayley.model.report import ModelWarning, report

READERS = {"urdf": load_urdf, "mjcf": load_mjcf, "toml": load_toml}
SLOWEST = 10.0  # seconds of one file

NUMBERS = (
    "nan", "inf", "-inf", "1e400", "-1e308", "1e30", "1e-320", "0", "-0.0", "9" * 400, "9" * 5000, "0x" + "f" * 5000,
    "1_000", "1e", "½", "90", "true", '"1"', "[1]", "1979-05-27", "1,5", "$(arg x)",
)
NAMES = (
    "", " ", "world", "universe", "base", "tool", "\x1b]0;x\x07", "\u202e", "\x00", "é🤖", "x" * 500, "a\nb",
    "[red]", "&lt;", "'", '"', '"""', "revolute", "prismatic", "fixed", "floating", "planar", "ball", "free", "None",
    "../../x", "/dev/zero", ".",
)
PIECES = {
    "urdf": (
        "<link/>",
        '<link name="world"/>',
        "<mimic/>",
        '<mimic joint="joint1"/>',
        '<limit lower="1" upper="-1"/>',
        '<axis xyz="0 0 0"/>',
        "<inertial/>",
        "<a>" * 3000,
        "</joint>",
        "<!DOCTYPE a>",
        "<!--",
        "-->",
        "<![CDATA[",
        "<?xml version='1.0'?>",
        "&b;",
        "<xacro:x/>",
        '<origin rpy="1e30 0 0"/>',
        '<joint name="x" type="floating"><parent link="base"/><child link="base"/></joint>',
    ),
    "mjcf": (
        '<replicate count="1000000"><geom size="1"/></replicate>',
        '<include file="/dev/zero"/>',
        '<include file="."/>',
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
        '<size nuser_body="2000000000"/>',
        "<freejoint/>",
        "<body/>",
        '<joint type="ball" range="0 1" limited="true"/>',
        '<geom type="mesh" mesh="m"/>',
        '<body mocap="true"/>',
        "<a>" * 300,
        "<!--",
        '<equality><connect body1="link1" anchor="0 0 0"/></equality>',
        '<attach model="m" body="b" prefix="p"/>',
        "<!DOCTYPE a>",
        '<compiler angle="radian" autolimits="false"/>',
        '<geom size="1e10" density="1e30"/>',
        "<composite/>",
        '<flexcomp count="9 9 9"/>',
    ),
    "toml": (
        "[" * 3000,
        "]" * 30,
        "{a=" * 3000,
        "a." * 3000,
        "[[bodies]]\n",
        "[[joints]]\n",
        "[dh]\n",
        "mass = -1\n",
        '"""',
        "'''",
        "#",
        "\r",
        'kind = "helical"\n',
        'mimic = { joint = "joint1" }\n',
        "\ufeff",
        "\\u0000",
        "= =",
        "x = 1\n",
        "limits = { lower = 1, upper = -1 }\n",
        "inertia = [[1,2,3],[4,5,6],[7,8,9]]\n",
        'rpy = ["pi/0", "1e400 deg", 0]\n',
    ), }
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTED = re.compile(r'"[^"\n]*"')


@cache
def sound_files() -> dict[str, list[str]]:
    """Files of the three formats that are right: those of the catalogue, and what is written of them."""
    folder = files("cayley.model.catalogue")
    names = (*catalogue_names(), *catalogue_names(fixtures=True))
    published = [(folder / f"{name}.toml").read_text(encoding="utf-8") for name in catalogue_names()]
    found: dict[str, list[str]] = {"toml": published, "urdf": [], "mjcf": []}
    for name in names:
        tree = load_robot(name)
        found["toml"].append(dump_toml(tree))
        for kind, write in (("urdf", dump_urdf), ("mjcf", dump_mjcf)):
            try:
                found[kind].append(write(tree, leave_out=True))
            except UnsupportedError:
                continue
    return found


def damaged(text: str, kind: str, random: np.random.Generator) -> str:
    """The text with one or two faults."""
    for _ in range(random.integers(1, 3)):
        text = _one_of(DAMAGES, random)(text, kind, random)
    return text


def _one_of(options, random: np.random.Generator):
    return options[int(random.integers(len(options)))]


def _span(text: str, random: np.random.Generator) -> tuple[int, int]:
    start = int(random.integers(len(text) + 1))
    return start, min(len(text), start + int(random.geometric(0.02)))


def _without_a_span(text: str, kind: str, random: np.random.Generator) -> str:
    start, end = _span(text, random)
    return text[:start] + text[end:]


def _with_a_span_again(text: str, kind: str, random: np.random.Generator) -> str:
    start, end = _span(text, random)
    place = int(random.integers(len(text) + 1))
    return text[:place] + text[start:end] + text[place:]


def _with_a_line_moved(text: str, kind: str, random: np.random.Generator) -> str:
    lines = text.split("\n")
    line = lines.pop(int(random.integers(len(lines))))
    lines.insert(int(random.integers(len(lines) + 1)), line)
    return "\n".join(lines)


def _with_a_piece(text: str, kind: str, random: np.random.Generator) -> str:
    place = int(random.integers(len(text) + 1))
    if random.random() < 0.7:  # between lines, where it does not break the syntax
        place = text.rfind("\n", 0, place) + 1
    return text[:place] + _one_of(PIECES[kind], random) + text[place:]


def _with_another_letter(text: str, kind: str, random: np.random.Generator) -> str:
    place = int(random.integers(len(text) + 1))
    other = _one_of([random.integers(128), random.integers(0x3000), 0xD800], random)
    return text[:place] + chr(int(other)) + text[place + 1:]


def _with_another(pattern: re.Pattern[str], others: tuple[str, ...], quote: str = ""):
    def change(text: str, kind: str, random: np.random.Generator) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = _one_of(found, random)
        other = quote + _one_of(others, random) + quote if random.random() < 0.7 else _one_of(found, random).group()
        return text[:match.start()] + other + text[match.end():]

    return change


def _cut_off(text: str, kind: str, random: np.random.Generator) -> str:
    return text[:int(random.integers(len(text) + 1))] if random.random() < 0.2 else text


DAMAGES = (_without_a_span, _with_a_span_again, _with_a_line_moved, _with_a_piece, _with_another_letter, _cut_off,
           _with_another(_NUMBER, NUMBERS), _with_another(_WORD, NAMES), _with_another(_QUOTED, NAMES, '"'))


def check(seed: int) -> bool:
    """Read one file; whether it was read, or refused."""
    random = np.random.default_rng(seed)
    kind = _one_of(list(READERS), random)
    text = damaged(_one_of(sound_files()[kind], random), kind, random)
    begun = time.process_time()
    accepted = read(kind, text)
    took = time.process_time() - begun
    assert took < SLOWEST, f"{kind}: {took:.1f} s"
    return accepted


def read(kind: str, text: str) -> bool:
    """Whether a text is read, or refused by a `ModelError`; all else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            tree = READERS[kind](text)
        except ModelError as error:
            _check_shown(str(error))
            return False
        _check_shown(str(report(tree)))
        again = load_toml(dump_toml(tree))
        assert [body.name for body in again.bodies] == [body.name for body in tree.bodies]
        return True


def _check_shown(text: str) -> None:
    """Nothing commands the terminal on which it is shown."""
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e", "\x00", "\ud800"}, text
