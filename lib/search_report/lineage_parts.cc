// The style sheet and the script of the family tree on the page of a search.
#include "search_report/sections.h"

namespace groma::tuning {

// The colours of values become paler from the best fifth to the worst.
std::string_view lineage_style() {
  return R"css(
:root { --v0: #14692d; --v1: #3f9256; --v2: #82b98f; --v3: #bcd8c2; --v4: #eaf2ec; --rim: #6f7f74; }
@media (prefers-color-scheme: dark) { :root { --v0: #7ee69a; --v1: #4fae6b; --v2: #377d4c;
  --v3: #285337; --v4: #1d3226; --rim: #7d8c82; } }
.tree { border: 1px solid var(--line); max-height: 38rem; overflow: auto; }
.tree svg { cursor: crosshair; display: block; }
.tree a { text-decoration: none; }
.kin { fill: none; stroke: var(--dim); stroke-opacity: .55; stroke-width: 1.2; }
.kin.gap { stroke-dasharray: 1.5 4; stroke-linecap: round; stroke-opacity: .9; stroke-width: 2; }
.kin.other { stroke: var(--bar); stroke-dasharray: 5 4; stroke-opacity: .6; }
.kin.line { stroke: var(--good); stroke-opacity: 1; stroke-width: 4; }
.kids { fill: var(--card); stroke: var(--line); }
.tree circle { stroke: var(--rim); stroke-width: 1; }
.tree .v0 { fill: var(--v0); } .tree .v1 { fill: var(--v1); } .tree .v2 { fill: var(--v2); }
.tree .v3 { fill: var(--v3); } .tree .v4 { fill: var(--v4); }
.tree circle.top { stroke: var(--text); stroke-width: 2.5; }
.tree circle.first { stroke: var(--bar); stroke-width: 2.5; }
.tree .bad { fill: none; stroke: var(--accent); stroke-linecap: round; stroke-width: 2.2; }
.tree text { fill: var(--text); font-size: 12px; font-variant-numeric: tabular-nums;
  text-anchor: end; }
.tree .at { fill: var(--dim); }
#kin-line, #kin-other { fill: none; pointer-events: none; stroke: var(--bar); stroke-width: 3; }
#kin-other { stroke-dasharray: 5 4; stroke-width: 2; }
.tree #kin-mark { fill: none; pointer-events: none; stroke: var(--text); stroke-width: 2; }
.scale i { border: 1px solid var(--rim); display: inline-block; height: .7rem; margin: 0 1px;
  width: .9rem; } .scale i:first-of-type { margin-left: .4rem; }
.scale i:last-of-type { margin-right: .4rem; }
.scale .v0 { background: var(--v0); } .scale .v1 { background: var(--v1); }
.scale .v2 { background: var(--v2); } .scale .v3 { background: var(--v3); }
.scale .v4 { background: var(--v4); }
.ring::before { border: 3px solid var(--text); border-radius: 50%; content: '';
  display: inline-block; height: .5rem; margin-right: .4rem; width: .5rem; }
.ring.first::before { border-color: var(--bar); }
.cross::before { color: var(--accent); content: '\2715'; font-weight: 700; margin-right: .3rem; }
#kin { background: var(--card); border-radius: 6px; margin: .5rem 0; max-width: none;
  min-height: 1.5em; overflow-wrap: anywhere; padding: .35rem .7rem; }
.descent ol { list-style: none; margin: .3rem 0; padding: 0; }
.descent li { border-bottom: 1px solid var(--line); display: grid; gap: 0 1rem;
  grid-template-columns: 5.5rem 7rem 5rem minmax(0, 1fr); padding: .2rem .4rem; }
.descent li.dim { display: block; }
.descent b, .descent span:nth-child(3) { font-variant-numeric: tabular-nums; text-align: right;
  white-space: nowrap; }
.descent span:nth-child(3) { color: var(--dim); }
.from { color: var(--dim); font-size: .85rem; white-space: nowrap; }
@media (max-width: 760px) { .descent li { grid-template-columns: 5.5rem 6rem minmax(0, 1fr); }
  .descent li span:last-child { grid-column: 1 / -1; } .tree { max-height: 28rem; } }
@media print { .tree { max-height: none; overflow: visible; }
  .tree svg { height: auto; max-width: 100%; } #kin, #kin-mark, #kin-line, #kin-other {
  display: none; } }
)css";
}

// A point is [number, x, y, parent, sentence, further parents...], parents by their index.
std::string_view lineage_script() {
  return R"js(
'use strict';
(() => {
  const byId = id => document.getElementById(id);
  const tree = byId('tree');
  if (!tree) return;
  const points = JSON.parse(byId('tree-data').textContent), svg = tree.querySelector('svg');
  const mark = byId('kin-mark'), line = byId('kin-line'), other = byId('kin-other');
  // The line under the tree takes the place of the browser's own hints.
  for (const title of svg.querySelectorAll('title')) title.remove();
  const children = points.map(() => []);
  points.forEach((point, i) => { if (point[3] >= 0) children[point[3]].push(i); });
  let shown = -1;

  const show = i => {
    if (i < 0 || i >= points.length) return;
    shown = i;
    const [, x, y, , sentence, ...others] = points[i];
    byId('kin').textContent = sentence;
    mark.setAttribute('cx', x);
    mark.setAttribute('cy', y);
    mark.setAttribute('visibility', 'visible');
    let path = '';
    for (let at = i; points[at][3] >= 0; at = points[at][3]) {
      const [, fromX, fromY] = points[points[at][3]], [, toX, toY] = points[at];
      path += `M${fromX} ${fromY}V${toY - 19}H${toX}V${toY}`;
    }
    line.setAttribute('d', path);
    other.setAttribute('d', others.map(from => `M${points[from][1]} ${points[from][2]}L${x} ${y}`)
        .join(''));
  };
  const scrollTo = i => {
    const [, x, y] = points[i], edge = 40;
    tree.scrollLeft = Math.min(Math.max(tree.scrollLeft, x + edge - tree.clientWidth), x - edge);
    tree.scrollTop = Math.min(Math.max(tree.scrollTop, y + edge - tree.clientHeight), y - edge);
  };
  const open = () => {
    const step = shown < 0 ? null : byId('step-' + points[shown][0]);
    if (!step) return;
    const only = byId('only');
    if (only && only.checked && !step.matches('.better, .start')) only.click();
    step.open = true;
    step.scrollIntoView({block: 'center'});
  };
  // The nearest point within reach of a finger; -1 if there is none.
  const nearest = event => {
    const box = svg.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = 18 * 18;
    points.forEach((point, i) => {
      const distance = (point[1] - x) ** 2 + (point[2] - y) ** 2;
      if (distance < least) { least = distance; best = i; }
    });
    return best;
  };
  svg.addEventListener('pointermove', event => show(nearest(event)));
  // The first tap of a finger tells about a step, the second one opens it.
  let before = -1;
  svg.addEventListener('pointerdown', event => {
    before = event.pointerType === 'touch' ? shown : nearest(event);
  });
  svg.addEventListener('click', event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const at = nearest(event);
    if (at < 0) return;
    show(at);
    if (at === before) open();
  });
  const start = () => Math.max(0, points.findIndex(point => point[3] < 0));
  tree.addEventListener('focus', () => { if (shown < 0) show(start()); });
  // The neighbour in a direction: the nearest point of the same row.
  const beside = sign => {
    let best = shown, least = Infinity;
    points.forEach((point, i) => {
      const distance = sign * (point[1] - points[shown][1]);
      if (point[2] === points[shown][2] && distance > 0 && distance < least) {
        least = distance;
        best = i;
      }
    });
    return best;
  };
  const keys = {
    ArrowUp: () => points[shown][3], ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
    ArrowDown: () => children[shown].length === 0 ? shown
        : children[shown].reduce((a, b) => points[b][1] < points[a][1] ? b : a),
    Home: start,
  };
  tree.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const go = keys[event.key];
    if (!go && event.key !== 'Enter') return;
    event.preventDefault();
    if (!go) { open(); return; }
    if (shown < 0) show(start()); else show(go());
    scrollTo(shown);
  });
})();
)js";
}

}  // namespace groma::tuning
