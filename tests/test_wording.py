"""The words of messages: one offer of what was meant, and nothing that a terminal obeys."""

import pickle
import time
from pathlib import Path

import numpy as np
import pytest

import cayley
from cayley.errors import CayleyError, ModelError, TraceError, did_you_mean, misspelt, nearest, printable, shown


def test_offers():
    assert did_you_mean("Puma650", ["puma560", "ur5"]) == ": did you mean 'puma560'?"
    assert did_you_mean("ur", ["ur3", "ur5", "panda"]) == ": did you mean 'ur5' or 'ur3'?"
    assert did_you_mean("frame",
                        ["frame1", "frame2", "frame3", "frame4"]) == ": did you mean 'frame4', 'frame3' or 'frame2'?"
    assert did_you_mean("xyz", ["panda"], otherwise="; there is panda") == "; there is panda"
    assert did_you_mean(7, ["panda"]) == did_you_mean("panda", ()) == ""
    assert nearest("tool", ["Tool", "TOOLS"]) == ["Tool", "TOOLS"]
    assert (misspelt("orgin", ["origin", "axis"]), misspelt("visual", ["inertial"])) == ("origin", "")


def test_an_offer_costs_little_however_many_names_there_are():
    names = [f"a_rather_long_name_of_a_joint_of_a_robot_{k}" for k in range(10**6)]
    start = time.process_time()
    did_you_mean("a_rather_long_name_of_a_join_of_a_robot_0", names)
    did_you_mean("x" * 10**7, names)
    did_you_mean("x", ["x" * 10**7] * 1000)
    assert time.process_time() - start < 2.0


def test_there_is_one_place_that_looks_for_what_was_meant():
    source = Path(cayley.__file__).parent
    assert [path.name for path in source.rglob("*.py")
            if "get_close_matches" in path.read_text(encoding="utf-8")] == ["errors.py"]


@pytest.mark.parametrize("text", ["plain", "zwei\tSpalten\nund Zeilen", "日本 עברית 🤖 é\u0301"])
def test_what_is_printable_stays(text):
    assert printable(text) == text


@pytest.mark.parametrize(("character", "escape"), [
    ("\x1b", r"\x1b"), ("\x00", r"\x00"), ("\r", r"\r"), ("\x7f", r"\x7f"), ("\x9b", r"\x9b"), ("\u202e", r"\u202e"),
    ("\u2066", r"\u2066"), ("\u2028", r"\u2028"), ("\ud800", r"\ud800"),
])
def test_what_commands_a_terminal_is_escaped_in_every_error(character, escape):
    for kind in (CayleyError, ModelError, TraceError):
        error = kind(f"the name a{character}b")
        assert str(error) == str(pickle.loads(pickle.dumps(error))) == f"the name a{escape}b"


def test_values_are_shown_in_a_few_words():
    deep = []
    for _ in range(10**5):
        deep = [deep]
    assert shown(16**5000) == shown(-(10**400)) == "an integer of very many digits"
    assert shown([16**5000]) == shown(deep) == "a list that is too large to be shown"
    assert shown("x" * 10**6) == "'" + "x" * 56 + "..." and shown(1.5) == "1.5"
    assert (shown(np.float64(-20.0)), shown([np.float32(0.5), {"a": np.int64(3)}])) == ("-20.0", "[0.5, {'a': 3}]")
