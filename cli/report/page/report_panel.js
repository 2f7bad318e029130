// SPDX-License-Identifier: Apache-2.0
// The panel beside the graph: all facts about the chosen box or group.
'use strict';

function rowsOf(rows) {
  return el('dl', null, rows.filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => [el('dt', null, name), el('dd', {class: 'number'}, value)]));
}

function listOf(title, items) {
  return items.length ? [el('h4', null, title), el('ul', null, items.map(item => el('li', null, item)))] : [];
}

function tensorItem(tensor) {
  const text = `${typeText(tensor.dtype)} ${shapeText(tensor.shape)}${tensor.max ? ' at most' : ''}${tensor.constant ? ', constant' : ''}`;
  return [tensor.arg ? el('span', {class: 'muted'}, `${tensor.arg} `) : null, el('code', null, tensor.name), el('br'),
          el('span', {class: 'muted number'}, text)];
}

function valueText(value) {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

// Buttons that open the subgraphs which an operator runs.
function bodyList(box, open) {
  return listOf('Subgraphs', (box.bodies || []).map(name => el('button', {type: 'button', class: 'link', 'data-body': name, on: {click: () => open(name)}},
                                                              el('span', null, '▸ ', name))));
}

function operatorPanel(model, box, open) {
  const isRun = isTimed(box), rate = rateOf(box);
  const settings = Object.entries(box.params || {}).filter(([, value]) => value !== null && value !== '');
  return [
    el('h3', null, labelOf(box)),
    el('p', {class: 'muted'}, el('code', null, box.name)),
    rowsOf([
      ['time', isRun ? `${msText(box.ms)}, ${percentText(box.share)} of the run` : null],
      ['speed', isRun && rate ? `${withPrefix(rate, 'FLOP/s')}, ${percentText(rate / peakOf(model, box))} of the peak` : null],
      ['memory', isRun ? `${bytesText(box.bytes)} read and written, ${withPrefix(bandwidthOf(box), 'B/s')}` : null],
      ['error', box.error === undefined ? null : errorText(box)],
      ['output', box.outputs[0] ? `${shapeText(box.outputs[0].shape)} ${typeText(box.outputs[0].dtype)}` : null],
      ['kernel', box.type], ['algorithm', box.algorithm], ['layout', box.layout],
      ['rule', box.rule], ['operator', box.operator],
      ['parameters', box.parameters ? countText(box.parameters) : null],
      ['work', box.macs ? `${withPrefix(flopsOf(box), 'FLOP')}` : null],
      ['scratch', box.scratch ? bytesText(box.scratch) : null],
    ]),
    bodyList(box, open),
    listOf(`Nodes of the model (${box.more_nodes ? 'at least ' : ''}${box.nodes.length})`, box.nodes.map(node => [node.type, ' ', el('code', {class: 'muted'}, node.name)])),
    listOf('Inputs', box.inputs.map(tensorItem)),
    listOf('Outputs', box.outputs.map(tensorItem)),
    listOf('Rules that were not applied', (box.refused || []).map(({rule, why}) => [el('code', null, rule), el('br'), el('span', {class: 'muted'}, why)])),
    listOf('Settings', settings.map(([name, value]) => [el('span', {class: 'muted'}, `${name} `), el('code', null, valueText(value))])),
  ];
}

const UNREAD = 'No operator reads the values of this input, as no output depends on them. Nodes of the model that do read it are left out: a mask of one sequence without padding, for example, masks nothing.';

function portPanel(box) {
  return [el('h3', null, `${box.label} ${box.name}`), box.isUnread ? el('p', null, UNREAD) : null,
          rowsOf([['type', typeText(box.outputs[0].dtype)], ['shape', shapeText(box.outputs[0].shape)]])];
}

function groupPanel(node, pick) {
  const first = isRepeat(node) ? firstCopyOf(node) : node, shown = first.group ? first : node;
  return [
    el('h3', null, node.title),
    rowsOf([['operators', countText(node.operators)], ['time', node.ms ? `${msText(node.ms)}, ${percentText(node.share)} of the run` : null],
            ['parameters', countText(node.boxes.reduce((sum, box) => sum + (box.parameters || 0), 0))]]),
    operatorList(shown === node ? 'Operators' : 'Operators of the first', shown.boxes.filter(box => box.what === 'op').slice(0, 60), pick),
  ];
}

function emptyPanel(model, pick) {
  const longest = [...model.graphs.compiled.timed].sort((a, b) => b.ms - a.ms).slice(0, 8);
  return [el('p', {class: 'muted'}, 'Choose a box to see its shapes, kernel, time and nodes. Boxes with ▸ open: they hold blocks that repeat, or run subgraphs, which open from here.'),
          operatorList('Longest operators', longest, pick)].flat();
}

function operatorList(title, boxes, pick) {
  return listOf(title, boxes.map(box => el('button', {type: 'button', class: 'link', on: {click: () => pick(box)}},
    el('span', null, box.label, ' ', el('span', {class: 'muted'}, box.name)), el('span', {class: 'muted number'}, isTimed(box) ? msText(box.ms) : ''))));
}

function panelOf(model, node, pick, open) {
  if (node.group) return groupPanel(node, pick);
  return node.box.what === 'op' ? operatorPanel(model, node.box, open) : portPanel(node.box);
}
