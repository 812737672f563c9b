// The style sheet and the script of the page of a search. They are the same for every search, and
// load nothing from elsewhere.
#include "search_report/sections.h"

namespace groma::tuning {

// Colours that the common style sheet does not have: added and removed lines, and improvements.
std::string_view search_page_style() {
  return R"css(
:root { --good: #1a7f37; --add: #e2f4e6; --del: #fbe6e4; }
@media (prefers-color-scheme: dark) { :root { --good: #5fd07f; --add: #16341f; --del: #43201d; } }
.notes { background: var(--card); border-left: 4px solid var(--bar); margin: 1rem 0;
  padding: .6rem 1rem .6rem 2rem; }
.notes li { overflow-wrap: anywhere; }
.decisions { max-height: 38rem; overflow-y: auto; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  font-size: .83rem; line-height: 1.45; margin: .3rem 0 .8rem; max-height: 34rem; overflow: auto;
  padding: .5rem .7rem; }
.prompt, .reply { white-space: pre-wrap; overflow-wrap: anywhere; }
header pre { white-space: pre-wrap; overflow-wrap: anywhere; } pre.code { padding: .4rem 0; }
.code span { display: block; min-width: max-content; padding-right: .7rem; }
.code i { color: var(--dim); display: inline-block; font-style: normal; padding-right: .6rem;
  text-align: right; user-select: none; width: 2.6rem; }
.code b { display: inline-block; user-select: none; width: 1.1rem; }
.code .add, .sides .add { background: var(--add); } .code .add b { color: var(--good); }
.code .del, .sides .del { background: var(--del); } .code .del b { color: var(--accent); }
.code .gap { color: var(--dim); padding-left: 3.3rem; }
.code span:target { outline: 2px solid var(--bar); outline-offset: -2px; }
.chart { display: grid; grid-template-columns: 5.2rem minmax(0, 1fr); }
.ys { position: relative; } .ys span { color: var(--dim); font-size: .8rem; position: absolute;
  right: .5rem; transform: translateY(-50%); white-space: nowrap; }
.ys .bad { color: var(--accent); }
.plot { border: 1px solid var(--line); cursor: crosshair; height: 300px; position: relative; }
.plot svg { display: block; height: 100%; width: 100%; }
.plot path { fill: none; stroke-linecap: round; vector-effect: non-scaling-stroke; }
path.grid { stroke: var(--line); stroke-width: 1; opacity: .7; }
path.valid { stroke: var(--dim); stroke-width: 5; opacity: .65; }
path.better { stroke: var(--good); stroke-width: 9; }
path.start { stroke: var(--bar); stroke-width: 9; }
path.best { stroke: var(--good); stroke-width: 1.5; }
path.failed { stroke: var(--accent); stroke-linecap: square !important; stroke-width: 4; }
#mark { border: 2px solid var(--text); border-radius: 50%; height: 12px; margin: -8px;
  pointer-events: none; position: absolute; width: 12px; }
.xs { color: var(--dim); display: flex; font-size: .8rem; grid-column: 2;
  justify-content: space-between; }
.key::before { border-radius: 50%; content: ''; display: inline-block; height: .6rem;
  margin-right: .4rem; width: .6rem; }
.key.start::before { background: var(--bar); }
.key.valid::before { background: var(--dim); } .key.better::before { background: var(--good); }
.key.failed::before { background: var(--accent); border-radius: 0; }
#point { background: var(--card); border-radius: 6px; margin: .5rem 0; max-width: none;
  min-height: 1.5em; overflow-wrap: anywhere; padding: .35rem .7rem; }
.list { border-top: 1px solid var(--line); }
.step { border-bottom: 1px solid var(--line); margin: 0; }
.step > summary { display: grid; gap: 0 1rem; grid-template-columns: 3rem 7rem minmax(0, 1fr);
  padding: .3rem .4rem; }
.causes .step > summary { grid-template-columns: 3rem 7rem minmax(0, 3fr) minmax(0, 2fr); }
.step > summary::before { content: none; } .step > summary:hover { background: var(--row); }
.step[open] > summary { background: var(--row); }
.no { color: var(--dim); font-variant-numeric: tabular-nums; text-align: right; }
.no::before { content: '\25B8\00A0'; } .step[open] .no::before { content: '\25BE\00A0'; }
.result { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.step.better .result { color: var(--good); font-weight: 600; }
.step.failed .result { color: var(--accent); }
.change, .cause { overflow-wrap: anywhere; } .cause { color: var(--dim); }
.only .step:not(.better, .start) { display: none; }
.columns-head { display: grid; gap: 0 1rem; grid-template-columns: 3rem 7rem minmax(0, 1fr);
  border-bottom: 1px solid var(--line); padding: 0 .4rem; }
.causes .columns-head { grid-template-columns: 3rem 7rem minmax(0, 3fr) minmax(0, 2fr); }
.columns-head button { background: none; border: 0; color: var(--dim); cursor: pointer;
  font-size: .9rem; padding: .3rem 0; text-align: left; white-space: nowrap; }
.columns-head button:nth-child(2) { text-align: right; }
.columns-head button[aria-pressed=true] { color: var(--text); font-weight: 600; }
.columns-head button[aria-pressed=true]::after { content: ' \25B4'; }
.columns-head.down button[aria-pressed=true]::after { content: ' \25BE'; }
.columns-head button:first-child { min-width: max-content; }
.columns-head:not(.sorts) { pointer-events: none; }
.body { padding: .2rem .4rem 1rem 3.6rem; } .said { overflow-wrap: anywhere; }
select { font: inherit; max-width: 100%; } .compare label { max-width: 100%; min-width: 0; }
.sides { border: 1px solid var(--line); border-collapse: collapse; border-radius: 6px;
  font: .83rem/1.45 ui-monospace, monospace; table-layout: fixed; width: 100%; }
.sides td { overflow-wrap: anywhere; padding: 0 .5rem; vertical-align: top;
  white-space: pre-wrap; }
.sides td:nth-child(2):not(:last-child) { border-left: 1px solid var(--line); }
.sides .none { background: var(--row); }
@media (max-width: 760px) { .body { padding-left: .4rem; }
  .chart { grid-template-columns: 4.2rem minmax(0, 1fr); } .plot { height: 220px; }
  .step > summary, .causes .step > summary { grid-template-columns: 3rem minmax(0, 1fr); }
  .result { text-align: left; } .change, .cause { grid-column: 2; }
  .columns-head, .causes .columns-head { display: flex; flex-wrap: wrap; gap: 0 1.2rem; } }
@media print { .tools, .columns-head button::after, #point, #mark, .compare { display: none; } body { max-width: none; }
  .decisions, pre { max-height: none; }
  pre { white-space: pre-wrap; } .code span { min-width: 0; }
  .step, .tiles > div { break-inside: avoid; } }
)css";
}

// The script needs no library. Foreign texts reach the page only by textContent.
std::string_view search_page_script() {
  return R"js(
'use strict';
(() => {
  const byId = id => document.getElementById(id);
  const read = id => byId(id) ? JSON.parse(byId(id).textContent) : null;

  // A link to a step opens the step.
  const openTarget = () => {
    const target = /^#step-\d+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
    if (target) { target.open = true; target.scrollIntoView(); }
  };
  addEventListener('hashchange', openTarget);
  openTarget();

  // The chart: the nearest step is marked and described in one line. A point is
  // [number, x, y, result, change], with x of 1000 and y of 300.
  const points = read('chart-data'), plot = byId('plot');
  if (points && points.length > 0) {
    const mark = byId('mark'), line = byId('point');
    let shown = -1;
    const show = at => {
      shown = Math.min(points.length - 1, Math.max(0, at));
      const [number, x, y, result, change] = points[shown];
      mark.hidden = false;
      mark.style.left = x / 10 + '%';
      mark.style.top = y / 3 + '%';
      line.textContent = `Step ${number}: ${result}` + (change ? ` \u2014 ${change}` : '');
    };
    const nearest = x => {
      let low = 0, high = points.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (points[middle][1] < x) low = middle + 1; else high = middle;
      }
      return low > 0 && x - points[low - 1][1] < points[low][1] - x ? low - 1 : low;
    };
    const open = () => {
      const step = shown < 0 ? null : byId('step-' + points[shown][0]);
      if (step) { step.open = true; step.scrollIntoView({block: 'center'}); }
    };
    const at = event => {
      const box = plot.getBoundingClientRect();
      return nearest((event.clientX - box.left) / Math.max(1, box.width) * 1000);
    };
    plot.addEventListener('pointermove', event => show(at(event)));
    plot.addEventListener('click', event => { show(at(event)); open(); });
    plot.addEventListener('focus', () => { if (shown < 0) show(points.length - 1); });
    const keys = {ArrowLeft: () => show(shown - 1), ArrowRight: () => show(shown + 1),
                  Home: () => show(0), End: () => show(points.length - 1), Enter: open};
    plot.addEventListener('keydown', event => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  // The list of steps: sorted by one of its columns; a second click turns the order.
  const list = byId('list'), sort = byId('sort');
  if (list && sort) {
    byId('filter').hidden = false;
    sort.classList.add('sorts');
    const text = (step, name) => {
      const found = step.querySelector('.' + name);
      return found ? found.textContent : '';
    };
    const keyOf = {
      number: step => Number(step.dataset.at),
      value: step => step.dataset.value === '' ? Infinity : Number(step.dataset.value),
      change: step => text(step, 'change'), cause: step => text(step, 'cause'),
    };
    const buttons = [...sort.querySelectorAll('button')];
    let by = 'number', down = false;
    for (const button of buttons) {
      button.addEventListener('click', () => {
        down = by === button.dataset.key && !down;
        by = button.dataset.key;
        sort.classList.toggle('down', down);
        for (const each of buttons) each.setAttribute('aria-pressed', each === button);
        const rows = [...list.children].map(step => [keyOf[by](step), step]);
        rows.sort(([a, one], [b, other]) => {
          const order = a < b ? -1 : a > b ? 1 : keyOf.number(one) - keyOf.number(other);
          return down ? -order : order;
        });
        list.append(...rows.map(row => row[1]));
      });
    }
    byId('only').addEventListener('change', event => {
      list.classList.toggle('only', event.target.checked);
    });
  }

  // The comparison of two texts, line by line.
  const texts = read('texts'), sides = byId('sides');
  if (texts && sides) {
    const left = byId('left'), right = byId('right'), chosen = byId('chosen').dataset;
    for (const select of [left, right]) {
      texts.forEach(([name], i) => select.add(new Option(name, i)));
      select.addEventListener('change', () => compare());
    }
    left.value = chosen.left;
    right.value = chosen.right;
    const linesOf = text => text === '' ? [] : text.replace(/\n$/, '').split('\n');

    // Pairs of lines: [left or null, right or null]. Without time for the longest common part, the
    // lines between the common beginning and end are all different.
    const pairsOf = (a, b) => {
      let begin = 0, endA = a.length, endB = b.length;
      while (begin < endA && begin < endB && a[begin] === b[begin]) ++begin;
      while (endA > begin && endB > begin && a[endA - 1] === b[endB - 1]) { --endA; --endB; }
      const pairs = a.slice(0, begin).map(line => [line, line]);
      const n = endA - begin, m = endB - begin;
      let removed = [], added = [];
      const flush = () => {
        for (let i = 0; i < Math.max(removed.length, added.length); ++i) {
          pairs.push([i < removed.length ? removed[i] : null, i < added.length ? added[i] : null]);
        }
        removed = []; added = [];
      };
      if (n * m > 4e6) {
        removed = a.slice(begin, endA); added = b.slice(begin, endB);
      } else {
        const common = new Uint32Array((n + 1) * (m + 1));
        for (let i = n - 1; i >= 0; --i) {
          for (let j = m - 1; j >= 0; --j) {
            common[i * (m + 1) + j] = a[begin + i] === b[begin + j]
                ? common[(i + 1) * (m + 1) + j + 1] + 1
                : Math.max(common[(i + 1) * (m + 1) + j], common[i * (m + 1) + j + 1]);
          }
        }
        for (let i = 0, j = 0; i < n || j < m;) {
          if (i < n && j < m && a[begin + i] === b[begin + j]) {
            flush();
            pairs.push([a[begin + i++], b[begin + j++]]);
          } else if (j === m || (i < n &&
              common[(i + 1) * (m + 1) + j] >= common[i * (m + 1) + j + 1])) {
            removed.push(a[begin + i++]);
          } else {
            added.push(b[begin + j++]);
          }
        }
      }
      flush();
      for (let i = endA; i < a.length; ++i) pairs.push([a[i], a[i]]);
      return pairs;
    };

    const cell = (row, text, kind) => {
      const made = row.insertCell();
      made.textContent = text === null ? '' : text || ' ';
      made.className = kind;
    };
    function compare() {
      const pairs = pairsOf(linesOf(texts[left.value][1]), linesOf(texts[right.value][1]));
      const table = document.createElement('table');
      table.className = 'sides';
      const narrow = sides.clientWidth < 640;
      for (const [a, b] of pairs) {
        if (a === b || !narrow) {
          const row = table.insertRow();
          cell(row, a, a === b ? '' : a === null ? 'none' : 'del');
          if (!narrow) cell(row, b, a === b ? '' : b === null ? 'none' : 'add');
        } else {
          if (a !== null) cell(table.insertRow(), '- ' + a, 'del');
          if (b !== null) cell(table.insertRow(), '+ ' + b, 'add');
        }
      }
      const line = document.createElement('p');
      line.className = 'dim';
      const changed = pairs.filter(([a, b]) => a !== b).length;
      line.textContent = pairs.length === 0 ? 'Both texts are empty: the default mapper decides.'
          : changed === 0 ? 'Both texts are the same.'
          : `${changed} of ${pairs.length} lines differ.`;
      sides.replaceChildren(line, table);
    }
    compare();
    // A link to #compare-A-B shows step A beside step B.
    const openComparison = () => {
      const numbers = /^#compare-(\d+)-(\d+)$/.exec(location.hash);
      if (!numbers) return;
      const [from, to] = numbers.slice(1).map(
          number => texts.findIndex(text => text[2] === Number(number)));
      if (from < 0 || to < 0) return;
      left.value = from;
      right.value = to;
      compare();
      byId('compare').scrollIntoView();
    };
    addEventListener('hashchange', openComparison);
    openComparison();
    let width = innerWidth;
    addEventListener('resize', () => { if (width !== innerWidth) { width = innerWidth; compare(); } });
  }
})();
)js";
}

}  // namespace groma::tuning
