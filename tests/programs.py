"""Programs that tests run besides Python, and the mark that leaves a test out where one of them is missing."""

from __future__ import annotations

import os
import shutil

import pytest

C_COMPILER = next(filter(None, map(shutil.which, filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")))), None)


def missing(*programs: str) -> str:
    """Why a test that runs these programs cannot run here, or nothing; "cc" is any C compiler."""
    absent = [name for name in programs if not (C_COMPILER if name == "cc" else shutil.which(name))]
    return f"no {', '.join(absent)} here: `make programs` installs what the tests run" if absent else ""


def needs(*programs: str) -> pytest.MarkDecorator:
    """The mark of a test that runs these programs."""
    why = missing(*programs)
    return pytest.mark.skipif(bool(why), reason=why)
