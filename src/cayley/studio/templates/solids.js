"use strict";
// What a robot is drawn of, as parts: points in the frame of a body one after another, triangles as numbers of points, and the normals at their
// corners, which are shared across edges that are not sharp.
const Solids = (() => {
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const unit = a => { const n = Math.hypot(a[0], a[1], a[2]) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
  const SHARP = 0.62; // cosine of the angle between triangles whose edge is seen

  function normals(points, triangles) { // at the corners of triangles, nine numbers each
    const count = triangles.length / 3, flat = new Float64Array(3 * count), around = Array.from({ length: points.length / 3 }, () => []);
    for (let t = 0; t < count; t++) {
      const [a, b, c] = [0, 1, 2].map(k => 3 * triangles[3 * t + k]);
      const p = (i, j) => [points[i] - points[j], points[i + 1] - points[j + 1], points[i + 2] - points[j + 2]];
      flat.set(unit(cross(p(b, a), p(c, a))), 3 * t);
      for (let k = 0; k < 3; k++) around[triangles[3 * t + k]].push(t);
    }
    const found = new Float32Array(9 * count);
    for (let t = 0; t < count; t++) for (let k = 0; k < 3; k++) {
      let x = 0, y = 0, z = 0;
      for (const other of around[triangles[3 * t + k]]) {
        const [a, b, c] = [flat[3 * other], flat[3 * other + 1], flat[3 * other + 2]];
        if (a * flat[3 * t] + b * flat[3 * t + 1] + c * flat[3 * t + 2] > SHARP) { x += a; y += b; z += c; }
      }
      const n = Math.hypot(x, y, z) || 1;
      found.set([x / n, y / n, z / n], 9 * t + 3 * k);
    }
    return found;
  }

  function part(body, color, points, triangles, closed = true) {
    const flat = Float64Array.from(points);
    return { body, color, points: flat, triangles: Uint32Array.from(triangles), normals: normals(flat, triangles), closed };
  }

  function joined(body, color, faces) { // faces: corners counter-clockwise from outside; equal corners are one point
    const numbers = new Map(), points = [], triangles = [];
    const number = p => {
      const key = p.map(x => x.toFixed(7)).join();
      if (!numbers.has(key)) { numbers.set(key, numbers.size); points.push(...p); }
      return numbers.get(key);
    };
    for (const corners of faces) {
      const own = corners.map(number);
      for (let k = 2; k < own.length; k++) if (new Set([own[0], own[k - 1], own[k]]).size === 3) triangles.push(own[0], own[k - 1], own[k]);
    }
    return part(body, color, points, triangles);
  }

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

  function ball(center, radius, sides = 12) {
    const rings = [], faces = [], rows = sides / 2;
    for (let i = 0; i <= rows; i++) {
      const a = Math.PI * i / rows;
      rings.push(ring(plus(center, [0, 0, 1], -radius * Math.cos(a)), [0, 0, 1], i % rows ? radius * Math.sin(a) : 0, sides));
      if (i) faces.push(...wall(rings[i - 1], rings[i]));
    }
    return faces;
  }

  function rod(start, end, radius, sides = 12) {
    const way = plus(end, start, -1), axis = unit(way);
    return Math.hypot(...way) < 1e-9 ? [] : wall(ring(start, axis, radius, sides), ring(end, axis, radius, sides));
  }

  function joint(mark) {
    const s = mark.size;
    if (mark.shape === "base") return prism(mark.center, mark.axis, 2.4 * s, 0.3 * s, 32);
    if (mark.shape === "ball") return ball(mark.center, 1.2 * s, 16);
    if (mark.shape === "sleeve") return prism(mark.center, mark.axis, 1.2 * s, 1.7 * s, 4);
    if (mark.shape === "plate") return prism(mark.center, mark.axis, 3 * s, 0.3 * s, 4);
    return prism(mark.center, mark.axis, 0.85 * s, 1.4 * s, 24);
  }

  const COLORS = { base: "aside", sleeve: "slide", plate: "slide" };

  function sticks(scene) { // joints, and rods along the links
    const found = [];
    for (const plate of scene.plates) found.push(joined(plate.body, "aside", [...plate.faces, ...plate.faces.map(c => c.slice().reverse())]));
    for (const mark of scene.marks) found.push(joined(mark.body, COLORS[mark.shape] || "joint", joint(mark)));
    for (const link of scene.links) {
      const radius = link.carries ? scene.rod : 0.55 * scene.rod, color = link.carries ? "link" : "aside";
      for (let k = 1; k < link.points.length; k++) {
        found.push(joined(link.body, color, rod(link.points[k - 1], link.points[k], radius)), joined(link.body, color, ball(link.points[k], radius)));
      }
    }
    return found;
  }

  const skins = scene => scene.shapes.map(s => part(s.body, s.color || "link", s.points, s.triangles, s.closed));
  const between = (start, end, radius) => joined(0, "aside", rod(start, end, radius)); // in the frame of the root

  return { sticks, skins, between, cross, plus, unit };
})();
