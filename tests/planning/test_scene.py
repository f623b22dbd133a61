"""Scenes: their rows, their files, the arrays that kernels take, and what is wrong with them by its row."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import CayleyError, ModelError

TURNED = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
SIZES = [1, 5, 8, 12, 20, 40]


@pytest.fixture
def scene():
    return cy.Scene(boxes=[([0.5, 0.0, 0.2], [0.1, 0.3, 0.02], TURNED), ([0, 1, 0], [1, 2, 3])],
                    cylinders=[([0.1, 0.2, 0.3], 0.05, 0.4, TURNED)], spheres=[([1, 2, 3], 0.5)],
                    capsules=[([0.1, 0.2, 0.3], 0.05, 0.4, TURNED)], half_spaces=[([0, 0, -0.1], [0, 0, 1])])


def test_obstacles_are_rows_of_numbers(scene):
    assert repr(scene) == "<scene: 2 boxes, 1 cylinder, 1 sphere, 1 capsule, 1 half-space>" and len(scene) == 6
    assert scene.names == ("box 0", "box 1", "cylinder 0", "sphere 0", "capsule 0", "half-space 0")
    assert scene.boxes.tolist() == [[0.5, 0, 0.2, 0.1, 0.3, 0.02, *TURNED], [0, 1, 0, 1, 2, 3, 1, 0, 0, 0]]
    assert cy.Scene(boxes=scene.boxes).boxes.tolist() == scene.boxes.tolist()
    assert repr(cy.Scene()) == "<scene: no obstacles>" and cy.Scene().inputs == ()
    with pytest.raises(ValueError, match="read-only"):
        scene.boxes[0, 0] = 1.0


def test_inputs_have_the_axes_of_the_obstacles(scene):
    """A corner of a box, as SciPy turns it, is at its half sizes; the rows that fill up an array are far away."""
    boxes, cylinders, _, capsules, half_spaces = scene.inputs
    corner = np.add([0.5, 0.0, 0.2], Rotation.from_quat([*TURNED[1:], TURNED[0]]).apply([0.1, 0.3, -0.02]))
    assert boxes[0, :9].reshape(3, 3) @ corner + boxes[0, 9:12] == pytest.approx([0.1, 0.3, -0.02], abs=1e-15)
    assert boxes[0, 12:].tolist() == [0.1, 0.3, 0.02] and cylinders[0, 12:].tolist() == [0.05, 0.2]
    assert half_spaces.tolist() == [[0, 0, 1, -0.1]] and capsules.tolist() == cylinders.tolist()
    many = cy.Scene(boxes=[([0, 0, 0], [1, 1, 1])] * 9).inputs[0]
    assert len(many) == 10 and np.abs(many[9, 9:12]).max() == 1e9
    assert [len(cy.Scene(spheres=[([0, 0, 0], 1)] * n).inputs[0]) for n in (1, 5, 8, 11, 17, 33)] == SIZES


def test_files_keep_every_bit(scene, tmp_path):
    rng = np.random.default_rng(0)
    scene = cy.Scene(boxes=[(rng.normal(size=3), rng.uniform(size=3), Rotation.random(random_state=1).as_quat())],
                     cylinders=scene.cylinders, spheres=scene.spheres, capsules=scene.capsules,
                     half_spaces=scene.half_spaces)
    scene.save(tmp_path / "shelf.toml")
    for other in (cy.Scene.load(tmp_path / "shelf.toml"), pickle.loads(pickle.dumps(scene))):
        for kind in ("boxes", "cylinders", "spheres", "capsules", "half_spaces"):
            assert np.array_equal(getattr(other, kind), getattr(scene, kind))


@pytest.mark.parametrize("given, said", [
    ({"boxes": [([0, 0, 0], [1, 1, 1]), ([0, 0, np.nan], [1, 1, 1])]}, "center of box 1 .* must be finite"),
    ({"boxes": [([0, 0, 0], [1, -1, 1])]}, "half_sizes of box 0 .* a size is positive"),
    ({"boxes": [([0, 0, 0], [1, 1, 1], [1, 1, 0, 0])]}, r"quaternion of box 0 .* length 1.41421: .* \(w, x, y, z\)"),
    ({"boxes": [([0, 0], [1, 1, 1])]}, "center of box 0 .* has 3 numbers, not 2"),
    ({"boxes": [([0, 0, 0],)]}, r"box 0 .* 1 parts: it is \(center, half_sizes, quaternion\)"),
    ({"cylinders": [([0, 0, 0], 0.0, 1.0)]}, "radius of cylinder 0 .* a size is positive"),
    ({"spheres": [([0, 0, 0], "wide")]}, "sphere 0 .* is no row of numbers"),
    ({"spheres": [7.0]}, "sphere 0 .* no row"),
    ({"half_spaces": [([0, 0, 0], [0, 0, 2])]}, "normal of half-space 0 .* its length is one")])
def test_what_is_wrong_is_named_with_its_row(given, said):
    with pytest.raises(ModelError, match=said):
        cy.Scene(**given)


@pytest.mark.parametrize("text, said", [
    ("[[boxs]]\ncenter = [0, 0, 0]", "'boxs': did you mean 'boxes'"),
    ("[[spheres]]\nradius = 1", "sphere 0 has no center"),
    ("[[spheres]]\ncenter = [0, 0, 0]\nradius = -1", "radius of sphere 0"), ("boxes = 3", "is no scene"),
    ("[[spheres]\n", "is no scene"), ("boxes = [1]", "is no scene")])
def test_a_file_that_is_wrong_is_named(text, said, tmp_path):
    (tmp_path / "scene.toml").write_text(text)
    with pytest.raises(CayleyError, match=said) as raised:
        cy.Scene.load(tmp_path / "scene.toml")
    assert "scene.toml" in str(raised.value)
