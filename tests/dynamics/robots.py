"""The robots of example-robot-data, here and in Pinocchio, with the same states in both."""

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin

from cayley.model.formats.urdf import load_urdf
from cayley.model.joint_kinds import JointKind
from model.random_trees import random_configuration
from model.test_urdf import ACCEPTED, ROBOTS, pinocchio_coordinates

__all__ = ["ACCEPTED", "forces_there", "pinocchio_model", "places", "robot", "state_here", "state_there"]


@cache
def robot(name, floating=False):
    """The mechanism of a file; a mass that the file leaves out is none and mimic joints are free, as Pinocchio takes
    them.
    """
    tree = load_urdf(ROBOTS[name], floating_base=floating).spanning_tree()
    return replace(tree, bodies=tuple(replace(body, mass=body.mass or 0.0) for body in tree.bodies))


@cache
def pinocchio_model(name, floating=False):
    return pin.buildModelFromUrdf(ROBOTS[name], pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(
        ROBOTS[name])


def state_here(tree, seed, states=1):
    rng = np.random.default_rng(seed)
    q = np.stack([random_configuration(rng, tree) for _ in range(states)])
    return q, rng.normal(size=(states, tree.nv)), rng.normal(size=(states, tree.nv))


def state_there(tree, model, q, *vectors):
    """The configuration, and vectors of the size of the velocity, as Pinocchio orders them."""
    own, ordered = places(tree, model), []
    for vector in vectors:
        theirs = np.zeros(model.nv)
        theirs[own] = vector
        ordered.append(theirs)
    return pinocchio_coordinates(tree, model, q), *ordered


def forces_there(tree, model, q, v, a):
    return pin.rnea(model, model.createData(), *state_there(tree, model, q, v, a))[places(tree, model)]


def places(tree, model):
    """For each velocity here its place there."""
    found = np.zeros(tree.nv, dtype=int)
    for joint, own in zip(tree.joints, tree.v_slices, strict=True):
        if type(joint.motion) is not JointKind:
            name = joint.name if model.existJointName(joint.name) else "root_joint"
            found[own] = model.joints[model.getJointId(name)].idx_v + np.arange(joint.motion.nv)
    return found
