"""What is made once for a mechanism: the same for all who ask, gone with the mechanism, never pickled."""

import copy
import gc
import inspect
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from threading import Barrier

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel_family import family
from cayley.compiler.made_once import kept, kept_with_owner, made_once
from cayley.drawing import stick_figure, workspace
from cayley.dynamics.equations import equations_of_motion
from cayley.dynamics.identification import linear_model
from cayley.kinematics.inverse import inverse_kinematics
from cayley.kinematics.inverse.analytic import all_solutions
from cayley.kinematics.singular.singularities import singularity_at
from cayley.model.changed_parts import with_friction
from cayley.model.configurations import check_configuration, random_configuration
from cayley.model.denavit_hartenberg.conversion import tree_from_dh
from cayley.model.tree import Tree
from cayley.simulation import rollout, simulate


class Slow:
    """Counts how often each thing is made, and makes it slowly enough for threads to meet."""

    def __init__(self):
        self.count = 0

    def make(self):
        before = self.count
        for _ in range(20_000):
            pass
        self.count = before + 1
        return object()

    @made_once
    def thing(self):
        return self.make()

    @made_once
    def needs_another(self):
        return [self.thing]

    @family("q")
    def chosen(self, frame):
        self.make()
        return cy.kernel("(n)->(n)")(lambda q: q)


@kept_with_owner
def of_owner(owner, choice):
    return owner.make()


@pytest.mark.parametrize("ask", [lambda slow: slow.thing, lambda slow: kept(slow, "key", slow.make),
                                 lambda slow: of_owner(slow, "choice"), lambda slow: slow.chosen.of("tool")])
def test_threads_that_ask_at_once_get_one_thing(ask):
    for _ in range(10):
        slow, together = Slow(), Barrier(8)

        def asked(_, slow=slow, together=together):
            together.wait()
            return ask(slow)

        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(asked, range(8)))
        assert slow.count == 1 and all(one is found[0] for one in found)


def test_making_one_thing_may_make_another():
    slow = Slow()
    assert slow.needs_another[0] is slow.thing and slow.count == 1


def test_what_fails_is_tried_again_and_nothing_half_made_is_kept():
    slow = Slow()
    with pytest.raises(ZeroDivisionError):
        kept(slow, "key", lambda: 1 / 0)
    assert kept(slow, "key", lambda: 7) == 7


def test_nothing_outlives_the_mechanism():
    """Poses, dynamics, simulations and solvers of an arm that nobody has any more are gone with it."""
    gc.freeze()  # what other tests left behind is not looked at: it may be millions of objects
    arm = cy.load("planar2r").including("friction")
    arm.pose([0.1, 0.2], "tool")
    arm.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    assert arm.formulations.inertia_regularity([0.1, 0.2]).regular
    arm.inverse_kinematics(arm.pose([0.1, 0.2], "tool"), "tool")
    assert arm.simulate([0.0, 0.0], [0.0, 0.0], until=0.01, progress=False).energy_drift.max() < 1e-6
    assert arm.rollout() is arm.rollout() and arm.rollout() is not arm.rollout(wrenches=["tool"])
    gone = [weakref.ref(arm), weakref.ref(arm.tree)]
    del arm
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_what_is_pickled_or_copied_is_the_data():
    arm = cy.load("planar2r")
    before = len(pickle.dumps(arm)), len(pickle.dumps(arm.tree))
    arm.pose([0.1, 0.2], "tool")
    arm.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    arm.inverse_kinematics(arm.pose([0.1, 0.2], "tool"), "tool")
    assert (len(pickle.dumps(arm)), len(pickle.dumps(arm.tree))) == before
    for same in (pickle.loads(pickle.dumps(arm)), copy.copy(arm), copy.deepcopy(arm)):
        assert isinstance(same.tree, Tree) and same.nq == 2 and not same.gravity.flags.writeable
        assert same.forward_dynamics is not arm.forward_dynamics
        np.testing.assert_array_equal(same.pose([0.1, 0.2], "tool"), arm.pose([0.1, 0.2], "tool"))


# Signatures

FORWARDED = {
    "simulate": simulate, "rollout": rollout, "inverse_kinematics": inverse_kinematics, "dexterity.singularity":
    singularity_at, "draw": stick_figure, "pictures.workspace": workspace, "equations": equations_of_motion,
    "identification.linear_model": linear_model, "all_inverse_kinematics": all_solutions, "random_configuration":
    random_configuration, "from_dh": tree_from_dh, "of": Tree.of, "with_payload": Tree.with_payload,
    "with_friction": with_friction, "with_frame": Tree.with_frame}


def parameters_of(function):
    """Names, kinds and defaults, without the mechanism or tree that comes first."""
    own = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "tree")]
    return [(p.name, p.kind, p.default) for p in own]


@pytest.mark.parametrize("name", FORWARDED)
def test_a_method_shows_the_keywords_and_defaults_of_the_function_behind_it(name):
    assert parameters_of(attrgetter(name)(cy.load("planar2r"))) == parameters_of(FORWARDED[name])


def test_check_configuration_leaves_only_the_tolerance_out():
    found = parameters_of(check_configuration)
    assert [each for each in found if each[0] != "tolerance"] == parameters_of(cy.load("planar2r").configurations.check)


def test_no_public_method_hides_its_keywords():
    public = [name for name in dir(cy.Mechanism) if not name.startswith("_")]
    for name in public:
        member = inspect.getattr_static(cy.Mechanism, name)
        if not callable(getattr(cy.Mechanism, name)) and not isinstance(member, family):
            continue
        kinds = {p.kind for p in inspect.signature(getattr(cy.Mechanism, name)).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name


def test_a_family_of_kernels_shows_its_arrays_choices_and_types():
    arm = cy.load("planar2r")
    shown = inspect.signature(arm.jacobian)
    assert list(shown.parameters) == ["q", "frame", "axes", "at", "relative_to"]
    assert shown.parameters["relative_to"].default == "world" and "ndarray" in str(shown.return_annotation)
    assert "str" in str(shown.parameters["frame"].annotation) and "ArrayLike" in str(shown.parameters["q"].annotation)
