"""What every test and doctest of the project shares."""

import gc
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest

# CI tries the same examples every time, and fewer: the nightly fuzz tries others, for an hour.
IN_CI = "CI" in os.environ
hypothesis.settings.register_profile("cayley", deadline=None, derandomize=IN_CI, max_examples=25 if IN_CI else 100,
                                     print_blob=True)
hypothesis.settings.register_profile("first failure", hypothesis.settings.get_profile("cayley"), database=None,
                                     # for tools/mutants.py
                                     phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate])
hypothesis.settings.load_profile("cayley")

collect_ignore = [] if importlib.util.find_spec("optax") else [  # all else is in `test`
    "docs/robots/optax.md", "docs/motion_and_control/reaching.md", "docs/motion_and_control/hopping.md"]
CACHE = pytest.StashKey[str]()


def pytest_configure(config):
    """Choose the cache of compiled code, before anything can compile; xdist's workers inherit it.

    The cache is kept between runs, in the user's folder of caches or in the folder that CAYLEY_TEST_CACHE names: an
    entry's key contains the text of the compiler, so none is stale. CAYLEY_TEST_CACHE=cold begins with an empty one.
    Kernels are compiled quickly, but those of tests/compiler, and all of them every night. Each worker has one core:
    threads of OpenBLAS would only wait for each other."""
    gc.disable()  # until all tests are collected: the collector would look through all modules again and again
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("CAYLEY_COMPILE", "quick")
    if hasattr(config, "workerinput"):
        return
    kept = os.environ.get("CAYLEY_TEST_CACHE") or str(
        Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "cayley-tests")
    if kept == "cold":
        kept = config.stash.setdefault(CACHE, tempfile.mkdtemp(prefix="cayley-test-cache-"))
    os.environ["CAYLEY_CACHE"] = kept


def pytest_unconfigure(config):
    if CACHE in config.stash:
        shutil.rmtree(config.stash[CACHE], ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Let the first of xdist's workers compile all modules, in a fresh clone; the others wait, and read the result."""
    if not hasattr(session.config, "workerinput") or sys.platform == "win32":
        return (yield)
    import fcntl
    with Path(__file__).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        return (yield)


def pytest_collection_finish():
    """Keep modules and tests, which live until the end, from Python's collector of garbage."""
    gc.freeze()
    gc.set_threshold(500_000, 10, 10)  # graphs of expressions are many objects that die by themselves
    gc.enable()


def pytest_collection_modifyitems(items):
    """Write the capabilities that a test claims into its report, where tools/spec.py finds them."""
    for item in items:
        numbers = [number for mark in item.iter_markers("spec") for number in mark.args]
        if numbers:
            item.user_properties.append(("spec", numbers))
