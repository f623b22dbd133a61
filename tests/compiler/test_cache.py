"""Compiled code on disk: found again, never trusted blindly, never in the way."""

import os
import socket
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.native import cache, compile

SCRIPT = """
import numpy as np, cayley as cy
from cayley.compiler.native import compile
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
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
        for _ in range(2)]
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
    lambda data: b"",
    lambda data: data[:40],
    lambda data: data[:-1],
    lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    lambda data: b"garbage" * 100,
    lambda data: b"\0" + data, ])
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


def test_a_folder_with_room_is_not_looked_through_for_every_entry(here, monkeypatch):
    looked = []
    prune = cache._prune
    monkeypatch.setattr(cache, "_prune", lambda place: looked.append(place) or prune(place))
    monkeypatch.setattr(cache, "_MOST_BYTES", 1_000_000)
    for k in range(50):
        cache.store(f"key {k}", [bytes(900)])
    assert len(looked) == 1
    cache.store("large", [bytes(100_000)])
    assert len(looked) == 2
    cache.store("too much", [bytes(900_000)])  # room is made, so that the next ones have it
    before = len(looked)
    for k in range(5):
        cache.store(f"late {k}", [bytes(900)])
    assert len(looked) <= before + 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links are for everybody on POSIX systems only")
def test_what_a_link_points_to_does_not_count(here, tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_MOST_BYTES", 3000)
    large = tmp_path / "large"
    large.write_bytes(bytes(10_000))
    os.utime(large, (2e9, 2e9))  # used last of all
    cache.store("first", [bytes(900)])
    (here / "elsewhere.code").symlink_to(large)
    cache.store("second", [bytes(900)])
    assert cache.load("first") == cache.load("second") == [bytes(900)] and large.stat().st_size == 10_000


def leave_a_pipe(path):
    os.mkfifo(path)


def leave_a_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def leave_a_device(path):
    path.symlink_to("/dev/zero")


def leave_a_pipe_behind_a_link(path):
    os.mkfifo(path.with_suffix(".pipe"))
    path.symlink_to(path.with_suffix(".pipe"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="files of these kinds exist on POSIX systems only")
@pytest.mark.parametrize("leave", [leave_a_pipe, leave_a_socket, leave_a_device, leave_a_pipe_behind_a_link])
def test_what_is_no_file_is_replaced_and_never_waited_for(here, leave, monkeypatch):
    value = sample()(np.arange(5.0))
    (entry,) = own_entries(here)
    entry.unlink()
    monkeypatch.chdir(here)  # the address of a socket must be short
    leave(entry.relative_to(here))
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.startswith(str(value.tolist())) and entry.is_file() and not entry.is_symlink()


def test_a_folder_in_place_of_an_entry_warns_and_works(here):
    value = sample()(np.arange(5.0))
    (entry,) = own_entries(here)
    entry.unlink()
    entry.mkdir()
    with pytest.warns(cache.CacheWarning, match="CAYLEY_CACHE"):
        assert (sample()(np.arange(5.0)) == value).all()
    assert not list(here.glob("*.new"))


def test_a_user_without_a_home_has_no_cache_and_one_warning(monkeypatch):
    pwd = pytest.importorskip("pwd", reason="users of this kind exist on POSIX systems only")

    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("CAYLEY_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    cache._warn_of_no_home.cache_clear()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            assert sample()(np.zeros(2)).tolist() == [1.0, 1.0]
    assert [w.category for w in seen] == [cache.CacheWarning] and "CAYLEY_CACHE" in str(seen[0].message)
    assert cache.folder() is None


def test_the_home_of_an_unknown_user_is_no_folder(monkeypatch):
    monkeypatch.setenv("CAYLEY_CACHE", "~nobody-of-this-name/x")
    cache._warn_of_no_home.cache_clear()
    with pytest.warns(cache.CacheWarning, match="nobody-of-this-name"):
        assert sample()(np.zeros(2)).tolist() == [1.0, 1.0]


def test_entries_that_others_prune_at_the_same_time_are_no_trouble(here, monkeypatch):
    """Whatever is to be removed has been removed by another process just before."""
    monkeypatch.setattr(cache, "_MOST_BYTES", 1000)
    unlink = os.unlink

    def removed_first(path):
        unlink(path)
        unlink(path)

    monkeypatch.setattr(cache.os, "unlink", removed_first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(5):
            cache.store(f"key {k}", [bytes(900)])
    assert len(list(here.glob("*.code"))) <= 1


def test_writers_beyond_the_limit_do_not_warn_each_other(here):
    script = """
import warnings
from cayley.compiler.native import cache
warnings.simplefilter("error")
cache._MOST_BYTES = 3000
for k in range(150):
    cache.store(f"key {k}", [bytes(900)])
"""
    running = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[1] for process in running] == [""] * 4
    assert not list(here.glob("*.new"))


def test_unfinished_files_go(here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cache, "_pack", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cache.store("key", [b"code"])
    assert not list(here.glob("*.new"))
    for name, age in (("dead.new", 7200), ("busy.new", 60)):
        (here / name).write_bytes(b"half")
        os.utime(here / name, (time.time() - age,) * 2)
    cache.store("key", [b"code"])
    assert [path.name for path in here.glob("*.new")] == ["busy.new"]
