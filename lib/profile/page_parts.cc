// The style sheet and the script of the HTML page with a profile. They are the same for every run,
// and load nothing from elsewhere.
#include "profile/page_parts.h"

namespace groma::profile {

// The colours come from the common style sheet (html.cc).
std::string_view page_style() {
  return R"css(
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { color: var(--dim); padding: .2rem 0; text-align: left; }
th, td { border-bottom: 1px solid var(--line); padding: .15rem .6rem; text-align: left;
  vertical-align: top; }
th.n, td.n { text-align: right; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; }
.bar { background: var(--bar); display: inline-block; height: .7em; min-width: 1px; }
.barcell { min-width: 8rem; }
#tools { align-items: center; display: flex; flex-wrap: wrap; gap: .5rem; margin: .5rem 0; }
#lanes { border: 1px solid var(--line); max-height: 70vh; overflow-y: auto; position: relative; }
#lanes canvas { display: block; left: 0; position: sticky; top: 0; touch-action: pan-y; }
#lanes canvas:focus-visible { outline: 2px solid var(--bar); outline-offset: -2px; }
#what { min-height: 1.5em; overflow-wrap: anywhere; }
svg.level { background: var(--row); display: block; height: 60px; width: 100%; }
svg.level path { fill: var(--bar); stroke: none; }
figure { margin: .6rem 0; } figcaption { overflow-wrap: anywhere; }
)css";
}

// The script draws the timeline of a run on a canvas. It draws only the rows and the times that are
// visible, so that it is fast even for many events. The tables of the page need no script.
std::string_view page_script() {
  return R"js(
'use strict';
(() => {
  const run = JSON.parse(document.getElementById('run').textContent);
  const box = document.getElementById('lanes');
  const canvas = box.querySelector('canvas');
  const spacer = document.getElementById('spacer');
  const what = document.getElementById('what');
  const only = document.getElementById('only');
  const paint = canvas.getContext('2d');
  const kRow = 20, kGutter = 170, kAxis = 22, kFields = 5;
  const total = Math.max(1, run.total);
  let from = 0, to = total, width = 0, height = 0;

  // Begin, end and label of every span, and how much of the time before each was busy.
  const lanes = run.lanes.map(lane => {
    const count = lane.spans.length / kFields;
    const begin = new Float64Array(count), end = new Float64Array(count);
    const busy = new Float64Array(count + 1), label = new Int32Array(count);
    const path = new Uint8Array(count), event = new Float64Array(count);
    for (let i = 0, at = 0; i < count; ++i) {
      const f = i * kFields;
      begin[i] = at + lane.spans[f];
      at = end[i] = begin[i] + lane.spans[f + 1];
      label[i] = lane.spans[f + 2];
      path[i] = lane.spans[f + 3];
      event[i] = lane.spans[f + 4];
      busy[i + 1] = busy[i] + end[i] - begin[i];
    }
    return {name: lane.name, labels: lane.labels || run.labels, count, begin, end, busy, label, path,
            event};
  });

  // The first span that ends after a time.
  const first = (lane, time) => {
    let low = 0, high = lane.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.end[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  };
  const busyUntil = (lane, time) => {
    const i = first(lane, time);
    return lane.busy[i] + (i < lane.count ? Math.max(0, time - lane.begin[i]) : 0);
  };

  const units = [[1e12, 's'], [1e9, 'ms'], [1e6, 'us'], [1e3, 'ns'], [1, 'ps']];
  const words = time => {
    const [size, unit] = units.find(each => Math.abs(time) >= each[0]) || units[4];
    return +(time / size).toPrecision(4) + ' ' + unit;
  };

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const color = label => {
    const hue = (210 + 137.508 * label) % 360;
    return dark.matches ? `hsl(${hue} 60% 72%)` : `hsl(${hue} 60% 30%)`;
  };
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function axis(scale, text, line) {
    const step = (() => {
      const raw = (to - from) * 110 / Math.max(1, width - kGutter);
      const power = 10 ** Math.floor(Math.log10(raw));
      return [1, 2, 5, 10].map(f => f * power).find(f => f >= raw) || raw;
    })();
    paint.fillStyle = text;
    paint.strokeStyle = line;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = kGutter + (t - from) * scale;
      paint.beginPath(); paint.moveTo(x, kAxis - 5); paint.lineTo(x, height); paint.stroke();
      paint.fillText(words(t), x + 3, kAxis / 2);
    }
  }

  // One lane: its spans where they can be told apart; else, for each pixel, how busy it was.
  function drawLane(lane, y, scale, accent, back) {
    let drawn = 0;
    const high = kRow - 4, pixels = width - kGutter;
    let i = first(lane, from);
    const last = first(lane, to);
    if (last - i > pixels / 2) {
      const time = 1 / scale;
      let before = busyUntil(lane, from);
      for (let x = 0; x < pixels; ++x) {
        const until = from + (x + 1) * time;
        const now = busyUntil(lane, until);
        const part = Math.min(1, (now - before) / time);
        before = now;
        if (part <= 0) continue;
        const at = Math.min(first(lane, until - time / 2), lane.count - 1);
        paint.fillStyle = color(lane.label[at]);
        paint.globalAlpha = only.checked && !lane.path[at] ? .35 : 1;
        paint.fillRect(kGutter + x, y + high * (1 - part), 1, high * part);
        ++drawn;
      }
      paint.globalAlpha = 1;
      return drawn;
    }
    for (; i < lane.count && lane.begin[i] < to; ++i) {
      const x = kGutter + Math.max(0, lane.begin[i] - from) * scale;
      const end = kGutter + Math.min(to - from, lane.end[i] - from) * scale;
      const wide = Math.max(1, end - x);
      paint.fillStyle = color(lane.label[i]);
      paint.globalAlpha = only.checked && !lane.path[i] ? .35 : 1;
      paint.fillRect(x, y, wide, high);
      paint.globalAlpha = 1;
      if (only.checked && lane.path[i]) {
        paint.fillStyle = accent;
        paint.fillRect(x, y + high, wide, 2);
      }
      if (wide > 34) {
        paint.save();
        paint.beginPath(); paint.rect(x, y, wide - 3, high); paint.clip();
        paint.fillStyle = only.checked && !lane.path[i] ? style('--text') : back;
        paint.fillText(lane.labels[lane.label[i]], x + 4, y + high / 2 + 1);
        paint.restore();
      }
      ++drawn;
    }
    return drawn;
  }

  function draw() {
    const began = performance.now();
    const ratio = devicePixelRatio || 1;
    width = box.clientWidth;
    const all = kAxis + lanes.length * kRow + 4;
    height = Math.min(all, Math.max(200, Math.floor(innerHeight * .7)));
    spacer.style.height = (all - height) + 'px';
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint.font = '12px system-ui, sans-serif';
    paint.textBaseline = 'middle';
    const text = style('--text'), line = style('--line'), back = style('--back');
    const accent = style('--accent');
    const scale = Math.max(1, width - kGutter) / (to - from);
    axis(scale, style('--dim'), line);
    let drawn = 0;
    const top = Math.floor(box.scrollTop / kRow);
    for (let row = top; row < lanes.length; ++row) {
      const y = kAxis + row * kRow - box.scrollTop;
      if (y > height) break;
      if (y < kAxis) continue;
      drawn += drawLane(lanes[row], y, scale, accent, back);
      paint.save();
      paint.beginPath(); paint.rect(0, y, kGutter - 6, kRow); paint.clip();
      paint.fillStyle = text;
      paint.fillText(lanes[row].name, 4, y + kRow / 2 - 1);
      paint.restore();
    }
    canvas.dataset.from = from;
    canvas.dataset.to = to;
    canvas.dataset.drawn = drawn;
    canvas.dataset.ms = (performance.now() - began).toFixed(1);
  }

  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
  const show = (begin, end) => {
    const length = Math.min(total, Math.max(10, total / 1e12, end - begin));
    from = Math.min(Math.max(0, begin), total - length);
    to = from + length;
    redraw();
  };
  const zoom = (factor, part) => {
    const at = from + (to - from) * part;
    show(at - (to - from) * factor * part, at + (to - from) * factor * (1 - part));
  };
  const pan = part => show(from + (to - from) * part, to + (to - from) * part);
  const partOf = x => Math.min(1, Math.max(0, (x - kGutter) / Math.max(1, width - kGutter)));

  const spanAt = event => {
    const row = Math.floor((event.offsetY + box.scrollTop - kAxis) / kRow);
    if (row < 0 || row >= lanes.length || event.offsetX < kGutter) return null;
    const time = from + (to - from) * partOf(event.offsetX);
    const lane = lanes[row];
    const slack = 2 * (to - from) / Math.max(1, width - kGutter);
    const i = first(lane, time - slack);
    return i < lane.count && lane.begin[i] <= time + slack ? {lane, i} : null;
  };
  const tell = found => {
    if (!found) return;
    const {lane, i} = found;
    what.textContent = `${lane.labels[lane.label[i]]}, ${lane.name}: ` +
        `${words(lane.end[i] - lane.begin[i])} from ${words(lane.begin[i])}` +
        (lane.path[i] ? ', on the critical path' : '') +
        (lane.event[i] < 0 ? '' : ` (event ${lane.event[i]})`);
  };

  let held = null;
  canvas.addEventListener('pointerdown', event => {
    held = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    if (held === null) return tell(spanAt(event));
    pan((held - event.offsetX) / Math.max(1, width - kGutter));
    held = event.offsetX;
  });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointercancel', () => { held = null; });
  canvas.addEventListener('dblclick', event => {
    const found = spanAt(event);
    if (!found) return;
    const {lane, i} = found, more = (lane.end[i] - lane.begin[i]) / 4;
    show(lane.begin[i] - more, lane.end[i] + more);
  });
  canvas.addEventListener('wheel', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      zoom(Math.exp(event.deltaY / 300), partOf(event.offsetX));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan((event.deltaX || event.deltaY) / Math.max(1, width - kGutter));
    }
  }, {passive: false});
  const keys = {
    ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2), '+': () => zoom(.5, .5),
    '=': () => zoom(.5, .5), '-': () => zoom(2, .5), Home: () => show(0, total),
    ArrowUp: () => { box.scrollTop -= 3 * kRow; }, ArrowDown: () => { box.scrollTop += 3 * kRow; },
  };
  canvas.addEventListener('keydown', event => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  for (const button of document.querySelectorAll('#tools button')) {
    button.addEventListener('click', () => keys[button.dataset.key]());
  }
  only.addEventListener('change', redraw);
  box.addEventListener('scroll', redraw);
  dark.addEventListener('change', redraw);
  new ResizeObserver(redraw).observe(box);
  addEventListener('resize', redraw);
  draw();
})();
)js";
}

}  // namespace groma::profile
