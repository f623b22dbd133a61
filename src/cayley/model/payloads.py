"""Loads and tools that are put down again: `Tree.with_payload` takes one up."""

from __future__ import annotations

import re

from cayley.errors import ModelError
from cayley.model.tree import Tree
from cayley.wording import did_you_mean


def without_payload(tree: Tree, name: str | None = None) -> Tree:
    """The same mechanism without a body that is fixed to another and carries nothing: a load that was put down, a tool
    that was taken off. Without a `name` the only one that `with_payload` gave a number.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("planar2r")
    >>> [body.name for body in without_payload(arm.with_payload("tool", 2.0)).bodies]
    ['base', 'link1', 'link2']
    """
    loads = [body.name for body in tree.bodies if re.fullmatch(r"payload\d+", body.name)]
    if name is None and len(loads) != 1:
        raise ModelError(f"{tree.name} carries {', '.join(loads) or 'no payload'}: name the body to put down")
    chosen = loads[0] if name is None else name
    held = next((joint for joint in tree.joints if joint.child == chosen), None)
    if held is None:
        fixed = [joint.child for joint in tree.joints if not joint.motion.nv]
        raise ModelError(f"{tree.name} has no payload {chosen!r}{did_you_mean(chosen, fixed, otherwise='')}")
    carried = [joint.name for joint in tree.joints if joint.parent == chosen]
    on_it = [frame.name for frame in tree.frames if frame.body == chosen]
    used = [each.name for each in (*tree.loops, *tree.constraints) if chosen in each.frames]
    if held.motion.nv or carried or on_it or used:
        why = (f"joint {held.name!r} moves it" if held.motion.nv else
               f"it carries {', '.join(map(repr, [*carried, *on_it, *used]))}")
        raise ModelError(f"{chosen!r} of {tree.name} is no payload: {why}")
    return tree.with_parts([body for body in tree.bodies if body.name != chosen],
                           [joint for joint in tree.joints if joint.name != held.name])
