"use strict";
// The robot in 3-D on a 2-D canvas: poses by forward kinematics, small polygons sorted by depth. A pose is 12 numbers, three rows (R | p).
const Robot = (() => {
  const HERE = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const unit = a => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
  const column = (T, k) => [T[k], T[4 + k], T[8 + k]];
  const directed = (T, d) => [0, 4, 8].map(r => T[r] * d[0] + T[r + 1] * d[1] + T[r + 2] * d[2]);
  const placed = (T, p) => plus(directed(T, p), column(T, 3));
  const pose = (x, y, z, p) => [x[0], y[0], z[0], p[0], x[1], y[1], z[1], p[1], x[2], y[2], z[2], p[2]];
  const times = (A, B) => pose(directed(A, column(B, 0)), directed(A, column(B, 1)), directed(A, column(B, 2)), placed(A, column(B, 3)));

  function turn([x, y, z], angle, p = [0, 0, 0]) { // Rodrigues
    const c = Math.cos(angle), s = Math.sin(angle), k = 1 - c;
    return [c + k * x * x, k * x * y - s * z, k * x * z + s * y, p[0], k * x * y + s * z, c + k * y * y, k * y * z - s * x, p[1],
            k * x * z - s * y, k * y * z + s * x, c + k * z * z, p[2]];
  }

  function attitude([w, x, y, z], p = [0, 0, 0]) { // of a quaternion of any length but zero
    const s = 2 / (w * w + x * x + y * y + z * z);
    return [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y), p[0], s * (x * y + w * z), 1 - s * (x * x + z * z),
            s * (y * z - w * x), p[1], s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y), p[2]];
  }

  const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
  const OPERATIONS = {
    add: (a, b) => a + b, subtract: (a, b) => a - b, multiply: (a, b) => a * b, divide: (a, b) => a / b, negative: a => -a,
    independent: a => a, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tan: Math.tan, arcsin: Math.asin, arccos: Math.acos,
    arctan: Math.atan, arctan2: Math.atan2, hypot: Math.hypot, exp: Math.exp, log: Math.log, floor: Math.floor, sign: Math.sign,
    absolute: Math.abs, minimum: Math.min, maximum: Math.max, where: (c, a, b) => c ? a : b, less: (a, b) => a < b,
    less_equal: (a, b) => a <= b, equal: (a, b) => a === b, and: (a, b) => a && b, not: a => !a,
    remainder: (a, b) => a - b * Math.floor(a / b), floor_divide: (a, b) => Math.floor(a / b),
  };

  function program(steps, results, q) { // steps: null for the next coordinate, a number, or an operation on the values of steps before
    const values = [];
    let next = 0;
    for (const s of steps) {
      values.push(s === null ? q[next++] : typeof s === "number" ? s : OPERATIONS[s[0]](...s.slice(1).map(k => values[k])));
    }
    return results.map(k => values[k]);
  }

  const MOTIONS = {
    screw: (m, q) => turn(m.axis, m.turn * q[0], scaled(m.axis, m.slide * q[0])),
    attitude: (m, q) => attitude(q.slice(m.turn, m.turn + 4), m.position === null ? [0, 0, 0] : q.slice(m.position, m.position + 3)),
    program: (m, q) => program(m.steps, m.results, q),
  };

  function moved(j, q) { // the pose of the child in the frame of a joint
    let found = HERE, start = j.start;
    for (const m of j.motions) { found = times(found, MOTIONS[m.form](m, q.slice(start, start + m.nq))); start += m.nq; }
    return found;
  }

  function poses(scene, q) { // of all bodies, the root first
    const found = [HERE];
    for (const j of scene.joints) found.push(times(found[j.parent], times(j.placement, moved(j, q))));
    return found;
  }

  // Solids as faces: corners counter-clockwise from outside, in the frame of a body

  function across(axis) {
    const x = unit(cross(Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], axis));
    return [x, cross(axis, x)];
  }

  function ring(center, axis, radius, sides) {
    const [x, y] = across(axis), phase = sides === 4 ? Math.PI / 4 : 0;
    return Array.from({ length: sides }, (_, k) => {
      const a = phase + 2 * Math.PI * k / sides;
      return plus(plus(center, x, radius * Math.cos(a)), y, radius * Math.sin(a));
    });
  }

  const wall = (low, high) => low.map((p, k) => [p, low[(k + 1) % low.length], high[(k + 1) % low.length], high[k]]);

  function prism(center, axis, radius, half, sides) {
    const low = ring(plus(center, axis, -half), axis, radius, sides), high = ring(plus(center, axis, half), axis, radius, sides);
    return [...wall(low, high), low.slice().reverse(), high];
  }

  function ball(center, radius, sides = 10) {
    const rings = [], faces = [], rows = sides / 2;
    for (let i = 0; i <= rows; i++) {
      const a = Math.PI * i / rows;
      rings.push(ring(plus(center, [0, 0, 1], -radius * Math.cos(a)), [0, 0, 1], Math.max(radius * Math.sin(a), 1e-9), sides));
      if (i) faces.push(...wall(rings[i - 1], rings[i]));
    }
    return faces;
  }

  function rod(start, end, radius, piece, sides = 9) { // in pieces, so that sorting by depth works
    const way = plus(end, start, -1), length = Math.hypot(...way), axis = unit(way), count = Math.max(1, Math.ceil(length / piece));
    const rings = Array.from({ length: count + 1 }, (_, k) => ring(plus(start, way, k / count), axis, radius, sides));
    return length < 1e-9 ? [] : rings.slice(1).flatMap((r, k) => wall(rings[k], r));
  }

  function joint(mark) {
    const s = mark.size;
    if (mark.shape === "base") return prism(mark.center, mark.axis, 2.4 * s, 0.3 * s, 24);
    if (mark.shape === "ball") return ball(mark.center, 1.2 * s);
    if (mark.shape === "sleeve") return prism(mark.center, mark.axis, 1.2 * s, 1.7 * s, 4);
    if (mark.shape === "plate") return prism(mark.center, mark.axis, 3 * s, 0.3 * s, 4);
    return prism(mark.center, mark.axis, 0.85 * s, 1.4 * s, 16);
  }

  const COLORS = { base: "aside", sleeve: "slide", plate: "slide" };

  function solids(scene) {
    const faces = [];
    const add = (body, color, list) => list.forEach(corners => faces.push({ body, color, corners }));
    for (const plate of scene.plates) add(plate.body, "aside", [...plate.faces, ...plate.faces.map(c => c.slice().reverse())]);
    for (const mark of scene.marks) add(mark.body, COLORS[mark.shape] || "joint", joint(mark));
    for (const link of scene.links) {
      const radius = link.carries ? scene.rod : 0.55 * scene.rod, color = link.carries ? "link" : "aside";
      for (let k = 1; k < link.points.length; k++) {
        add(link.body, color, rod(link.points[k - 1], link.points[k], radius, 5 * scene.rod, link.carries ? 9 : 6));
        add(link.body, color, ball(link.points[k], radius, link.carries ? 8 : 6));
      }
    }
    return faces;
  }

  function surfaces(scene) { // their points one after another, and the normals of their triangles
    return scene.shapes.map(s => ({ ...s, flat: Float64Array.from(s.points.flat()), normals: Float64Array.from(s.triangles.flatMap(([i, j, k]) =>
      unit(cross(plus(s.points[j], s.points[i], -1), plus(s.points[k], s.points[i], -1))))) }));
  }

  // The view

  function Viewer(canvas, scene) {
    const faces = solids(scene), shapes = surfaces(scene), view = { q: scene.q.slice(), show: { frames: false, reach: false, shapes: scene.shapes.length > 0 }, trail: [], trailEnd: 0 };
    let camera, palette, wanted = false;
    view.home = () => { camera = { ...scene.camera, center: scene.center.slice(), size: scene.size, zoom: 1 }; view.redraw(); };
    view.look = (center, size) => { camera.center = center.slice(); camera.size = size; view.redraw(); };
    view.camera = () => ({ ...camera });
    view.poses = q => poses(scene, q);
    view.set = q => { view.q = q; view.redraw(); };
    view.redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(() => { wanted = false; draw(); }); } };
    view.turn = (dx, dy) => { camera.azimuth -= dx; camera.elevation = Math.max(-1.5, Math.min(1.57, camera.elevation + dy)); view.redraw(); };
    view.zoom = factor => { camera.zoom = Math.max(0.2, Math.min(12, camera.zoom * factor)); view.redraw(); };
    view.pan = (dx, dy) => { // by pixels
      const { right, up, scale } = frame();
      camera.center = plus(plus(camera.center, right, -dx / scale), up, dy / scale);
      view.redraw();
    };
    view.repaint = () => {
      const style = getComputedStyle(document.documentElement), get = n => style.getPropertyValue("--" + n).trim();
      palette = { ink: get("ink"), grid: get("grid"), trail: get("accent"), shadow: get("shadow"), x: "#d62f3f", y: "#2f9e44", z: "#3b74d8" };
      for (const n of ["link", "aside", "joint", "slide"]) palette[n] = [1, 3, 5].map(k => parseInt(get(n).slice(k, k + 2), 16));
      view.redraw();
    };

    function frame() { // directions of the picture, and pixels for a metre in its middle
      const { azimuth: a, elevation: e } = camera, eye = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
      const right = [-Math.sin(a), Math.cos(a), 0], up = cross(eye, right), box = canvas.getBoundingClientRect();
      const ratio = window.devicePixelRatio || 1;
      return { eye, right, up, width: box.width, height: box.height, ratio, scale: camera.zoom * Math.min(box.width, box.height) / camera.size };
    }

    function draw() {
      const f = frame(), g = canvas.getContext("2d"), w = Math.round(f.width * f.ratio), h = Math.round(f.height * f.ratio);
      if (!w || !h) return;
      if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
      g.setTransform(f.ratio, 0, 0, f.ratio, 0, 0);
      g.clearRect(0, 0, f.width, f.height);
      g.lineJoin = g.lineCap = "round";
      const far = 2.6 * camera.size;
      const seen = p => {
        const r = plus(p, camera.center, -1), depth = dot(r, f.eye), s = f.scale * far / Math.max(far - depth, 0.05 * far);
        return [f.width / 2 + s * dot(r, f.right), f.height / 2 - s * dot(r, f.up), depth, s];
      };
      const line = (points, color, width, alpha = 1) => {
        if (points.length < 2) return;
        g.globalAlpha = alpha; g.strokeStyle = color; g.lineWidth = width; g.beginPath();
        points.forEach((p, k) => { const [x, y] = seen(p); k ? g.lineTo(x, y) : g.moveTo(x, y); });
        g.stroke(); g.globalAlpha = 1;
      };
      const at = poses(scene, view.q), things = [];
      for (const segment of scene.floor.lines) line(segment, palette.grid, 1);
      const world = [...scene.links.map(l => l.points.map(p => placed(at[l.body], p))),
                     ...scene.slides.map(s => [placed(at[s.body], s.point), placed(at[s.child], s.end)])];
      const shadow = Math.max(1.5, f.scale * scene.rod * 1.6);
      if (f.eye[2] > 0.02) world.forEach(path => line(path.map(p => [p[0], p[1], scene.floor.height]), palette.shadow, shadow));
      if (view.show.reach) for (const p of scene.reach) { const [x, y, z] = seen(p); things.push({ depth: z, dot: [x, y] }); }
      const light = unit(plus(plus(f.eye, f.up, 0.8), f.right, -0.5));
      const face = (corners, color) => {
        const normal = unit(cross(plus(corners[2], corners[0], -1), plus(corners[corners.length - 1], corners[1], -1)));
        const points = corners.map(seen);
        let area = 0;
        points.forEach((p, k) => { const n = points[(k + 1) % points.length]; area += p[0] * n[1] - n[0] * p[1]; });
        if (area >= 0) return; // its back
        const bright = 0.5 + 0.55 * Math.max(0, dot(normal, light));
        things.push({ depth: points.reduce((s, p) => s + p[2], 0) / points.length, points,
                      fill: `rgb(${palette[color].map(c => Math.min(255, Math.round(c * bright))).join()})` });
      };
      const surface = ({ body, flat, triangles, normals, closed, color }) => {
        const T = at[body], [lx, ly, lz] = [0, 1, 2].map(k => T[k] * light[0] + T[4 + k] * light[1] + T[8 + k] * light[2]);
        const on = new Array(flat.length / 3), [r, g, b] = color || palette.link;
        for (let k = 0; k < on.length; k++) {
          const x = flat[3 * k], y = flat[3 * k + 1], z = flat[3 * k + 2];
          on[k] = seen([T[0] * x + T[1] * y + T[2] * z + T[3], T[4] * x + T[5] * y + T[6] * z + T[7], T[8] * x + T[9] * y + T[10] * z + T[11]]);
        }
        for (let k = 0; k < triangles.length; k++) {
          const t = triangles[k], p = on[t[0]], q = on[t[1]], s = on[t[2]];
          const back = (q[0] - p[0]) * (s[1] - p[1]) - (s[0] - p[0]) * (q[1] - p[1]) >= 0;
          if (back && closed) continue;
          const towards = normals[3 * k] * lx + normals[3 * k + 1] * ly + normals[3 * k + 2] * lz;
          const bright = 0.5 + 0.55 * Math.max(0, back ? -towards : towards), lit = c => Math.min(255, Math.round((c + 12) * bright));
          things.push({ depth: (p[2] + q[2] + s[2]) / 3, points: [p, q, s], fill: `rgb(${lit(r)},${lit(g)},${lit(b)})` });
        }
      };
      const bare = body => !view.show.shapes || scene.bare.includes(body);
      if (view.show.shapes) shapes.forEach(surface);
      for (const { body, color, corners } of faces) if (bare(body)) face(corners.map(p => placed(at[body], p)), color);
      for (const s of scene.slides) if (bare(s.child)) {
        rod(placed(at[s.body], s.point), placed(at[s.child], s.end), 0.8 * scene.rod, 5 * scene.rod).forEach(c => face(c, "aside"));
      }
      for (const fr of scene.frames) {
        if (!fr.main && !view.show.frames) continue;
        const T = times(at[fr.body], fr.pose), o = column(T, 3), length = (fr.main ? 4.2 : 2.8) * scene.mark;
        ["x", "y", "z"].forEach((n, k) => {
          const tip = plus(o, column(T, k), length);
          things.push({ depth: seen(plus(o, column(T, k), 0.7 * length))[2], line: [seen(o), seen(tip)], color: palette[n] });
        });
        if (view.show.frames || fr.main) things.push({ depth: seen(o)[2] + 0.2 * scene.size, text: fr.name, at: seen(o) });
      }
      things.sort((a, b) => a.depth - b.depth);
      const labels = [];
      for (const t of things) {
        if (t.points) {
          g.fillStyle = g.strokeStyle = t.fill; g.lineWidth = 0.7; g.beginPath();
          t.points.forEach((p, k) => k ? g.lineTo(p[0], p[1]) : g.moveTo(p[0], p[1]));
          g.closePath(); g.fill(); g.stroke();
        } else if (t.line) {
          g.strokeStyle = t.color; g.lineWidth = 2.2; g.beginPath(); g.moveTo(...t.line[0].slice(0, 2)); g.lineTo(...t.line[1].slice(0, 2)); g.stroke();
        } else if (t.text) {
          let y = t.at[1] + 13;
          while (labels.some(l => Math.abs(l[0] - t.at[0]) < 60 && Math.abs(l[1] - y) < 11)) y += 11;
          labels.push([t.at[0], y]);
          g.fillStyle = palette.ink; g.font = "11px system-ui, sans-serif"; g.fillText(t.text, t.at[0] + 7, y);
        } else { g.fillStyle = palette.trail; g.globalAlpha = 0.5; g.fillRect(t.dot[0] - 1, t.dot[1] - 1, 2, 2); g.globalAlpha = 1; }
      }
      line(view.trail.slice(Math.max(0, view.trailEnd - 90), view.trailEnd), palette.trail, 1.6, 0.75);
    }

    // Mouse, touch, keys: one pointer turns, two move and zoom, the wheel zooms
    const down = new Map();
    canvas.addEventListener("pointerdown", e => { down.set(e.pointerId, [e.clientX, e.clientY]); canvas.setPointerCapture(e.pointerId); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => down.delete(e.pointerId));
    canvas.addEventListener("pointermove", e => {
      const before = down.get(e.pointerId);
      if (!before) return;
      const dx = e.clientX - before[0], dy = e.clientY - before[1];
      if (down.size === 1) {
        if (e.shiftKey || e.buttons & 6) view.pan(dx, dy); else view.turn(0.008 * dx, 0.008 * dy);
      } else {
        const other = [...down].find(([id]) => id !== e.pointerId)[1], gap = p => Math.hypot(p[0] - other[0], p[1] - other[1]);
        view.zoom(Math.max(gap([e.clientX, e.clientY]), 1) / Math.max(gap(before), 1));
        view.pan(dx / 2, dy / 2);
      }
      down.set(e.pointerId, [e.clientX, e.clientY]);
    });
    canvas.addEventListener("wheel", e => { e.preventDefault(); view.zoom(Math.exp(-0.0015 * e.deltaY)); }, { passive: false });
    canvas.addEventListener("dblclick", view.home);
    canvas.addEventListener("contextmenu", e => e.preventDefault());
    canvas.addEventListener("keydown", e => {
      const act = { ArrowLeft: () => view.turn(-0.1, 0), ArrowRight: () => view.turn(0.1, 0), ArrowUp: () => view.turn(0, 0.1),
                    ArrowDown: () => view.turn(0, -0.1), "+": () => view.zoom(1.15), "-": () => view.zoom(1 / 1.15), 0: view.home }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
    new ResizeObserver(view.redraw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", view.repaint);
    view.home();
    view.repaint();
    return view;
  }

  return { Viewer, poses, times, program, attitude };
})();
