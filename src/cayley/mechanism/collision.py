"""A mechanism among obstacles: `arm.collision`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.mechanism.room import Room

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.planning.collision.checking import NearestPair
    from cayley.planning.collision.scene import Scene
    from cayley.planning.collision.sphere_model import CollisionModel


class Collision(Room):
    """A mechanism among the obstacles of a `Scene`: collisions and clearance, by spheres that contain its links.

    >>> from cayley.planning.collision.sphere_model import CollisionModel, LinkSpheres
    >>> arm = cy.load("planar2r")
    >>> model = CollisionModel("planar2r", [LinkSpheres("link2", [[0.2, 0.0, 0.0, 0.05], [0.4, 0.0, 0.0, 0.05]])])
    >>> ball = cy.Scene(spheres=[([0.9, 0.2, 0.0], 0.1)])
    >>> arm.collision.using(model).collides([[0.0, 0.0], [0.1, 0.2]], ball)
    array([False,  True])
    >>> near = arm.collision.using(model).clearance([0.0, 0.0], ball)
    >>> float(near.distance.round(6)), near.gradient.round(6), str(near.link), str(near.other)
    (0.05, array([-0.9, -0.4]), 'link2', 'sphere 0')
    """

    def __init__(self, arm: Mechanism, model: CollisionModel | None = None) -> None:
        super().__init__(arm)
        if model is not None:
            model.check(arm.tree)
        self._given = model

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.arm, self._given)

    @property
    def model(self) -> CollisionModel:
        """The model of spheres: the one that is given to `using`, or that `fitted` makes of the file's shapes, once."""
        return self._given if self._given is not None else kept(self, "model", self.fitted)

    def using(self, model: CollisionModel) -> Self:
        """The same functions with another model of spheres, as one that was corrected by hand:
        `CollisionModel.load("arm.toml")`."""
        return type(self)(self.arm, model)

    def fitted(self, *, spheres: int | None = None, samples: int = 1000,
               exclude: Iterable[tuple[str, str]] = ()) -> CollisionModel:
        """A model whose spheres contain the collision geometry of the file, with the pairs of links that may meet; see
        `shapes.collision_model`."""
        from cayley.shapes.collision_model import collision_model
        return collision_model(self.tree, spheres=spheres, samples=samples, exclude=exclude)

    def sticking_out(self) -> dict[str, float]:
        """The distance [m] that shapes of each body stick out of its spheres, at their vertices and at many points: 0.0
        unless a model was given in which spheres are missing."""
        from cayley.shapes.collision_model import sticking_out
        return sticking_out(self.tree, self.model)

    def collides(self, q: ArrayLike, scene: Scene, *, margin: float = 0.0) -> Array:
        """True (...) where the mechanism at configurations (..., nq) touches an obstacle or itself, or comes nearer
        than a margin [m]. No collision of the shapes is missed, since spheres contain them; some configurations that
        are free are called collisions. What is not a number is one."""
        from cayley.planning.collision.checking import collides
        return collides(self.tree, self.model, q, scene, margin=margin)

    def collides_between(self, start: ArrayLike, end: ArrayLike, scene: Scene, *, margin: float = 0.0,
                         step: float = 0.01) -> Array:
        """True (...) where the mechanism touches an obstacle or itself on the straight way between configurations (...,
        nq). Nothing between is missed: no sphere moves farther than `step` [m] from where it is looked at; see
        `planning.collision.motions`."""
        from cayley.planning.collision.motions import collides_between
        return collides_between(self.tree, self.model, start, end, scene, margin=margin, step=step)

    def clearance(self, q: ArrayLike, scene: Scene) -> NearestPair:
        """The `NearestPair` at configurations (..., nq): the signed distance of the nearest pair, of a sphere and an
        obstacle or another sphere, its gradient (..., nv), and the names of both."""
        from cayley.planning.collision.checking import clearance
        return clearance(self.tree, self.model, q, scene)
