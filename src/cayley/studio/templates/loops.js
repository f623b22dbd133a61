"use strict";
// Keeps a mechanism closed while its driven joints are moved: steps of Levenberg and Marquardt on the residual of the constraints, from one
// closed configuration to the next near by, so that it stays on its branch.
const Loops = scene => {
  const { rows, nv, driven, steps, results } = scene.closing, STEP = 0.04, LEAST = 0.01, LONGEST = 0.2, FARTHEST = 0.6, MOST = 25, CLOSED = 1e-10 * scene.size + 1e-13;
  const places = driven.map(k => scene.joints[k].start);
  const moving = []; // for each velocity: the joint's motion and where its coordinates are
  for (const j of scene.joints) {
    let start = j.start;
    for (const m of j.motions) {
      const attitude = m.form === "attitude", count = attitude ? (m.position === null ? 3 : 6) : m.nq;
      moving.push({ m, start, v: moving.reduce((s, x) => s + x.count, 0), count });
      start += m.nq;
    }
  }
  const fixed = new Set(moving.filter(x => places.includes(x.start)).map(x => x.v));
  const free = Array.from({ length: nv }, (_, k) => k).filter(k => !fixed.has(k));

  function stepped(q, v) { // the configuration after a small displacement; velocities of attitudes are in the axes of the body
    const found = q.slice();
    for (const { m, start, v: at, count } of moving) {
      if (m.form !== "attitude") { for (let k = 0; k < count; k++) found[start + k] += v[at + k]; continue; }
      const turn = start + m.turn, w = v.slice(at + count - 3, at + count).map(x => x / 2), [a, b, c, d] = q.slice(turn, turn + 4);
      if (m.position !== null) {
        const R = Robot.attitude([a, b, c, d]), u = v.slice(at, at + 3);
        [0, 1, 2].forEach(r => { found[start + m.position + r] += R[4 * r] * u[0] + R[4 * r + 1] * u[1] + R[4 * r + 2] * u[2]; });
      }
      const next = [a - b * w[0] - c * w[1] - d * w[2], b + a * w[0] + c * w[2] - d * w[1], c + a * w[1] + d * w[0] - b * w[2],
                    d + a * w[2] + b * w[1] - c * w[0]], size = Math.hypot(...next);
      next.forEach((x, k) => { found[turn + k] = x / size; });
    }
    return found;
  }

  function solved(M, y) { // of a symmetric positive definite matrix, by elimination
    const n = y.length;
    for (let k = 0; k < n; k++) for (let i = k + 1; i < n; i++) {
      const f = M[i][k] / M[k][k];
      for (let j = k; j < n; j++) M[i][j] -= f * M[k][j];
      y[i] -= f * y[k];
    }
    for (let k = n - 1; k >= 0; k--) {
      for (let j = k + 1; j < n; j++) y[k] -= M[k][j] * y[j];
      y[k] /= M[k][k];
    }
    return y;
  }

  const residual = q => Robot.program(steps, results.slice(0, rows), q);

  function closed(q) { // near q, the driven joints held; null if there is none near by
    let moved = 0;
    for (let count = 0; count < MOST; count++) {
      const all = Robot.program(steps, results, q), r = all.slice(0, rows);
      if (Math.max(...r.map(Math.abs)) < CLOSED) return q;
      const A = Array.from({ length: rows }, (_, i) => free.map(k => all[rows + i * nv + k]));
      const M = free.map((_, i) => free.map((_, j) => A.reduce((s, row) => s + row[i] * row[j], 0)));
      const damping = 1e-12 * M.reduce((s, row, k) => s + row[k], 0) + r.reduce((s, x) => s + x * x, 0);
      M.forEach((row, k) => { row[k] += damping; });
      const x = solved(M, free.map((_, i) => -A.reduce((s, row, k) => s + row[i] * r[k], 0))), v = new Array(nv).fill(0);
      const longest = Math.max(...x.map(Math.abs)), share = Math.min(1, LONGEST / longest);
      free.forEach((k, i) => { v[k] = share * x[i]; });
      moved += share * longest;
      if (!(moved < FARTHEST)) return null;
      q = stepped(q, v);
    }
    return null;
  }

  function driven_to(q, target) { // along straight ways of the driven joints, as far as the machine goes
    const way = places.map(p => target[p] - q[p]), length = Math.max(...way.map(Math.abs)) / Math.min(1, scene.size);
    const from = places.map(p => q[p]), whole = Math.min(1, STEP / length);
    for (let at = 0, step = whole; at < 1 && step > LEAST * whole;) { // steps are shorter where the machine comes to an end
      const next = q.slice(), to = Math.min(1, at + step);
      places.forEach((p, i) => { next[p] = from[i] + way[i] * to; });
      const found = closed(next);
      if (found === null) { step /= 4; continue; }
      q = found;
      at = to;
      step = Math.min(whole, 2 * step);
    }
    return q;
  }

  return { residual, closed, driven: driven_to };
};
