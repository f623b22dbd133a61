"""Scenes for tests of collisions, and the same obstacles for coal."""

import coal
import numpy as np
from scipy.spatial.transform import Rotation

import cayley as cy


def turned(rng):
    return np.roll(Rotation.random(random_state=int(rng.integers(1 << 30))).as_quat(), 1)


def random_scene(rng, each, spread=1.0, apart=0.35, kinds=("boxes", "cylinders", "spheres", "capsules")):
    """As many obstacles of each kind, none of them near the origin."""
    def center():
        c = rng.uniform(-spread, spread, 3)
        return c * max(1.0, apart / np.linalg.norm(c))

    rows = {"boxes": lambda: (center(), rng.uniform(0.03, 0.12, 3), turned(rng)),
            "cylinders": lambda: (center(), rng.uniform(0.03, 0.08), rng.uniform(0.1, 0.3), turned(rng)),
            "spheres": lambda: (center(), rng.uniform(0.05, 0.15)),
            "capsules": lambda: (center(), rng.uniform(0.03, 0.08), rng.uniform(0.1, 0.3), turned(rng))}
    return cy.Scene(**{kind: [rows[kind]() for _ in range(each)] for kind in kinds})


def in_coal(scene):
    """The shapes and places of the obstacles of a scene, in their order."""
    def place(row):
        w, x, y, z = row[-4:]
        return coal.Transform3s(Rotation.from_quat([x, y, z, w]).as_matrix(), row[:3])

    made = [(coal.Box(*2 * row[3:6]), place(row)) for row in scene.boxes]
    made += [(coal.Cylinder(row[3], row[4]), place(row)) for row in scene.cylinders]
    made += [(coal.Sphere(row[3]), coal.Transform3s(np.eye(3), row[:3])) for row in scene.spheres]
    made += [(coal.Capsule(row[3], row[4]), place(row)) for row in scene.capsules]
    return made + [(coal.Halfspace(row[3:], float(row[3:] @ row[:3])), coal.Transform3s.Identity())
                   for row in scene.half_spaces]
