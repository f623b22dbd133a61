"""The command line, as a process, as a user runs it, and within this one."""

import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from types import SimpleNamespace
from unittest.mock import patch

from cayley.cli import terminal
from cayley.cli.app import main


def run(*arguments, cwd=None, code=0, columns=80):
    """Run `cayley` with the arguments; its exit code is checked, and that no traceback is shown."""
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-m", "cayley", *map(str, arguments)], capture_output=True, text=True,
                          encoding="utf-8", cwd=cwd, env=environment, timeout=300)
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    assert done.returncode == code, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def call(*arguments, cwd=".", code=0, columns=80):
    """The same within this process, which is quicker."""
    out, err = io.StringIO(), io.StringIO()
    with patch.dict(os.environ, COLUMNS=str(columns), NO_COLOR="1"), patch.object(sys, "argv",
                                                                                  ["cayley", *map(str, arguments)]):
        terminal.output.cache_clear(), terminal.errors.cache_clear()
        with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
            try:
                main()
                ended = 0
            except SystemExit as error:
                ended = error.code or 0
        terminal.output.cache_clear(), terminal.errors.cache_clear()
    assert ended == code, (ended, out.getvalue()[-2000:], err.getvalue()[-2000:])
    assert "Traceback" not in err.getvalue() + out.getvalue(), err.getvalue()
    return SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue())


def data(done):
    """What was printed as JSON; NaN and Infinity, which JSON does not have, are refused."""
    return json.loads(done.stdout, parse_constant=_refuse)


def _refuse(word):
    raise AssertionError(f"{word} is not JSON")


def widest(text):
    return max(map(len, text.splitlines()))
