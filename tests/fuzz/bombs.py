"""Small files that stand for much: nodes that place one geometry again and again, macros that double, textures by the
hundred. Whatever their sizes, each is read or refused with an error of Cayley's, in seconds and without much memory.

`check(seed)` tries one file in a process of its own, `check_all(seeds)` several one after another.
"""

import base64
import importlib
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import traceback
import warnings
import zlib
from pathlib import Path

import numpy as np

MOST_MEMORY = 2**30
MOST_SECONDS = 5.0
XACRO = '<robot name="bomb" xmlns:xacro="http://www.ros.org/wiki/xacro">{}<link name="a"/></robot>'
SDF = '<sdf version="1.9"><model name="m"><link name="a"/>{}</model></sdf>'
LINK = '<link name="a"/>'


def count(random, least, most):
    """A number between two others, of any order of magnitude."""
    return int(np.exp(random.uniform(np.log(least), np.log(most))))


# xacro


def macros_that_double(folder, random):
    n = count(random, 3, 60)
    macro = '<xacro:macro name="m{0}" params="n"><xacro:m{1} n="${{n}}0"/><xacro:m{1} n="${{n}}1"/></xacro:macro>'
    inner = "".join(macro.format(k, k + 1) for k in range(n))
    last = str(random.choice(['<a b="1"/>', '<link name="${n}"/>', '<link name="${n}"/><joint name="${n}" type="fixed">'
                              '<parent link="a"/><child link="${n}"/></joint>']))
    return xacro(folder, f'{inner}<xacro:macro name="m{n}" params="n">{last}</xacro:macro><xacro:m0 n="b"/>')


def macros_that_call_themselves(folder, random):
    body = "<a/>" * count(random, 1, 20_000)
    return xacro(folder, f'<xacro:macro name="m"><xacro:m/>{body}</xacro:macro><xacro:m/>')


def blocks_within_themselves(folder, random):
    body = "<a/>" * count(random, 1, 20_000)
    return xacro(folder, f'<xacro:property name="x"><xacro:insert_block name="x"/>{body}</xacro:property>'
                         '<xacro:insert_block name="x"/>')


def properties_that_double(folder, random):
    n = count(random, 3, 60)
    inner = "".join(f'<xacro:property name="p{k}" value="${{p{k + 1}}}_${{p{k + 1}}}"/>' for k in range(n))
    return xacro(folder, f'{inner}<xacro:property name="p{n}" value="x"/><link name="${{p0}}"/>')


def expressions_that_grow(folder, random):
    n = count(random, 10, 10**9)
    text = str(random.choice([
        f"'a'*{n}", f"[0]*{n}", f"9**{n}", f"range({n})", f"[[0]*1000 for i in range({n})]", f"round(5, -{n})",
        f"'%{n}d' % 1", f"map(range, [{min(n, 10**5)}]*1000)", f"sum([i for i in range({n})])",
        f"'a'.join(['b'*1000]*{n})", f"[x for x in range(1000) for y in range({n})]", f"math.factorial({n})",
        f"('a'*1000).replace('a', 'b'*{n})", "+".join(["1"] * min(n, 3000)), "(" * min(n, 3000), f"'a'.zfill({n})",
        f"1 << {n}", f"10.0**{n}", "-" * min(n, 5000) + "1", f"len(str(2**{n}))",
        f"xacro.tokenize('a'*1000, 'a'*{n})"]))
    return xacro(folder, f'<link name="x${{{text}}}"/>')


def many_siblings(folder, random):
    n = count(random, 10, 60_000)
    return xacro(folder, "<xacro:macro name='m'/>" + random.choice(['<xacro:m/>', '<xacro:if value="0"/>']) * n)


def files_that_include_each_other(folder, random):
    n = count(random, 3, 40)
    for k in range(n):
        xacro(folder, f'<xacro:include filename="{k + 1}.xacro"/>' * 2, f"{k}.xacro")
    return xacro(folder, "<a/>", f"{n}.xacro").with_name("0.xacro")


def yaml_that_repeats_itself(folder, random):
    n = count(random, 3, 60)
    if random.random() < 0.5:
        text = "a0: &a0 [1, 2]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]\n" for k in range(1, n))
    else:
        text = "a0: &a0 {x: 1}\n" + "".join(f"a{k}: &a{k} {{<<: [*a{k - 1}, *a{k - 1}]}}\n" for k in range(1, n))
    (folder / "a.yaml").write_text(text)
    return xacro(folder, f"<link name=\"x${{xacro.load_yaml('a.yaml')['a{n - 1}']}}\"/>")


def pipes_instead_of_files(folder, random):
    os.mkfifo(folder / "pipe")
    return xacro(folder, str(random.choice(['<xacro:include filename="pipe"/>',
                                            "<link name=\"x${load_yaml('pipe')}\"/>"])))


def xacro(folder, inner, name="bomb.xacro"):
    (folder / name).write_text(XACRO.format(inner))
    return folder / name


# SDF, URDF, SRDF, TOML


def frames_on_frames(folder, random):
    n = count(random, 10, 60_000)
    order = range(n) if random.random() < 0.5 else random.permutation(n)
    frames = "".join(f'<frame name="f{k}" attached_to="{f"f{k - 1}" if k else "a"}"/>' for k in order)
    return written(folder / "bomb.sdf", SDF.format(frames))


def models_included_again(folder, random):
    inner = "".join(f'<frame name="f{k}"/>' for k in range(count(random, 1, 20_000)))
    written(folder / "part.sdf", SDF.format(inner))
    n = count(random, 1, 1000)
    included = "".join(f"<include><name>n{k}</name><uri>part.sdf</uri></include>" for k in range(n))
    return written(folder / "bomb.sdf", SDF.format(included))


def models_that_include_two(folder, random):
    n = count(random, 2, 30)
    for k in range(n):
        included = "".join(f"<include><name>{name}</name><uri>{k + 1}.sdf</uri></include>" for name in "bc")
        written(folder / f"{k}.sdf", SDF.format(included))
    return written(folder / f"{n}.sdf", SDF.format("")).with_name("0.sdf")


def long_names_of_files(folder, random):
    uri = str(random.choice(["", "model://", "package://", "file://"])) + "x" * count(random, 100, 100_000)
    return written(folder / "bomb.sdf", SDF.format(f"<include><uri>{uri}</uri></include>"))


def text_in_pieces(folder, random):
    return written(folder / "bomb.sdf", SDF.format(("x" * count(random, 1, 100) + "\n<b/>") * count(random, 10, 10**5)))


def shapes_of_one_mesh(folder, random):
    ball(folder / "ball.stl", count(random, 4, 400))
    visual = '<visual><geometry><mesh filename="ball.stl"/></geometry></visual>'
    return written(folder / "bomb.urdf", f'<robot name="r"><link name="a">{visual * count(random, 1, 20_000)}</link>'
                                         "</robot>")


def states_of_joints(folder, random):
    n = count(random, 1, 300)
    joints = "".join(f'<joint name="j{k}" type="revolute"><parent link="a"/><child link="l{k}"/></joint>'
                     f'<link name="l{k}"/>' for k in range(n))
    state = "".join(f'<joint name="j{k}" value="0"/>' for k in range(n))
    states = "".join(f'<group_state name="s{k}" group="g">{state}</group_state>' for k in range(count(random, 1, 300)))
    written(folder / "bomb.srdf", f'<robot name="r">{states}</robot>')
    return written(folder / "bomb.urdf", f'<robot name="r">{LINK}{joints}</robot>')


def tables_of_toml(folder, random):
    n = count(random, 10, 20_000)
    text = str(random.choice(['[[bodies]]\nname = "b{}"\n', "a{} = 1\n", "[a{0}.b.c]\n", "x{} = [{{a = 1}}]\n"]))
    return written(folder / "bomb.toml", 'name = "m"\n[[bodies]]\nname = "a"\n' + "".join(map(text.format, range(n))))


# MJCF


def assets_by_the_dozen(folder, random):
    n, size = count(random, 1, 2000), count(random, 10, 20_000)
    kind = str(random.choice(['<hfield name="{0}" nrow="{1}" ncol="{1}" size="1 1 1 1"/>',
                              '<texture name="{0}" type="2d" builtin="flat" width="{1}" height="{1}"/>',
                              '<texture name="{0}" type="cube" builtin="gradient" width="{1}"/>',
                              '<mesh name="{0}" builtin="supersphere" params="{1} 1 1"/>',
                              '<mesh name="{0}" builtin="wedge" params="{1} {1} 90 90 0"/>',
                              '<mesh name="{0}" builtin="plate" params="{1} {1}"/>',
                              '<mesh name="{0}" builtin="supertorus" params="{1} 1 1 1"/>',
                              '<mesh name="{0}" builtin="cone" params="{1} 1"/>']))
    return mjcf(folder, "", f"<asset>{''.join(kind.format(f'a{k}', size) for k in range(n))}</asset>")


def one_picture_by_many_names(folder, random):
    size = count(random, 10, 6000)
    row = zlib.compress(bytes((3 * size + 1) * size), 1)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)), (b"IDAT", row), (b"IEND", b""))
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks))
    spelt = [f"{'./' * int(random.integers(3))}a.png" for _ in range(count(random, 1, 300))]
    return mjcf(folder, "", "<asset>" + "".join(f'<texture name="t{k}" type="2d" file="{name}"/>'
                                                for k, name in enumerate(spelt)) + "</asset>")


def one_mesh_by_many_names(folder, random):
    ball(folder / "a.stl", count(random, 4, 300))
    return mjcf(folder, "", "<asset>" + "".join(f'<mesh name="m{k}" file="a.stl" scale="1 1 {k + 1}"/>'
                                                for k in range(count(random, 1, 500))) + "</asset>")


def flexible_bodies(folder, random):
    n = count(random, 2, 60)
    size = str(random.choice([f"{n} {n} {n}", f"{n * 3} {n * 3} 1", f"{n * 30} 1 1"]))
    one = f'<flexcomp name="f{{}}" type="grid" count="{size}" spacing=".1 .1 .1" dim="{3 - size.split().count("1")}"/>'
    return mjcf(folder, "".join(one.format(k) for k in range(count(random, 1, 10))))


def objects_replicated(folder, random):
    n, deep = count(random, 1, 2000), count(random, 1, 5)
    inner = str(random.choice(['<geom size="1"/>', '<body><joint/><geom size="1"/></body>', "<site/>"]))
    return mjcf(folder, f'<replicate count="{n}">' * deep + inner + "</replicate>" * deep)


def keys_of_joints(folder, random):
    return mjcf(folder, '<body><joint/><geom size="1"/></body>' * count(random, 1, 6000),
                f"<keyframe>{'<key/>' * count(random, 1, 6000)}</keyframe>")


def mjcf(folder, inner, more=""):
    return written(folder / "bomb.xml", f"<mujoco>{more}<worldbody>{inner}</worldbody></mujoco>")


# Meshes


def nodes_of_dae(folder, random):
    nodes, size = count(random, 1, 60_000), count(random, 1, 60_000)
    numbers = " ".join(["0 1 2"] * size)
    primitive = str(random.choice([
        f'<triangles count="{size}"><input semantic="VERTEX" source="#v" offset="0"/><p>{numbers}</p></triangles>',
        f'<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>{3 * size}</vcount><p>{numbers}'
        "</p></polylist>"]))
    use = '<node><instance_geometry url="#g"/></node>'
    if random.random() < 0.3:
        deep = int(np.log2(nodes)) + 1
        twice = '<node id="n{0}"><instance_node url="#n{1}"/><instance_node url="#n{1}"/></node>'
        library = "".join(twice.format(k, k + 1) for k in range(deep))
        library, use = f"{library}<node id='n{deep}'>{use}</node>", '<node><instance_node url="#n0"/></node>'
    else:
        library, use = "", use * nodes
    return written(folder / "bomb.dae", f"""
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="f" count="9">0 0 0 1 0 0 0 1 0
</float_array><technique_common><accessor source="#f" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices>{primitive}</mesh></geometry></library_geometries>
<library_nodes>{library}</library_nodes><library_visual_scenes><visual_scene id="s">{use}</visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>""")


def nodes_of_gltf(folder, random):
    n, size = count(random, 1, 60_000), count(random, 1, 100_000)
    points = np.tile(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4"), (size, 1))
    kind = random.choice(["flat", "chain", "nothing", "accessors"])
    said = gltf(points.tobytes(), 3 * size)
    if kind == "flat":
        said["nodes"] = [{"mesh": 0}] * n
        said["scenes"] = [{"nodes": list(range(n))}]
    elif kind == "chain":
        said["nodes"] = [{"mesh": 0, "translation": [0, 0, 1], "children": [k + 1]} for k in range(n)] + [{"mesh": 0}]
    elif kind == "nothing":
        said["accessors"] = [{"count": count(random, 1, 10**8), "componentType": 5126,
                              "type": str(random.choice(["VEC3", "MAT4", "SCALAR", "odd"]))}]
    else:
        said["accessors"] *= n
    return written(folder / "bomb.gltf", json.dumps(said))


def buffers_of_gltf(folder, random):
    n, size = count(random, 1, 2000), count(random, 1, 10**6)
    said = gltf(b"", 3 * size)
    (folder / "a.bin").write_bytes(bytes(36 * size))
    said["buffers"] = [{"uri": "a.bin", "byteLength": 36 * size}] * n
    said["bufferViews"] = [{"buffer": k, "byteLength": 36 * size} for k in range(n)]
    return written(folder / "bomb.gltf", json.dumps(said))


def gltf(data, points):
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [{"bufferView": 0, "count": points, "componentType": 5126, "type": "VEC3"}],
            "bufferViews": [{"buffer": 0, "byteLength": len(data)}],
            "buffers": [{"byteLength": len(data),
                         "uri": f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}"}]}


def lines_of_obj(folder, random):
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    line = str(random.choice(["usemtl m{}\nf 1 2 3\n", "g a{}\nf 1 2 3\n", "o b{}\nf 1 2 3\n", "s {}\nf 1 2 3\n",
                              "f 1 2 3\n", "f 1 2 3 1\nf 1 2 3\n", "f 1//1 2//2 3//3\n", "v 0 0\nf 1 2 3\n"]))
    if random.random() < 0.2:
        return written(folder / "bomb.obj", points + "".join(
            f"f {' '.join(['1 2 3'] * k)}\n" for k in range(1, count(random, 2, 700))))
    return written(folder / "bomb.obj", points + "".join(line.format(k) for k in range(count(random, 1, 200_000))))


def solids_of_stl(folder, random):
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    return written(folder / "bomb.stl", "".join(f"solid s{k}\n{facet}endsolid s{k}\n"
                                                for k in range(count(random, 1, 60_000))))


def heads_of_ply(folder, random):
    n, m = count(random, 1, 10**12), count(random, 1, 10**12)
    kind = random.choice(["ascii", "binary_little_endian"])
    properties = str(random.choice(["property float x\nproperty float y\nproperty float z\n", "property uchar x\n",
                                    ""]))
    return written(folder / "bomb.ply", f"ply\nformat {kind} 1.0\nelement vertex {n}\n{properties}element face {m}\n"
                                        f"property list uchar int vertex_indices\nend_header\n{'0 ' * 3000}")


def ball(place, rings):
    """A binary STL file of 2 rings^2 triangles, about."""
    u, v = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, rings + 1), indexing="ij")
    p = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1)
    corners = np.concatenate([np.stack([p[:-1, :-1], p[1:, :-1], p[1:, 1:]], axis=2).reshape(-1, 3, 3),
                              np.stack([p[:-1, :-1], p[1:, 1:], p[:-1, 1:]], axis=2).reshape(-1, 3, 3)])
    rows = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = corners
    place.write_bytes(bytes(80) + struct.pack("<I", len(corners)) + rows.tobytes())


def written(place, text):
    place.write_text(text)
    return place


BOMBS = (macros_that_double, macros_that_call_themselves, blocks_within_themselves, properties_that_double,
         expressions_that_grow, many_siblings, files_that_include_each_other, yaml_that_repeats_itself,
         pipes_instead_of_files, frames_on_frames, models_included_again, models_that_include_two, long_names_of_files,
         text_in_pieces, shapes_of_one_mesh, states_of_joints, tables_of_toml, assets_by_the_dozen,
         one_picture_by_many_names, one_mesh_by_many_names, flexible_bodies, objects_replicated, keys_of_joints,
         nodes_of_dae, nodes_of_gltf, buffers_of_gltf, lines_of_obj, solids_of_stl, heads_of_ply)


def check(seed):
    """Try one file, in a process of its own."""
    check_all([seed])


def check_all(seeds):
    """Try a file for each seed, each in a process of its own."""
    ended = subprocess.run([sys.executable, __file__, *map(str, seeds)], capture_output=True, text=True, check=False,
                           env={**os.environ, "CAYLEY_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"})
    assert ended.returncode == 0, ended.stdout + ended.stderr


def _try(seed):
    """Read one file; here and only here the limits of this process are set."""
    import cayley as cy
    from cayley.errors import CayleyError
    from cayley.shapes.mesh_files import READERS, read_mesh
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    warnings.simplefilter("ignore")
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = BOMBS[seed % len(BOMBS)](Path(folder), random)
        begun = resource.getrusage(resource.RUSAGE_SELF)
        before = begun.ru_utime + begun.ru_stime
        try:
            read_mesh(path) if path.suffix in READERS else cy.load(path).shapes.seen.surfaces(1000)
            ending = "read"
        except CayleyError as error:
            ending = str(error)
        ended = resource.getrusage(resource.RUSAGE_SELF)
    seconds, memory = ended.ru_utime + ended.ru_stime - before, 1024 * ended.ru_maxrss
    print(f"{seed} {BOMBS[seed % len(BOMBS)].__name__}: {seconds:.2f} s, {memory / 2**20:.0f} MiB, {ending[:160]}",
          flush=True)
    return seconds < MOST_SECONDS and memory < MOST_MEMORY


def main(seeds):
    for each in ("mujoco", "trimesh", "xacro", "cayley.model.formats.mjcf", "cayley.shapes.mesh_files"):
        importlib.import_module(each)  # once, for all
    with tempfile.TemporaryDirectory() as folder:
        for each in (xacro(Path(folder), ""), mjcf(Path(folder), ""), written(Path(folder) / "a.sdf", SDF.format(""))):
            importlib.import_module("cayley").load(each).shapes.seen.surfaces(1)
    failed = False
    for seed in seeds:
        child = os.fork()
        if not child:
            try:
                os._exit(0 if _try(seed) else 1)
            except BaseException:
                traceback.print_exc()
                os._exit(2)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"{seed} {BOMBS[seed % len(BOMBS)].__name__} failed: {status}", flush=True)
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main([int(each) for each in sys.argv[1:]]))
