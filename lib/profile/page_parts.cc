// The style sheet and the script of the HTML page with a profile. They are the same for every run,
// and load nothing from elsewhere.
#include "profile/page_parts.h"

namespace groma::profile {

// The other colours come from the common style sheet (html.cc). Neighbours among the colours of
// tasks (--c0 to --c7) have hues that are far apart, because the legend has them in this order.
// --c8 to --c11 are for other tasks, copies, reductions and the runtime (page_lanes.h).
std::string_view page_style() {
  return R"css(
:root { --c0: #2f6db5; --c1: #1a7f37; --c2: #6b3fc8; --c3: #7a6400; --c4: #0b7f8a; --c5: #b5305f;
  --c6: #5c7a12; --c7: #1d3f72; --c8: #3b4a57; --c9: #c95f00; --c10: #b414a5; --c11: #858585; }
@media (prefers-color-scheme: dark) { :root { --c0: #78aef0; --c1: #6fcf85; --c2: #b99cff;
  --c3: #e0c050; --c4: #4fd0d8; --c5: #ff93b5; --c6: #b9cc55; --c7: #5a8ae0; --c8: #c3d0dc;
  --c9: #ffa35c; --c10: #f08ae0; --c11: #909090; } }
#waited { border-left: 4px solid var(--bar); font-weight: 600; margin: 1rem 0; padding-left: .8rem; }
#advice { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
#advice li { white-space: pre-wrap; } #advice p { margin-top: .2rem; }
.diff { font-size: .85rem; margin: .2rem 0 .6rem; overflow-x: auto; white-space: pre; }
.diff del, .diff ins { text-decoration: none; } .diff del { color: var(--accent); }
.diff ins { color: var(--c1); }
/* A table that does not fit scrolls in its box. The shadow at an edge says that there is more. */
.scroll { background: linear-gradient(90deg, var(--back) 30%, transparent) 0 / 40px 100%,
  linear-gradient(270deg, var(--back) 30%, transparent) 100% / 40px 100%,
  linear-gradient(90deg, rgb(0 0 0 / .3), transparent) 0 / 12px 100%,
  linear-gradient(270deg, rgb(0 0 0 / .3), transparent) 100% / 12px 100%;
  background-attachment: local, local, scroll, scroll; background-repeat: no-repeat; }
.framed { border: 1px solid var(--line); border-radius: 6px; }
.framed table { width: 100%; } .framed tr:last-child > * { border-bottom: 0; }
.matrix th[scope=row] { background: var(--back); left: 0; position: sticky; white-space: nowrap; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .15rem .6rem; text-align: left;
  vertical-align: top; }
th.n, td.n { text-align: right; } td.n { white-space: nowrap; } thead th { vertical-align: bottom; }
/* A column is as wide as its longest word. Only a word that is longer than 26rem breaks. */
td.wide { max-width: min(26rem, 70vw); min-width: 7rem; overflow-wrap: break-word; }
td code { overflow-wrap: inherit; }
tr.all td { background: var(--card); }
section > .dim:first-of-type { margin: .2rem 0 .5rem; }
.bar { background: var(--bar); display: inline-block; height: .7em; min-width: 1px; }
.barcell { min-width: 6rem; }
.more { background: none; border: 0; color: var(--bar); cursor: pointer; padding: .1rem 0; }
.more::before { content: '\25B8\00A0'; } .more[aria-expanded=true]::before { content: '\25BE\00A0'; }
.swatch { border-radius: 3px; display: inline-block; height: .8em; margin-right: .35em;
  vertical-align: -.05em; width: .8em; }
.swatch.under { border-bottom: 3px solid var(--accent); border-radius: 0; }
.swatch.phase { background: rgb(var(--heat) / .18); border: 1px solid var(--bar); }
.legend span { max-width: 100%; overflow-wrap: anywhere; }
label[hidden] { display: none; }
#lanes { border: 1px solid var(--line); max-height: 70vh; overflow-y: auto; position: relative; }
#lanes canvas { display: block; left: 0; position: sticky; top: 0; touch-action: pan-y; }
#lanes canvas:focus-visible { outline: 2px solid var(--bar); outline-offset: -2px; }
#what { background: var(--card); border-radius: 6px; margin: .5rem 0; max-width: none;
  min-height: 1.5em; overflow-wrap: anywhere; padding: .35rem .7rem; }
.memories { display: grid; gap: .8rem 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
svg.level { background: var(--row); border: 1px solid var(--line); box-sizing: border-box;
  display: block; height: 70px; width: 100%; }
svg.level path { fill: var(--bar); stroke: none; }
svg.level line { stroke: var(--accent); vector-effect: non-scaling-stroke; }
.little { margin: .2rem 0; overflow-wrap: anywhere; }
figure { margin: 0; min-width: 0; } figcaption { overflow-wrap: anywhere; }
@media (max-width: 760px) { #advice { grid-template-columns: minmax(0, 1fr); }
  th, td { padding: .15rem .4rem; } .barcell { display: none; } }
@media print { .tools, .more, #what { display: none; } tbody[hidden] { display: table-row-group; }
  body { max-width: none; } tr, figure, .tiles > div { break-inside: avoid; } }
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
  const only = document.getElementById('only'), idle = document.getElementById('idle');
  const paint = canvas.getContext('2d');
  const kRow = 20, kAxis = 22, kFields = 6, kColors = 12;
  const total = Math.max(1, run.total);
  let from = 0, to = total, width = 0, height = 0, gutter = 170;

  // Begin, end and label of every span, and how much of the time before each was busy. In a lane
  // where several events happen at once, `counts` has their number for each span, and the name is
  // followed by the largest one.
  const made = (lane, group) => {
    const count = lane.spans.length / kFields;
    const begin = new Float64Array(count), end = new Float64Array(count);
    const busy = new Float64Array(count + 1), label = new Int32Array(count);
    const path = new Uint8Array(count), event = new Float64Array(count);
    const detail = new Int32Array(count);
    for (let i = 0, at = 0; i < count; ++i) {
      const f = i * kFields;
      begin[i] = at + lane.spans[f];
      at = end[i] = begin[i] + lane.spans[f + 1];
      label[i] = lane.spans[f + 2];
      path[i] = lane.spans[f + 3];
      event[i] = lane.spans[f + 4];
      detail[i] = lane.spans[f + 5];
      busy[i + 1] = busy[i] + end[i] - begin[i];
    }
    const many = lane.most > 1 ? ` \u00d7 ${lane.most}` : '';
    return {name: lane.name + many, share: lane.busy, idle: lane.idle === 1, most: lane.most,
            counts: lane.counts, group, count, begin, end, busy, label, path, event, detail};
  };
  const groups = run.groups.map((group, number) => ({
    title: group.title, lanes: group.lanes.map(lane => made(lane, number))}));
  // What stands in each row: the title of a group, or a lane.
  let rows = [];
  const arrange = () => {
    rows = [];
    for (const group of groups) {
      const lanes = group.lanes.filter(lane => idle.checked || !lane.idle);
      if (lanes.length > 0) rows.push({title: group.title}, ...lanes);
    }
    canvas.dataset.rows = rows.length;
  };

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
    if (time === 0) return '0';
    const [size, unit] = units.find(each => Math.abs(time) >= each[0]) || units[4];
    return +(time / size).toPrecision(4) + ' ' + unit;
  };

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // The colours are read from the style sheet for each picture.
  let colors = [];
  const color = label => colors[run.labels[label][1]];

  // All times on the axis have one unit, and the axis of the whole run begins with 0.
  function axis(scale, text, line) {
    const step = (() => {
      const raw = (to - from) * 110 / Math.max(1, width - gutter);
      const power = 10 ** Math.floor(Math.log10(raw));
      return [1, 2, 5, 10].map(f => f * power).find(f => f >= raw) || raw;
    })();
    const [size, unit] = units.find(each => to >= each[0]) || units[4];
    const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
    paint.fillStyle = text;
    paint.strokeStyle = line;
    const ticks = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = gutter + (t - from) * scale;
      const tick = t < step / 2 ? '0' : (t / size).toFixed(digits) + ' ' + unit;
      ticks.push(tick);
      paint.beginPath(); paint.moveTo(x, kAxis - 5); paint.lineTo(x, height); paint.stroke();
      if (x + 3 + paint.measureText(tick).width <= width) paint.fillText(tick, x + 3, kAxis / 2);
    }
    canvas.dataset.ticks = ticks.join('|');
  }

  // The measured phase is a tinted band with a line below the axis.
  function phase(scale) {
    if (!run.measured) return;
    const {spans} = run.measured, tint = style('--heat'), bar = style('--bar');
    for (let i = 0; i < spans.length; i += 2) {
      const x = gutter + Math.max(0, spans[i] - from) * scale;
      const end = gutter + Math.min(to - from, spans[i + 1] - from) * scale;
      if (end <= x) continue;
      paint.fillStyle = `rgb(${tint} / .12)`;
      paint.fillRect(x, kAxis, end - x, height);
      paint.fillStyle = bar;
      paint.fillRect(x, kAxis - 3, Math.max(1, end - x), 3);
    }
  }

  const widths = new Map();
  const widthOf = text => {
    if (!widths.has(text)) widths.set(text, paint.measureText(text).width);
    return widths.get(text);
  };
  // The opacity of what is not on the critical path.
  const kPale = .3;

  // Writes text that is cut at a width.
  const write = (text, x, y, wide) => {
    paint.save();
    paint.beginPath(); paint.rect(x, y - kRow, wide, 2 * kRow); paint.clip();
    paint.fillText(text, x, y);
    paint.restore();
  };

  // One lane: its spans where they can be told apart; else, for each pixel, how busy it was.
  function drawLane(lane, y, scale, accent, back) {
    let drawn = 0;
    const high = kRow - 4, pixels = width - gutter;
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
        paint.globalAlpha = only.checked && !lane.path[at] ? kPale : 1;
        const tall = part * high * (lane.counts ? lane.counts[at] / lane.most : 1);
        paint.fillRect(gutter + x, y + high - tall, 1, tall);
        ++drawn;
      }
      paint.globalAlpha = 1;
      return drawn;
    }
    // Pale bars of the same pixel would add up to a dark one, so each begins where the last ended.
    let covered = gutter;
    for (; i < lane.count && lane.begin[i] < to; ++i) {
      const pale = only.checked && !lane.path[i];
      const start = gutter + Math.max(0, lane.begin[i] - from) * scale;
      const end = gutter + Math.min(to - from, lane.end[i] - from) * scale;
      const x = pale ? Math.max(start, covered) : start;
      const wide = pale ? Math.max(start + 1, end) - x : Math.max(1, end - x);
      if (wide <= 0) continue;
      covered = Math.max(covered, x + wide);
      paint.fillStyle = color(lane.label[i]);
      paint.globalAlpha = pale ? kPale : 1;
      const tall = lane.counts ? Math.max(2, high * lane.counts[i] / lane.most) : high;
      paint.fillRect(x, y + high - tall, wide, tall);
      paint.globalAlpha = 1;
      if (only.checked && lane.path[i]) {
        paint.fillStyle = accent;
        paint.fillRect(x, y + high, wide, 2);
      }
      const shown = run.labels[lane.label[i]][0];
      if (wide > 20 && tall > 10 && widthOf(shown) <= wide - 6) {
        paint.fillStyle = pale ? style('--text') : back;
        paint.fillText(shown, x + 3, y + high / 2 + 1);
      }
      ++drawn;
    }
    return drawn;
  }

  function draw() {
    const began = performance.now();
    const ratio = devicePixelRatio || 1;
    width = box.clientWidth;
    gutter = Math.min(200, Math.max(130, Math.round(width * .32)));
    const all = kAxis + rows.length * kRow + 4;
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
    const accent = style('--accent'), dim = style('--dim'), card = style('--card');
    colors = Array.from({length: kColors}, (_, i) => style('--c' + i));
    const scale = Math.max(1, width - gutter) / (to - from);
    paint.clearRect(0, 0, width, height);
    phase(scale);
    axis(scale, dim, line);
    let drawn = 0;
    for (let row = Math.floor(box.scrollTop / kRow); row < rows.length; ++row) {
      const y = kAxis + row * kRow - box.scrollTop, one = rows[row];
      if (y > height) break;
      if (y < kAxis) continue;
      if (one.title) {
        paint.fillStyle = card;
        paint.fillRect(0, y, width, kRow - 2);
        paint.fillStyle = dim;
        write(one.title, 4, y + kRow / 2 - 1, width - 8);
        continue;
      }
      drawn += drawLane(one, y, scale, accent, back);
      paint.fillStyle = dim;
      const share = one.group === 0 ? '' : one.share > 0 && one.share < .005 ? '<1 %'
          : Math.round(100 * one.share) + ' %';
      const wide = paint.measureText(share).width;
      paint.fillText(share, gutter - 8 - wide, y + kRow / 2 - 1);
      paint.fillStyle = text;
      write(one.name, 8, y + kRow / 2 - 1, gutter - 20 - wide);
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
  const partOf = x => Math.min(1, Math.max(0, (x - gutter) / Math.max(1, width - gutter)));

  const spanAt = event => {
    const row = Math.floor((event.offsetY + box.scrollTop - kAxis) / kRow);
    if (row < 0 || row >= rows.length || rows[row].title || event.offsetX < gutter) return null;
    const time = from + (to - from) * partOf(event.offsetX);
    const lane = rows[row];
    const slack = 2 * (to - from) / Math.max(1, width - gutter);
    const i = first(lane, time - slack);
    return i < lane.count && lane.begin[i] <= time + slack ? {lane, i} : null;
  };
  // The point of a task, or where a copy goes from and to, and its bytes.
  const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const bytes = number => {
    let i = 0;
    for (; Math.abs(number) >= 1024 && i + 1 < sizes.length; ++i) number /= 1024;
    return +number.toPrecision(3) + ' ' + sizes[i];
  };
  const detail = number => {
    if (number < 0) return '';
    const found = run.details[number];
    if (typeof found === 'string') return ', point ' + found;
    const memory = at => at < 0 ? '?' : run.memories[at];
    return ` from ${memory(found[0])} to ${memory(found[1])}, ${bytes(found[2])}`;
  };
  const tell = found => {
    if (!found) return;
    const {lane, i} = found;
    what.textContent = `${run.labels[lane.label[i]][0]}${detail(lane.detail[i])}, ${lane.name}: ` +
        `${words(lane.end[i] - lane.begin[i])} from ${words(lane.begin[i])}` +
        (lane.counts && lane.counts[i] > 1 ? `, with ${lane.counts[i] - 1} more at once` : '') +
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
    pan((held - event.offsetX) / Math.max(1, width - gutter));
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
      pan((event.deltaX || event.deltaY) / Math.max(1, width - gutter));
    }
  }, {passive: false});
  const keys = {
    ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2), '+': () => zoom(.5, .5),
    '=': () => zoom(.5, .5), '-': () => zoom(2, .5), Home: () => show(0, total),
    m: () => {
      if (run.measured) show(run.measured.spans[0], Math.max(...run.measured.spans));
    },
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
  idle.addEventListener('change', () => { arrange(); redraw(); });
  for (const button of document.querySelectorAll('.more')) {
    button.addEventListener('click', () => {
      const rest = button.closest('tbody').nextElementSibling;
      rest.hidden = !rest.hidden;
      button.setAttribute('aria-expanded', !rest.hidden);
    });
  }
  box.addEventListener('scroll', redraw);
  dark.addEventListener('change', redraw);
  new ResizeObserver(redraw).observe(box);
  addEventListener('resize', redraw);
  arrange();
  draw();
})();
)js";
}

}  // namespace groma::profile
