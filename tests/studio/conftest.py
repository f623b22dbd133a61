"""Pages that several tests look at, each made once."""

import fcntl
from importlib.metadata import files

import numpy as np
import pytest

import cayley as cy
from cayley.model.joint_kinds import Curvilinear, Cylindrical, Revolute
from cayley.model.parts import Body, Frame, Joint, Limits
from cayley.studio import write_report
from model.random_trees import KINDS, random_parts

ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"
NAMES = ("planar2r", "scara", "anymal", "odd"
         )  # small; without masses; a tree; every kind of joint, and names that HTML must not see


TOO_FAR = (np.linspace(0.0, 1.5, 16), 1.1 - 1.2 * np.cos(2.0 * np.linspace(0.0, 1.5, 16))[:, None])


def pendulum(mass=2.0):
    """A rod with a name that HTML must not see, and limits of every kind."""
    tip = np.eye(4)
    tip[0, 3] = 0.6
    return cy.Mechanism.of("<b>bob", [Body("base"), Body("rod", mass, (0.3, 0.0, 0.0), 0.02 * np.eye(3))],
                           [Joint("pivot", "base", "rod", Revolute((0.0, 1.0, 0.0)),
                                  limits=Limits((-1.0,), (2.0,), (1.5,), (25.0,)))], frames=[Frame("tip", "rod", tip)])


def asked():
    """A page of a motion that is too far and too fast, with a load, weaker drives and a law."""
    arm = pendulum()
    return arm.report(motion=TOO_FAR, payload=1.0, frame="tip", effort=18.0,
                      law=arm.control.computed_torque(400.0, 40.0))


@pytest.fixture(scope="session")
def robots():
    urdf = next(str(file.locate()) for file in files("example-robot-data") if "/".join(file.parts).endswith(ANYMAL))
    bodies, joints, frames = random_parts(np.random.default_rng(3), [kind for kind in KINDS if kind != "floating"])
    bent = Curvilinear((0.0, 0.9), (), (0.0, 0.0, 0.4))
    bodies += [
        Body("cart", 1.0, [0.1, 0.0, 0.0], 0.1 * np.eye(3)),
        Body("sleeve", 1.0, [0.0, 0.1, 0.0], 0.1 * np.eye(3))]
    joints += [
        Joint("rail", bodies[0].name, "cart", bent),
        Joint("bore", "cart", "sleeve", Cylindrical((0.6, 0.0, 0.8)))]
    odd = cy.Mechanism.of("</script><b>odd & 'name'", bodies, joints, frames=frames)
    return {"planar2r": cy.load("planar2r"), "scara": cy.load("scara"), "anymal": cy.load(urdf), "odd": odd}


@pytest.fixture(scope="session")
def pages(robots, tmp_path_factory, worker_id):
    """A function from a name to the file of its page; workers of one run share the files."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "reports"
    folder.mkdir(exist_ok=True)

    def page(name):
        place = folder / f"{name}.html"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if name == "asked" and not place.exists():
                return asked().save(place)
            return place if place.exists() else write_report(robots[name], place)

    return page
