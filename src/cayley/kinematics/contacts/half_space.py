"""Shapes on a half-space: the lowest points of each, and the plane's own axes."""

from __future__ import annotations

from cayley.geometry.contact_shapes import ConvexKind, HalfSpace
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.lowest_points import LOWEST, ball_radius
from cayley.kinematics.contacts.spot import Spot


def on_half_space(ground: HalfSpace, shape: ConvexKind, pose: Pose, other: Pose) -> list[Spot]:
    """The contact points of a shape on a half-space: its lowest points, against a plane whose axes they all have."""
    plane = pose.then(Pose.of(ground.pose))
    up = plane.R[:, 2]
    radius = ball_radius(shape)
    spots = []
    for point in LOWEST[type(shape)].points(shape, other, up):
        height = up @ (point - plane.p)
        spots.append(Spot(height - radius, point - 0.5 * (height + radius) * up, plane.R.T))
    return spots
