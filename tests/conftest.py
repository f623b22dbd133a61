"""What tests in several folders share."""

import pytest

from studio.browser import Browser, NoBrowser, chromium


@pytest.fixture(scope="module")
def browser(request):
    """A Chromium of a module's own, with the module's `CHROMIUM` as its flags, if it has some; left out by name where
    there is none."""
    try:
        chromium()
    except NoBrowser as why:
        pytest.skip(str(why))
    with Browser(*getattr(request.module, "CHROMIUM", ())) as one:
        yield one
