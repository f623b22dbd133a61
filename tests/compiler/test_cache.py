"""Compiled code on disk: found again, never trusted blindly, never in the way."""

import os
import subprocess
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.compiler import cache, compile

SCRIPT = """
import numpy as np, cayley as cy
from cayley.compiler import compile
made = []
assemble = compile.assemble
compile.assemble = lambda *a: made.append(1) or assemble(*a)
kernel = cy.kernel("(n)->(n)", name="sample")(lambda x: x * np.sin(x) + 1)
print(kernel(np.arange(5.0)).tolist(), len(made))
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("CAYLEY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def sample():
    return cy.kernel("(n)->(n)", name="sample")(lambda x: x * np.sin(x) + 1)


def own_entries(here):
    """The entries of kernels; there is one more for what all of them share."""
    return [path for path in here.glob("*.code") if b'"rows"' not in path.read_bytes()]


def counted(monkeypatch):
    """How often something was really compiled."""
    made, assemble = [], compile.assemble
    monkeypatch.setattr(compile, "assemble", lambda *a: made.append(1) or assemble(*a))
    return made


def test_code_is_found_again(here, monkeypatch):
    made = counted(monkeypatch)
    first = sample()(np.arange(5.0))
    pieces = len(made)
    assert pieces > 0 and len(own_entries(here)) == 1
    assert (sample()(np.arange(5.0)) == first).all() and len(made) == pieces


def test_another_process_finds_it(here):
    runs = [subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    (values, compiled), (again, found) = (run.strip().rsplit(" ", 1) for run in runs)
    assert values == again and int(compiled) > 0 and int(found) == 0


def test_other_constants_dimensions_and_types_are_other_entries(here):
    cy.kernel("(n)->(n)")(lambda x: 2 * x)(np.zeros(2))
    cy.kernel("(n)->(n)")(lambda x: 3 * x)(np.zeros(2))
    assert len(own_entries(here)) == 2
    again = cy.kernel("(n)->(n)")(lambda x: 3 * x)
    assert (again(np.ones((4, 2), np.float32)) == 3).all() and (again(np.ones(3)) == 3).all()
    assert len(own_entries(here)) == 4


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:40], lambda data: data[:-1], lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    lambda data: b"garbage" * 100, lambda data: b"\0" + data,
])
def test_damaged_entries_are_replaced(here, damage, monkeypatch):
    value = sample()(np.arange(5.0))
    (entry,) = own_entries(here)
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    made = counted(monkeypatch)
    assert (sample()(np.arange(5.0)) == value).all() and made
    assert len(entry.read_bytes()) == len(good)


def test_foreign_entries_are_not_loaded(here):
    """An entry in the right place but for another program, as a clash of names would give."""
    cache.store("one key", [b"code"])
    (entry,) = here.glob("*.code")
    entry.rename(here / cache._file_name("another key"))
    assert cache.load("another key") is None and cache.load("one key") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of this kind exist on POSIX systems only")
def test_entries_that_others_could_write_are_not_loaded(here):
    cache.store("key", [b"code"])
    assert cache.load("key") == [b"code"]
    (entry,) = here.glob("*.code")
    entry.chmod(0o666)
    assert cache.load("key") is None


def test_an_unwritable_folder_warns_and_works(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("CAYLEY_CACHE", str(blocked / "below"))
    with pytest.warns(cache.CacheWarning, match="CAYLEY_CACHE"):
        assert sample()(np.zeros(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("word", ["off", "0", "", "None"])
def test_the_cache_can_be_off(word, monkeypatch, tmp_path):
    monkeypatch.setenv("CAYLEY_CACHE", word)
    monkeypatch.chdir(tmp_path)
    assert cache.folder() is None and sample()(np.zeros(2)).tolist() == [1.0, 1.0]
    assert not list(tmp_path.iterdir())


def test_the_default_folder_is_the_users(monkeypatch):
    monkeypatch.delenv("CAYLEY_CACHE")
    assert cache.folder().name == "cayley"


def test_several_processes_compile_the_same_kernel_at_once(here):
    running = [subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    answers = {process.communicate()[0].rsplit(" ", 1)[0] for process in running}
    assert len(answers) == 1 and all(process.returncode == 0 for process in running)
    assert len(own_entries(here)) == 1 and not list(here.glob("*.new"))


def test_the_folder_stays_within_its_limit(here, monkeypatch):
    monkeypatch.setattr(cache, "_MOST_BYTES", 3000)
    for k in range(5):
        cache.store(f"key {k}", [bytes(900)])
        os.utime(here / cache._file_name(f"key {k}"), (k, k))
    assert cache.load("key 0") is None and cache.load("key 4") == [bytes(900)]
