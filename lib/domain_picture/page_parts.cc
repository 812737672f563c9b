// The style sheet and the script of a page with a domain of three dimensions. They are the same for
// every domain, and load nothing from elsewhere.
#include "domain_picture/picture_parts.h"

namespace groma::domains {

std::string_view domain_page_style() {
  return R"css(
#space-box { border: 1px solid var(--line); border-radius: 6px; height: min(70vh, 44rem, 95vw); }
#space-box canvas { cursor: grab; display: block; height: 100%; touch-action: none; width: 100%; }
#space-box canvas.held { cursor: grabbing; }
#what { background: var(--card); border-radius: 6px; margin: .5rem 0; max-width: none;
  min-height: 1.5em; overflow-wrap: anywhere; padding: .35rem .7rem; }
.upto { align-items: center; display: flex; flex: 1 1 16rem; gap: .6rem; white-space: nowrap; }
.upto input { flex: 1; min-width: 6rem; }
svg.domain-picture { display: block; min-width: 40rem; width: 100%; }
)css";
}

// Cubes stand on a grid and the projection is parallel, so that any order that follows the three
// axes towards the viewer paints nearer cubes later.
std::string_view domain_page_script() {
  return R"js(
'use strict';
(() => {
  const domain = JSON.parse(document.getElementById('domain').textContent);
  const canvas = document.querySelector('#space-box canvas');
  const paint = canvas.getContext('2d');
  const what = document.getElementById('what'), upto = document.getElementById('upto');
  const kFields = 6, kFirstYaw = -0.65, kFirstPitch = 0.5;
  const count = domain.cells.length / kFields;
  const at = (i, field) => domain.cells[i * kFields + field];
  const [ex, ey, ez] = domain.extents;
  let yaw = kFirstYaw, pitch = kFirstPitch, zoom = 1, show = 'rank';

  // The cube beside each cube in the six directions, or -1.
  const places = new Map();
  const key = (x, y, z) =>
    x < 0 || y < 0 || z < 0 || x >= ex || y >= ey || z >= ez ? -1 : (z * ey + y) * ex + x;
  for (let i = 0; i < count; ++i) places.set(key(at(i, 0), at(i, 1), at(i, 2)), i);
  const beside = new Int32Array(6 * count);
  for (let i = 0; i < count; ++i) {
    for (let face = 0; face < 6; ++face) {
      const place = [at(i, 0), at(i, 1), at(i, 2)];
      place[face >> 1] += face & 1 ? -1 : 1;
      const found = places.get(key(...place));
      beside[6 * i + face] = found === undefined ? -1 : found;
    }
  }

  // The shades of a colour for the three visible sides.
  const shaded = text => {
    const parts = [1, 3, 5].map(from => parseInt(text.slice(from, from + 2), 16));
    return [0.86, 0.7, 1.06].map(light =>
      `rgb(${parts.map(part => Math.min(255, Math.round(part * light))).join(' ')})`);
  };
  const colors = domain.colors.map(shaded);
  const kRamp = 64, ramp = [];
  for (let i = 0; i < kRamp; ++i) {
    const mix = (a, b) => Math.round(a + (b - a) * i / (kRamp - 1)).toString(16).padStart(2, '0');
    ramp.push(shaded('#' + mix(38, 250) + mix(84, 178) + mix(180, 60)));
  }
  const colorsOf = i => show === 'order' ? ramp[Math.floor(i * kRamp / count)]
                                         : colors[at(i, show === 'rank' ? 4 : 5)];

  // The cubes from the farthest to the nearest, by the signs of the direction to the viewer.
  const orders = new Map();
  const orderOf = signs => {
    const name = signs.join();
    if (!orders.has(name)) {
      const order = Int32Array.from({length: count}, (_, i) => i);
      order.sort((a, b) => {
        for (const d of [2, 1, 0]) {
          const step = (at(a, d) - at(b, d)) * signs[d];
          if (step !== 0) return step;
        }
        return 0;
      });
      orders.set(name, order);
    }
    return orders.get(name);
  };

  // The axes on the canvas. Before turning, x is to the right, y away from the viewer, z up.
  const view = () => {
    const c = Math.cos(yaw), s = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const size = zoom * 0.86 * Math.min(width, height) / Math.hypot(ex, ey, ez);
    const axes = [[c * size, -s * sp * size], [-s * size, -c * sp * size], [0, -cp * size]];
    const toViewer = [-s * cp, -c * cp, sp];
    const middle = [width / 2, height / 2];
    for (let d = 0; d < 3; ++d) {
      for (const n of [0, 1]) middle[n] -= axes[d][n] * domain.extents[d] / 2;
    }
    return {axes, toViewer, origin: middle, width, height, size};
  };

  const visible = () => Math.max(1, +upto.value);
  // Calls f for the visible faces from the farthest to the nearest: the cube, the axis across the
  // face, and the corner and the two edges on the canvas.
  const faces = (now, f) => {
    const limit = visible();
    const signs = now.toViewer.map(each => each < 0 ? -1 : 1);
    for (const i of orderOf(signs)) {
      if (i >= limit) continue;
      let x = 0, y = 0, known = false;
      for (let d = 0; d < 3; ++d) {
        const next = beside[6 * i + 2 * d + (signs[d] > 0 ? 0 : 1)];
        if (next >= 0 && next < limit) continue;
        if (!known) {
          x = now.origin[0]; y = now.origin[1]; known = true;
          for (let e = 0; e < 3; ++e) {
            x += now.axes[e][0] * at(i, e); y += now.axes[e][1] * at(i, e);
          }
        }
        const up = signs[d] > 0 ? 1 : 0, a = now.axes[(d + 1) % 3], b = now.axes[(d + 2) % 3];
        f(i, d, x + now.axes[d][0] * up, y + now.axes[d][1] * up, a, b);
      }
    }
  };

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const corner = (now, place) => [0, 1].map(n =>
    now.origin[n] + place.reduce((sum, each, d) => sum + each * now.axes[d][n], 0));
  // The edges of the box that the viewer looks at from inside, with the names of the axes.
  function frame(now, back) {
    paint.strokeStyle = style('--line');
    paint.fillStyle = style('--dim');
    paint.lineWidth = 1;
    const far = now.toViewer.map((each, d) => each < 0 ? domain.extents[d] : 0);
    for (let d = 0; d < 3; ++d) {
      for (let e = 0; e < 4; ++e) {
        const from = [0, 0, 0], to = [0, 0, 0];
        from[(d + 1) % 3] = to[(d + 1) % 3] = e & 1 ? domain.extents[(d + 1) % 3] : 0;
        from[(d + 2) % 3] = to[(d + 2) % 3] = e & 2 ? domain.extents[(d + 2) % 3] : 0;
        to[d] = domain.extents[d];
        const near = from[(d + 1) % 3] !== far[(d + 1) % 3] && from[(d + 2) % 3] !== far[(d + 2) % 3];
        if (near === back) continue;
        const a = corner(now, from), b = corner(now, to);
        paint.beginPath(); paint.moveTo(...a); paint.lineTo(...b); paint.stroke();
      }
    }
    if (back) return;
    paint.font = '13px system-ui, sans-serif';
    paint.textAlign = 'center'; paint.textBaseline = 'middle';
    for (let d = 0; d < 3; ++d) {
      const place = [0, 0, 0];
      place[d] = domain.extents[d] + 14 / now.size;
      const [x, y] = corner(now, place);
      paint.fillText('xyz'[d], x, y);
    }
  }

  let due = false;
  function draw() {
    due = false;
    const ratio = window.devicePixelRatio || 1;
    const now = view();
    if (canvas.width !== Math.round(now.width * ratio)
        || canvas.height !== Math.round(now.height * ratio)) {
      canvas.width = Math.round(now.width * ratio);
      canvas.height = Math.round(now.height * ratio);
    }
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint.clearRect(0, 0, now.width, now.height);
    frame(now, true);
    // Lines between cubes if there is room; otherwise faces are joined by lines of their colour.
    const lines = now.size > 7, edge = style('--back');
    paint.lineWidth = lines ? 0.8 : 0.6;
    paint.lineJoin = 'round';
    let drawn = 0;
    faces(now, (i, d, x, y, a, b) => {
      ++drawn;
      const color = colorsOf(i)[d];
      paint.fillStyle = color;
      paint.strokeStyle = lines ? edge : color;
      paint.beginPath();
      paint.moveTo(x, y);
      paint.lineTo(x + a[0], y + a[1]);
      paint.lineTo(x + a[0] + b[0], y + a[1] + b[1]);
      paint.lineTo(x + b[0], y + b[1]);
      paint.closePath();
      paint.fill();
      paint.stroke();
    });
    frame(now, false);
    canvas.dataset.faces = drawn;
  }
  const later = () => { if (!due) { due = true; requestAnimationFrame(draw); } };

  // Says which cube lies below a place of the canvas.
  function point(px, py) {
    let found = -1;
    faces(view(), (i, d, x, y, a, b) => {
      const det = a[0] * b[1] - a[1] * b[0];
      const u = ((px - x) * b[1] - (py - y) * b[0]) / det;
      const v = ((py - y) * a[0] - (px - x) * a[1]) / det;
      if (u >= 0 && u <= 1 && v >= 0 && v <= 1) found = i;
    });
    if (found < 0) return;
    const from = [0, 1, 2].map(d =>
      (BigInt(domain.lower[d]) + BigInt(at(found, d)) * BigInt(domain.side)).toString());
    what.textContent = (domain.side > 1 ? `${domain.side} x ${domain.side} x ${domain.side} points from `
      : '') + `(${from.join(', ')}): ${domain.side > 1 ? 'the first is ' : ''}number ${at(found, 3)}, `
      + `processor ${at(found, 4)} by rank, ${at(found, 5)} by blocks`;
  }

  const turn = (dx, dy) => {
    yaw += dx;
    pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, pitch + dy));
    later();
  };
  const keys = {ArrowLeft: () => turn(0.12, 0), ArrowRight: () => turn(-0.12, 0),
    ArrowUp: () => turn(0, 0.12), ArrowDown: () => turn(0, -0.12),
    '+': () => { zoom = Math.min(12, zoom * 1.2); later(); },
    '-': () => { zoom = Math.max(0.3, zoom / 1.2); later(); },
    Home: () => { yaw = kFirstYaw; pitch = kFirstPitch; zoom = 1; later(); }};
  canvas.addEventListener('keydown', event => {
    const f = keys[event.key === '=' ? '+' : event.key];
    if (f && !event.ctrlKey && !event.metaKey && !event.altKey) { f(); event.preventDefault(); }
  });
  for (const button of document.querySelectorAll('[data-key]')) {
    button.addEventListener('click', keys[button.dataset.key]);
  }
  for (const button of document.querySelectorAll('[data-show]')) {
    button.addEventListener('click', () => {
      show = button.dataset.show;
      for (const each of document.querySelectorAll('[data-show]')) {
        each.setAttribute('aria-pressed', each === button);
      }
      later();
    });
  }
  // One pointer turns; two change the size.
  const held = new Map();
  const spread = () => {
    const [a, b] = [...held.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, [event.offsetX, event.offsetY]);
    canvas.classList.add('held');
  });
  canvas.addEventListener('pointermove', event => {
    const last = held.get(event.pointerId);
    if (!last) { point(event.offsetX, event.offsetY); return; }
    const before = held.size === 2 ? spread() : 0;
    held.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (held.size === 2) {
      zoom = Math.max(0.3, Math.min(12, zoom * spread() / Math.max(1, before)));
      later();
    } else if (held.size === 1) {
      turn((last[0] - event.offsetX) * 0.01, (event.offsetY - last[1]) * 0.01);
    }
  });
  for (const name of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(name, event => {
      held.delete(event.pointerId);
      if (held.size === 0) canvas.classList.remove('held');
    });
  }
  canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom = Math.max(0.3, Math.min(12, zoom * Math.exp(-event.deltaY * 0.002)));
    later();
  }, {passive: false});
  upto.max = count;
  upto.value = count;
  upto.addEventListener('input', () => {
    later();
    what.textContent = `the points up to number ${at(visible() - 1, 3)} of ${domain.count}`;
  });
  new ResizeObserver(later).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', later);
  draw();
})();
)js";
}

}  // namespace groma::domains
