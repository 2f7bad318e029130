// SPDX-License-Identifier: Apache-2.0
// The data of the page: models with their graphs, and figures derived from them.
'use strict';

const KINDS = {
  convolution: 'convolution', product: 'matrix product', attention: 'attention, recurrence',
  normalization: 'normalization, softmax', reduction: 'pooling, reduction, resizing', elementwise: 'element-wise',
  movement: 'data movement', quantization: 'quantization', other: 'other',
};

// The operations per second of the arithmetic that the operator uses.
function peakOf(model, box) {
  const peaks = model.machine.peaks;
  return peaks[box.algorithm] || peaks.float32;
}

const flopsOf = box => 2 * (box.macs || 0);
const rateOf = box => box.ms > 0 ? flopsOf(box) / (box.ms * 1e-3) : 0; // operations per second
const bandwidthOf = box => box.ms > 0 ? box.bytes / (box.ms * 1e-3) : 0; // bytes per second
const labelOf = box => box.bodies ? `▸ ${box.label}` : box.label; // with subgraphs to open
const isTimed = box => box.ms !== undefined;

function prepareGraph(graph) {
  graph.boxes.forEach((box, index) => {
    box.index = index;
    box.graph = graph;
    box.ms = box.ms === undefined ? undefined : Number(box.ms);
  });
  graph.timed = graph.boxes.filter(isTimed);
  graph.ms = graph.timed.reduce((sum, box) => sum + box.ms, 0);
  graph.boxes.forEach(box => { box.share = graph.ms > 0 && isTimed(box) ? box.ms / graph.ms : 0; });
  graph.root = treeOf(graph);
  markUnread(graph);
  graph.bodies = new Map((graph.bodies || []).map(body => [body.name, prepareGraph(body)]));
  return graph;
}

// The graph and its subgraphs, each with the `names` that lead to it: of the subgraph that has it, .., its own.
function withBodies(graph) {
  const found = [Object.assign(graph, {names: []})], names = new Set();
  for (const {boxes, names: path} of found)
    for (const name of boxes.flatMap(box => box.bodies || []))
      if (!names.has(name) && graph.bodies.has(name)) {
        names.add(name);
        found.push(Object.assign(graph.bodies.get(name), {names: [...path, name]}));
      }
  return found;
}

const graphsOf = model => Object.values(model.graphs).flatMap(withBodies);

function prepareModel(model) {
  model.name = model.source.split('/').pop();
  model.graphs = {compiled: prepareGraph(model.compiled)};
  const errors = new Map((model.accuracy ? model.accuracy.operators : []).map(row => [row.operator, row]));
  for (const box of model.graphs.compiled.timed) Object.assign(box, errorOf(errors.get(box.operator)));
  if (model.model) model.graphs.model = prepareGraph(model.model);
  return model;
}

// Of a result with elements that are finite in one program only, the error is infinite.
function errorOf(row) {
  return row && {error: row.not_finite || row.error === null ? Infinity : row.error, notFinite: row.not_finite};
}

function readData() {
  const data = JSON.parse(document.getElementById('data').textContent);
  data.models.forEach(prepareModel);
  const names = new Set(data.models.map(model => model.name));
  if (names.size < data.models.length) for (const model of data.models) model.name = model.source; // with folders
  return data;
}

// [{kind, ms}], the kinds of operators by the time of a run, most first.
function timesByKind(graph) {
  const sums = new Map();
  for (const box of graph.timed) sums.set(box.kind, (sums.get(box.kind) || 0) + box.ms);
  return [...sums].map(([kind, ms]) => ({kind, ms})).sort((a, b) => b.ms - a.ms);
}

// The number of nodes of the model that several of the operators compute, each a part.
function splitNodes(timed) {
  const counts = new Map();
  for (const {number} of timed.flatMap(box => box.nodes)) counts.set(number, (counts.get(number) || 0) + 1);
  return [...counts.values()].filter(count => count > 1).length;
}

// The numbers of bits of weights that operators read as integers, the fewest first.
function weightBits(timed) {
  const INTEGER = /^TL_U?INT(\d+)$/;
  const bitsOf = (box, tensor) => box.params.bits || Number((INTEGER.exec(tensor.dtype) || [])[1] || 0); // packed weights: bytes
  const bits = timed.flatMap(box => box.inputs.filter(tensor => tensor.constant && tensor.arg === 'weight').map(tensor => bitsOf(box, tensor)));
  return [...new Set(bits)].filter(n => n > 0).sort((a, b) => a - b);
}

// Inputs of the model whose values no operator reads.
function markUnread(graph) {
  const read = new Set(graph.edges.map(edge => edge.from));
  graph.boxes.forEach((box, i) => { box.isUnread = box.what === 'input' && !read.has(i); });
}

// The figures of an operator, as lines of a tooltip.
function describeBox(model, box) {
  const lines = [box.label, box.name];
  if (box.isUnread) lines.push('no operator reads it');
  if (isTimed(box)) lines.push(`${msText(box.ms)}, ${percentText(box.share)} of the run`);
  if (isTimed(box) && box.macs) lines.push(`${withPrefix(rateOf(box), 'FLOP/s')}, ${percentText(rateOf(box) / peakOf(model, box))} of the peak`);
  return lines.join('\n');
}
