// SPDX-License-Identifier: Apache-2.0
// The time of each operator: by kind, as a time line, and as bars.
'use strict';

function legendOf(kinds) {
  return el('div', {class: 'legend'}, kinds.map(({kind, ms}) => el('span', {color: colorOf(kind)}, el('i'), KINDS[kind] || kind,
    ms === undefined ? null : el('span', {class: 'number'}, msText(ms)))));
}

const MAX_DIVIDED = 60; // operators with lines between them

// A strip of operators in the order of the run, as wide as their times.
function timeLine(page, model) {
  const {timed} = model.graphs.compiled;
  return el('div', {class: timed.length > MAX_DIVIDED ? 'stack dense' : 'stack', role: 'group', 'aria-label': 'time line'}, timed.filter(box => box.ms > 0).map(box => page.linked(box, withTip(
    el('button', {type: 'button', color: colorOf(box.kind), style: {'flex-grow': box.ms * 1e6}, 'aria-label': `${box.label} ${box.name}`, tabindex: -1,
                  on: {click: () => page.pick(model, box)}}), () => describeBox(model, box)))));
}

function barRow(page, model, box, max) {
  return page.linked(box, withTip(el('button', {type: 'button', class: 'row', color: colorOf(box.kind), on: {click: () => page.pick(model, box)}},
    nameOf(box),
    el('span', {class: 'track'}, el('i', {style: {width: `${100 * box.ms / max}%`}})),
    el('span', {class: 'value'}, msText(box.ms)), el('span', {class: 'value muted'}, percentText(box.share))), () => describeBox(model, box)));
}

// Of a median that is much longer than the shortest run, or where all runs are, than the operators together.
function busyText({times, graphs}) {
  const {ms} = graphs.compiled, BUSY = 1.5;
  const [name, least] = times.min > BUSY * ms ? ['operators together', ms] : ['shortest run', times.min];
  return least > 0 && times.median > BUSY * least ? ` The median is ${digits(times.median / least, 2)} times the ${name}: something else probably used the machine.` : '';
}

function timesSection(page, model) {
  const graph = model.graphs.compiled;
  const max = maxOf(graph.timed.map(box => box.ms), 1e-9);
  const orders = {longest: ['Longest first', [...graph.timed].sort((a, b) => b.ms - a.ms)], run: ['In order', graph.timed]};
  const {controls, list} = rowList(orders, box => barRow(page, model, box, max));
  return sectionOf('times', 'Time per operator', controls, legendOf(timesByKind(graph)),
    el('h3', {class: 'spaced'}, 'Time line of a run'), timeLine(page, model), list,
    el('p', {class: 'note'}, `The shortest time of each operator in several runs: together ${msText(graph.ms)}. A run takes ${msText(model.times.median)} (median).${busyText(model)}`));
}
