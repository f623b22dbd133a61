"""The pictures of docs/start/gallery/robots.md can be drawn again."""

import importlib.util
from pathlib import Path

import matplotlib.image

FOLDER = Path(__file__).parents[2] / "docs" / "start" / "gallery"


def test_every_picture_is_drawn(tmp_path):
    spec = importlib.util.spec_from_file_location("robots_gallery", FOLDER / "robots.py")
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    text = (FOLDER / "robots.md").read_text()
    for path in gallery.main(tmp_path):
        picture = matplotlib.image.imread(path)[..., :3]
        assert picture.shape == matplotlib.image.imread(FOLDER / path.name)[..., :3].shape
        assert picture.std() > 0.05 and f"({path.name})" in text
