"""Contacts as data: pairs that are found, what keeps them, and what is refused."""

import pickle
import re

import numpy as np
import pytest

import cayley as cy
from cayley.errors import GeometryError, ModelError, UnsupportedError
from cayley.geometry.contact_shapes import MOST_VERTICES, ConvexHull, HalfSpace
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.kinematics import contact_layout, contact_points
from cayley.model.digest import digest_of
from cayley.model.joint_kinds import Floating, Revolute
from cayley.model.parts import Body, Frame, Joint

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def chain(links=4):
    """A floating chain of links [0.2 m] in a world, with a foot."""
    bodies = [Body("world", 0.0), *[Body(f"link{k}", 1.0, (0.1, 0, 0), 0.01 * np.eye(3)) for k in range(links)]]
    there = np.eye(4)
    there[0, 3] = 0.2
    joints = [Joint("free", "world", "link0", Floating()),
              *[Joint(f"j{k}", f"link{k - 1}", f"link{k}", Revolute((0.0, 1.0, 0.0)), there) for k in range(1, links)]]
    return cy.Mechanism.of("chain", bodies, joints, frames=[Frame("foot", f"link{links - 1}", there)])


def rods(links=4):
    return {f"link{k}": Capsule(0.02, [0.03, 0, 0], [0.17, 0, 0]) for k in range(links)}


def crate(name="crate", mass=1.0):
    return Body(name, mass, (0, 0, 0), 0.01 * mass * np.eye(3))


def names(arm):
    return [pair.name for pair in arm.tree.contacts]


def test_pairs_are_found_from_the_tree():
    arm = chain()
    on_ground = [f"link{k} on ground" for k in range(4)]
    assert names(arm.with_contacts(shapes=rods())) == on_ground
    itself = ["link2 on link0", "link3 on link0", "link3 on link1"]
    assert names(arm.with_contacts(shapes=rods(), self_contact=True)) == on_ground + itself
    assert names(arm.with_contacts(None, shapes=rods(), self_contact=True)) == itself
    post = {"post": Sphere(0.1, [1, 0, 0])}
    assert names(arm.with_contacts(None, points={"foot": 0.02}, obstacles=post)) == ["foot on post"]
    assert names(arm.with_contacts(shapes={"foot": [Sphere(0.1), Sphere(0.2)]})) == ["foot 1 on ground",
                                                                                   "foot 2 on ground"]
    left = arm.with_contacts(shapes=rods(), self_contact=True, exclude=[("link0", "link3"), ("ground", "link1")])
    assert names(left) == ["link0 on ground", "link2 on ground", "link3 on ground", "link2 on link0", "link3 on link1"]


def test_free_bodies_and_other_robots_touch_without_self_contact():
    arm = chain(2).attached(crate(), at="world", motion=Floating()).attached(
        chain(2), at="world", prefix="second ")
    shapes = {**rods(2), "crate": Box([0.1, 0.1, 0.1]), **{f"second {k}": v for k, v in rods(2).items()}}
    assert set(names(arm.with_contacts(None, shapes=shapes))) == {
        "crate on link0", "crate on link1", "second link0 on link0", "second link1 on link0", "second link0 on link1",
        "second link1 on link1", "second link0 on crate", "second link1 on crate"}


def test_numbers_of_pairs():
    arm = chain().with_contacts(points={"foot": 0.02, "link1": 0.02}, friction={("foot", "ground"): 0.3},
                                restitution=0.5, compliance={("ground", "link1"): 1e-5})
    assert [(p.friction, p.restitution, p.compliance) for p in arm.tree.contacts] == [(0.7, 0.5, 1e-5), (0.3, 0.5, 0.0)]


def test_contacts_stay_through_changes_and_go_with_their_bodies():
    arm = chain().with_contacts(shapes=rods(), points={"foot": 0.03}, self_contact=True)
    tree = arm.tree
    count = len(tree.contacts)
    for same in (arm.with_gravity([0, 0, -1.0]), arm.with_payload("foot", 1.0), arm.with_frame("eye", "link1"),
                 arm.locked("j1"), arm.locked("j1").variants.freed("j1"), arm.with_friction("j1", viscous=0.1),
                 pickle.loads(pickle.dumps(arm)), arm.attached(crate(), at="foot")):
        assert len(same.tree.contacts) == count
    assert digest_of(tree) != digest_of(chain().tree)
    assert digest_of(tree) == digest_of(pickle.loads(pickle.dumps(tree)))
    assert digest_of(tree) != digest_of(arm.with_contacts(shapes=rods(), points={"foot": 0.03}, self_contact=True,
                                                         friction=0.6).tree)
    left = {spot.name for spot in contact_layout(tree)} - {spot.name for spot in contact_layout(
        arm.locked(["j1", "j2"]).tree)}
    assert left == {"link2 on link0 1", "link2 on link0 2"}  # which no longer move against each other
    part = arm.variants.subtree("link1").tree
    assert {side.body for pair in part.contacts for side in (pair.first, pair.second)} <= {"link1", "link2", "link3"}


def test_reduced_attached_and_renamed_mechanisms_touch_where_they_did():
    arm = chain().with_contacts(shapes=rods(), points={"foot": 0.03}, self_contact=True)
    q = arm.random_configuration(seed=0)
    held = arm.locked({"j2": float(q[8])})
    other = held.variants.reduced()
    short = np.delete(q, 8)
    gaps = {spot.name: gap for spot, gap in zip(contact_layout(held.tree), contact_points(held.tree, short).gap,
                                                strict=True)}
    again = {spot.name: gap for spot, gap in zip(contact_layout(other.tree), contact_points(other.tree, short).gap,
                                                 strict=True)}
    assert set(again) == set(gaps)
    for name, gap in gaps.items():
        assert again[name] == pytest.approx(gap, abs=1e-13)
    raised = np.eye(4)
    raised[2, 3] = 0.5
    both = chain(2).attached(arm, at="world", pose=raised, prefix="b ")
    ground = [pair.first for pair in both.tree.contacts if pair.first.name == "b ground"]
    assert ground and ground[0].body == "world" and ground[0].shape.pose[2, 3] == 0.5


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_files_hold_no_contacts_and_saving_says_so(tmp_path, ending):
    arm = chain().with_contacts(points={"foot": 0.02})
    with pytest.raises(UnsupportedError, match="files hold no contacts, and chain has 1: leave them out"):
        arm.save(tmp_path / f"arm.{ending}")
    arm.save(tmp_path / f"arm.{ending}", leave_out=True)
    assert cy.load(tmp_path / f"arm.{ending}").nq == arm.nq


@pytest.mark.parametrize(("change", "words"), [
    ({}, "has no shapes that could touch: give spheres at frames"),
    ({"points": {"fot": 0.1}}, "has no frame or body 'fot': did you mean 'foot'?"),
    ({"points": {"foot": 0.1}, "friction": -0.1}, "the friction of the contact foot on ground is -0.1: it must be"),
    ({"points": {"foot": 0.1}, "restitution": 1.5},
     "of the contact foot on ground is 1.5: it must be a number between 0"),
    ({"points": {"foot": 0.1}, "compliance": np.nan}, "the compliance of the contact foot on ground is nan"),
    ({"points": {"foot": 0.1}, "exclude": [("foot", "grund")]},
     "exclude names 'grund', which may touch nothing: did you mean 'ground'?"),
    ({"points": {"foot": 0.1}, "exclude": ["foot"]}, "exclude names pairs, [(one, other), ...], not 'foot'"),
    ({"points": {"foot": 0.1}, "friction": {("foot", "wall"): 0.1}}, "friction names 'wall', which may touch nothing"),
    ({"points": {"foot": 0.1}, "ground": "floor"}, "the ground of chain is 'floor': it is \"plane\", a pose (4, 4)"),
    ({"points": {"foot": 0.1}, "shapes": {"foot": Sphere(0.2)}}, "that may touch in chain are both named 'foot'"),
    ({"shapes": {"foot": 3.0}}, "'foot' of body 'link3' is 3.0: it must be one of Sphere, Capsule, Box"),
    ({"shapes": {"crate": Box([1, 1, 1])}}, "body 'crate' of chain may touch others and has no mass, nor has"),
])
def test_what_is_wrong_is_named(change, words):
    arm = chain().attached(crate(mass=0.0), at="world", motion=Floating())
    with pytest.raises(ModelError, match=re.escape(words)):
        arm.with_contacts(**change)


def test_hulls_keep_few_vertices_and_say_how_much_they_lose():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points)
    assert len(hull.points) == MOST_VERTICES and {tuple(p) for p in hull.points} <= {tuple(p) for p in points}
    from scipy.spatial import ConvexHull as Hull
    outside = (points @ Hull(hull.points).equations[:, :3].T + Hull(hull.points).equations[:, 3]).max()
    assert outside <= hull.error + 1e-9 <= 1.05 * outside + 0.01 and hull.error < 0.25
    with pytest.raises(GeometryError, match="not all of them in one plane"):
        ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    with pytest.raises(GeometryError, match=re.escape("below z = 0 of a pose (4, 4)")):
        HalfSpace(2 * np.eye(4))


URDF = """<robot name="two">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="1 1 0.1"/></geometry></collision></link>
  {links}
  {joints}
</robot>"""


def urdf(folder):
    """A robot of four links: a box, a cylinder, a sphere, a mesh that is not there; with an SRDF file beside it."""
    kinds = ['<cylinder radius="0.1" length="0.4"/>', '<sphere radius="0.1"/>', '<box size="0.1 0.2 0.3"/>',
             '<mesh filename="none.stl"/>']
    links = "".join(f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
                    f'iyz="0"/></inertial><collision><origin xyz="0 0 0.1"/><geometry>{kind}</geometry></collision>'
                    '</link>'
                    for k, kind in enumerate(kinds))
    joints = "".join(f'<joint name="j{k}" type="continuous"><parent link="{"base" if k == 0 else f"l{k - 1}"}"/>'
                     f'<child link="l{k}"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint>' for k in range(4))
    (folder / "two.urdf").write_text(URDF.format(links=links, joints=joints))
    (folder / "two.srdf").write_text('<robot name="two"><disable_collisions link1="l0" link2="l2" reason="Never"/>'
                                     '<disable_collisions link1="base" link2="l1"/></robot>')
    return folder / "two.urdf"


def test_collision_geometry_of_a_urdf_file_and_exclusions_of_its_srdf_file(tmp_path):
    arm = cy.load(urdf(tmp_path))
    touching = arm.with_contacts(self_contact=True)
    assert names(touching) == ["l0 on ground", "l1 on ground", "l2 on ground", "l2 on base"]
    shapes = {pair.second.name: pair.second.shape for pair in touching.tree.contacts}
    assert [type(shape).__name__ for shape in shapes.values()] == ["Cylinder", "Sphere", "Box"]
    np.testing.assert_allclose(shapes["l0"].end, [0, 0, 0.3], atol=1e-15)
    assert any("a shape that does not touch: " in str(note) and "none.stl" in str(note) for note in touching.tree.notes)
    assert touching.tree.notes == touching.with_contacts(self_contact=True).tree.notes  # once
    assert names(arm.with_contacts(bodies=["l1"], points={"l2": 0.1})) == ["l1 on ground", "l2 on ground"]
    free_base = cy.load(urdf(tmp_path), floating_base=True).with_contacts(self_contact=True)
    assert names(free_base)[:4] == ["base on ground", "l0 on ground", "l1 on ground", "l2 on ground"]
    assert names(free_base)[4:] == ["l2 on base"]
    with pytest.raises(ModelError, match="'l3' of two have no collision geometry in the file"):
        arm.with_contacts(bodies=["l3"])
    both = arm.attached(free_base, at="base", prefix="b ").with_contacts(None)
    assert "b l0 on l1" in names(both)  # with the shapes that it brought along


def test_exclusions_and_bits_of_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    bodies = "".join(f'<body name="b{k}" pos="{k} 0 0"><freejoint/><geom type="sphere" size="0.1" {bits}/></body>'
                     for k, bits in enumerate(["", "", 'contype="2" conaffinity="2"', 'contype="0" conaffinity="1"']))
    (tmp_path / "four.xml").write_text(f'<mujoco><worldbody>{bodies}</worldbody><contact>'
                                       '<exclude body1="b0" body2="b1"/></contact></mujoco>')
    arm = cy.load(tmp_path / "four.xml").with_contacts(None)
    assert names(arm) == ["b3 on b0", "b3 on b1"]


def test_meshes_touch_as_their_hulls_with_a_note():
    dog = cy.load("go2", floating_base=True)
    touching = dog.with_contacts(bodies=["FL_foot", "FR_foot"])
    assert names(touching) == ["FL_foot on ground", "FR_foot on ground"]
    assert isinstance(touching.tree.contacts[0].second.shape, ConvexHull)
    assert any("touch as their convex hulls, of at most 32 vertices" in str(note) for note in touching.tree.notes)
