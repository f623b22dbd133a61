"""What tests in several folders share."""

from contextlib import ExitStack
from functools import cache

import pytest

from studio.browser import Browser, NoBrowser, chromium


@pytest.fixture(scope="session")
def browsers():
    """A function from flags to a Chromium with them, which is started once; left out by name where there is none."""
    try:
        chromium()
    except NoBrowser as why:
        pytest.skip(str(why))
    with ExitStack() as started:
        yield cache(lambda *flags: started.enter_context(Browser(*flags)))


@pytest.fixture(scope="module")
def browser(request, browsers):
    """The Chromium with the flags that the module has as its `CHROMIUM`, if it has some; left with an empty page."""
    one = browsers(*getattr(request.module, "CHROMIUM", ()))
    yield one
    one.open("about:blank", width=800)  # the page would go on drawing
