"""Words that people search lead to what there is: in errors, in `help`, and on the pages, which are written from the
same tables."""

import importlib.util
import pydoc
import re
from operator import attrgetter
from pathlib import Path

import pytest

import cayley as cy
from cayley.mechanism.rooms import FORMER
from cayley.words import LIBRARIES, calls, what_it_is_here, words

ROOT = Path(__file__).parents[1]
LEADS_TO = {
    "forward_kinematics": "arm.pose(", "rnea": "arm.inverse_dynamics(", "aba": "arm.forward_dynamics(",
    "crba": "arm.inertia_matrix(", "mass_matrix": "arm.inertia_matrix(", "nonlinear_effects": "arm.bias_forces(",
    "nle": "arm.bias_forces(", "armature": 'arm.including("armature")', "end_effector": 'the frame `"tool"`',
    "tcp": 'the frame `"tool"`', "ccrba": "arm.centroidal.momentum_matrix(", "mimic": "arm.tree.mimic_joints",
    "centroidal_map": "arm.centroidal.momentum_matrix(", "manipulator_jacobian": "arm.jacobian(",
    "geometric_jacobian": "arm.jacobian(", "floating_base": "floating_base=True",
    "gravity_vector": "arm.gravity_forces(",
    "com_jacobian": "arm.centroidal.center_of_mass_jacobian(",
    "joint_torque_regressor": "arm.identification.linear_model()",
    "jacobian_derivative": "arm.jacobian_rate(", "computeJointTorqueRegressor": "arm.identification.linear_model()",
    "computeMinverse": "arm.inverse_inertia_matrix(", "oMf": "arm.pose(", "getFrameJacobian": "arm.jacobian(",
    "mj_fullM": "arm.inertia_matrix(", "qfrc_bias": "arm.bias_forces(", "mj_jacSite": "arm.jacobian(",
    "fkine": "arm.pose(", "jacob0": "arm.jacobian(", "jacobe": 'axes="body"', "gravload": "arm.gravity_forces(",
    "ikine_LM": "arm.inverse_kinematics(", "qlim": "arm.lower", "inertia": "arm.inertia_matrix(",
    "accel": "forward_dyn", "buildModelFromUrdf": "`cy.load(path)` here", "from_xml_path": "`cy.load(path)` here",
    "buildReducedModel": "`arm.locked(joint_name, q)` here", "SE3": "a (4, 4) array", "log6": "twist_from_pose(X)",
    "mj_forward": "arm.forward_dynamics(", "computeGeneralizedGravity": "`arm.gravity_forces(q)` here",
    "jit": "cy.kernel(", "from_urdf": "cy.load(", "MultibodyPlant": " docs/robots/loading.md", "links": "`arm.bodies`",
    "neutral_configuration": "`arm.neutral`", "zero_configuration": "`arm.neutral`", "fext": "with_inputs(wrenches="}


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


@pytest.mark.parametrize("name", LEADS_TO)
def test_a_name_of_the_field_is_answered_with_ours(arm, name):
    with pytest.raises(AttributeError, match=re.escape(LEADS_TO[name])):
        getattr(arm, name)
    with pytest.raises(AttributeError, match=re.escape(LEADS_TO[name])):
        getattr(cy, name)


def test_every_word_of_the_table_is_a_name_or_is_answered(arm):
    for row in words():
        assert row.words, row
        for word in row.words:
            name = re.sub(r"\W+", "_", word)
            if name not in dir(arm) and name not in FORMER and name.isidentifier():
                assert what_it_is_here(name).startswith(": here it is"), name


def test_what_is_named_as_ours_exists(arm):
    rows = [row.here for row in words()] + [call.here for library in LIBRARIES for call in calls(library)]
    named = {name for here in rows for name in re.findall(r"(?<!\")\barm\.(\w+(?:\.\w+)?)", here)}
    rooms = {"control", *{new.partition(".")[0] for new in FORMER.values()}}
    assert len(named) > 120
    for name in named:
        room, _, function = name.partition(".")
        assert hasattr(getattr(arm, room), function) if room in rooms and function else room in dir(arm), name


def test_no_call_is_answered_with_what_only_compares_it():
    """Rows end in `.nv` or `.shape` so that tests can run them; who asks for the call is not told to take that."""
    for library in LIBRARIES:
        for call in calls(library):
            for name in re.findall(r"\.(\w{3,})\(", call.theirs):
                assert not re.search(r"\.(nv|nq|shape)` here", what_it_is_here(name)), name


def test_misspelt_and_private_names_are_told_as_before(arm):
    with pytest.raises(AttributeError, match="did you mean 'gravity_forces'"):
        _ = arm.grvity_forces
    with pytest.raises(AttributeError, match=r"has no '_nothing'$"):
        _ = arm._nothing
    with pytest.raises(AttributeError, match=r"has no attribute 'zzz'$"):
        _ = cy.zzz


def test_help_names_the_words_of_the_field(arm):
    """Help of the mechanism has the words of its functions, help of a room those of the room's."""
    kinds = {"": cy.Mechanism} | {room: type(getattr(arm, room)) for room in ("loops", "variants", "dexterity")}
    helps = {room: pydoc.plain(pydoc.render_doc(kind)) for room, kind in kinds.items()}
    for row in words():
        room, _, name = row.name.rpartition(".")
        if name and room in kinds:
            doc = getattr(kinds[room], name).__doc__
            for word in row.words:
                assert word in doc and word in helps[room], word


def test_help_lists_the_rooms_and_at_most_eighty_names(arm):
    names = [name for name in dir(arm) if not name.startswith("_")]
    rooms = {"control", *{new.partition(".")[0] for new in FORMER.values()}}
    assert len(names) <= 80 and rooms <= set(names)
    text = pydoc.plain(pydoc.render_doc(arm))
    assert all(f"arm.{room}" in text for room in rooms)
    assert not set(FORMER) & set(names)


@pytest.mark.parametrize("name", sorted(FORMER))
def test_a_former_name_works_for_one_version_and_says_the_new_one(arm, name):
    if name == "motor_motion":
        arm = arm.with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3).including("elastic drives")
    if name == "needed_friction":
        arm = cy.load("two_wheel_robot")
    with pytest.warns(DeprecationWarning, match=rf"`Mechanism\.{name}` is now called `{re.escape(FORMER[name])}`"):
        found = getattr(arm, name)
    assert type(found) is type(attrgetter(FORMER[name])(arm))


def test_pages_are_as_their_tables_say():
    spec = importlib.util.spec_from_file_location("words_of_pages", ROOT / "tools" / "words.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for page in tool.PAGES:
        assert (ROOT / "docs" / page).read_text(encoding="utf-8") == tool.written(page), (
            f"docs/{page} is not what its table says: run `python tools/words.py`")
