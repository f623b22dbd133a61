"""A small machine on a floating base, with branches whose names Pinocchio sorts in another order than the file's, a
prismatic joint and bodies that are fixed to others."""

import pytest

CRAWLER = """<robot name="crawler">
  <link name="trunk"><inertial><origin xyz="0.02 0 0.05"/><mass value="4"/>
    <inertia ixx="0.05" ixy="0.002" ixz="0" iyy="0.07" iyz="0" izz="0.06"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="trunk"/><child link="upper"/>
    <origin xyz="0.3 0.1 0.1" rpy="0.2 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="50"/></joint>
  <link name="upper"><inertial><origin xyz="0.1 0 0.02"/><mass value="1.2"/>
    <inertia ixx="0.01" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="extension" type="prismatic"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.2 0 0" rpy="0 0.3 0"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.4" velocity="1" effort="80"/></joint>
  <link name="lower"><inertial><origin xyz="0.1 0.02 0"/><mass value="0.8"/>
    <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.01" iyz="0.001" izz="0.01"/></inertial></link>
  <joint name="mounting" type="fixed"><parent link="lower"/><child link="tool"/>
    <origin xyz="0.25 0 0.03" rpy="0.1 0.2 0.3"/></joint>
  <link name="tool"><inertial><mass value="0.1"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="antenna" type="revolute"><parent link="trunk"/><child link="mast"/>
    <origin xyz="-0.2 0 0.2"/><axis xyz="0.6 0 0.8"/>
    <limit lower="-1" upper="1" velocity="3" effort="5"/></joint>
  <link name="mast"><inertial><origin xyz="0 0 0.2"/><mass value="0.3"/>
    <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.001"/></inertial></link>
</robot>
"""


@pytest.fixture(scope="module")
def crawler(tmp_path_factory):
    path = tmp_path_factory.mktemp("crawler") / "crawler.urdf"
    path.write_text(CRAWLER)
    return str(path)
