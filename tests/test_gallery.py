"""The pictures of the documentation can be drawn again, and show what the text beside them says."""

import importlib.util
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "start" / "gallery"


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("geometry_gallery", FOLDER / "geometry.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_is_drawn(gallery, tmp_path):
    for path in gallery.main(tmp_path):
        picture = matplotlib.image.imread(path)[..., :3]
        assert picture.shape == matplotlib.image.imread(FOLDER / path.name)[..., :3].shape
        assert picture.std() > 0.05 and f"({path.name})" in (FOLDER / "geometry.md").read_text()


def test_the_top_does_what_the_text_says(gallery):
    """Cusps: the axis rises again to where it was let go, from a depth that is known for a fast top.

    Steady: the inclination stays.
    """
    time = np.linspace(0.0, 3.0, 3001)
    inclination = gallery.top_motion(0.0, time)[1]
    across, along, spin, weight = gallery.TOP
    assert abs(inclination.min() - np.pi / 3) < 1e-6
    assert np.ptp(inclination) == pytest.approx(2 * weight * across * np.sin(np.pi / 3) / (along * spin) ** 2, rel=0.15)
    slow = gallery.steady_precession(*gallery.TOP[:2], np.pi / 3, *gallery.TOP[2:]).slow
    assert np.ptp(gallery.top_motion(slow, time)[1]) < 1e-8
    backwards = np.diff(gallery.top_motion(-1.5 * slow, time)[0])
    assert (backwards < 0).any() and (backwards > 0).any()
