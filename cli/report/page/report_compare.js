// SPDX-License-Identifier: Apache-2.0
// Two models side by side: the times of operators that compute the same nodes.
'use strict';

// Operators of both models that share nodes, directly or through others, form a row: [{label, name, boxes: [[..], [..]], ms: [a, b]}].
// Nodes are equal if their names are; operators without named nodes are compared by their own names.
function matched(models) {
  const parent = new Map(), owners = new Map();
  const find = key => {
    while (parent.get(key) !== key) key = parent.get(key);
    return key;
  };
  const keysOf = box => {
    const names = (box.nodes || []).map(node => node.name).filter(name => name);
    return names.length ? names.map(name => `node ${name}`) : [`operator ${box.operator}`];
  };
  models.forEach((model, side) => model.graphs.compiled.timed.forEach(box => {
    const keys = keysOf(box);
    for (const key of keys) if (!parent.has(key)) parent.set(key, key);
    for (const key of keys) parent.set(find(key), find(keys[0]));
    owners.set(`${side} ${box.index}`, {side, box, key: keys[0]});
  }));
  const rows = new Map();
  for (const {side, box, key} of owners.values()) {
    const root = find(key);
    if (!rows.has(root)) rows.set(root, {boxes: [[], []], ms: [0, 0]});
    rows.get(root).boxes[side].push(box);
    rows.get(root).ms[side] += box.ms;
  }
  return [...rows.values()].map(row => {
    const box = [...row.boxes[0], ...row.boxes[1]].reduce((best, other) => other.ms > best.ms ? other : best);
    return {...row, label: box.label, name: box.name, box};
  });
}

const LETTERS = ['A', 'B'], SIDES = ['var(--a)', 'var(--b)'];

function legendOfModels(models) {
  return el('div', {class: 'legend'}, models.map((model, i) => el('span', {color: SIDES[i]}, el('i'), `${LETTERS[i]} ${model.name}`)));
}

function compareRow(page, models, row, max) {
  const sides = row.ms.map((ms, side) => `${LETTERS[side]}: ${row.boxes[side].length ? `${msText(ms)}, ${row.boxes[side].map(box => box.label).join('; ')}` : 'no operator'}`);
  const times = row.ms.map((ms, side) => row.boxes[side].length ? msText(ms) : '-');
  const ratio = row.ms[0] > 0 && row.ms[1] > 0 ? `${ratioText(row.ms[1] / row.ms[0])} ×` : '';
  const side = row.boxes[0].length ? 0 : 1;
  return withTip(el('button', {type: 'button', class: 'row pair', on: {click: () => page.pick(models[side], row.boxes[side][0])}},
    nameOf(row),
    el('span', {class: 'track'}, row.ms.map((ms, i) => el('i', {color: SIDES[i], style: {width: `${100 * ms / max}%`}}))),
    el('span', {class: 'value'}, times[0], el('br'), times[1]), el('span', {class: 'value muted'}, ratio)), () => sides.join('\n'));
}

// Of B, from the times of runs.
function speedText(a, b) {
  const ratio = Math.max(a, b) / Math.min(a, b);
  return ratio < 1.005 ? 'equally fast' : `B is ${digits(ratio, 3)} times as ${b > a ? 'slow' : 'fast'}`;
}

function compareSection(page, models) {
  const rows = matched(models), max = maxOf(rows.flatMap(row => row.ms), 1e-9);
  const orders = {
    difference: ['Largest difference', [...rows].sort((a, b) => Math.abs(b.ms[1] - b.ms[0]) - Math.abs(a.ms[1] - a.ms[0]))],
    longest: ['Longest', [...rows].sort((a, b) => maxOf(b.ms) - maxOf(a.ms))], run: ['In order', rows],
  };
  const {controls, list} = rowList(orders, row => compareRow(page, models, row, max));
  const [a, b] = models.map(model => model.times.median);
  return sectionOf('compare', 'Comparison', controls,
    el('p', null, models.map((model, i) => [i ? ', ' : '', el('b', null, `${LETTERS[i]} `), `${model.name} ${msText(model.times.median)}`]).flat(),
      `: ${speedText(a, b)}.`),
    legendOfModels(models), list, el('p', {class: 'note'}, 'Operators that compute the same nodes of the model share a row. The last column is B divided by A.'));
}
