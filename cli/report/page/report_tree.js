// SPDX-License-Identifier: Apache-2.0
// The tree of a graph: groups with boxes and smaller groups in them, in the order of the boxes.
'use strict';

// A tree node: {id, box} of a box, {id, group, first, end, children} of a group; both have `parent`.
function treeOf(graph) {
  const root = {id: 'root', group: {what: 'root'}, first: 0, end: graph.boxes.length, children: [], parent: null};
  const groups = graph.groups.map((group, i) => ({id: `g${i}`, group, first: group.first, end: group.end, children: []}));
  groups.forEach((node, i) => { node.parent = graph.groups[i].parent < 0 ? root : groups[graph.groups[i].parent]; });
  const innermost = new Array(graph.boxes.length).fill(root);
  for (const node of groups) innermost.fill(node, node.first, node.end); // outer groups come first
  for (const node of groups) node.parent.children.push(node);
  graph.boxes.forEach((box, i) => innermost[i].children.push({id: `b${i}`, box, first: i, end: i + 1, parent: innermost[i]}));
  for (const node of [root, ...groups]) {
    node.children.sort((a, b) => a.first - b.first);
    node.boxes = graph.boxes.slice(node.first, node.end);
    node.operators = node.boxes.filter(box => box.what === 'op').length;
    node.ms = node.boxes.reduce((sum, box) => sum + (box.ms || 0), 0);
    node.share = graph.ms > 0 ? node.ms / graph.ms : 0;
  }
  for (const node of groups) node.title = titleOf(node);
  graph.leaves = new Array(graph.boxes.length);
  for (const node of [root, ...groups])
    for (const child of node.children) if (child.box) graph.leaves[child.first] = child;
  graph.groupNodes = groups;
  return root;
}

// "encoder.layer" of /encoder/layer.3/..., where all names of a repeat share it; else "block".
function commonPath(names) {
  const parts = names.map(name => name.split(/[/.]/).filter(part => part));
  const common = [];
  for (let i = 0; parts.length && i < parts[0].length - 1; i++) {
    if (!parts.every(part => part[i] === parts[0][i])) break;
    common.push(parts[0][i]);
  }
  return common.join('.');
}

function titleOf(node) {
  const {what, count} = node.group;
  if (what === 'part') return `part of ${plural(node.operators, 'operator')}`;
  if (what === 'copy') return `${numberOf(node)} of ${repeatOf(node).group.count}`;
  const path = commonPath(node.boxes.filter(box => box.what === 'op').map(box => box.name));
  return `${path || (node.boxes.length === count ? node.boxes[0].label : 'block')} × ${count}`;
}

function repeatOf(copy) {
  let node = copy.parent;
  while (node.group.what !== 'repeat') node = node.parent;
  return node;
}

// The number of a copy, from 1. Many copies are in parts of the repeat.
function numberOf(copy) {
  const repeat = repeatOf(copy);
  return (copy.first - repeat.first) * repeat.group.count / (repeat.end - repeat.first) + 1;
}

// A group, or a box if each copy is one.
function firstCopyOf(repeat) {
  let node = repeat.children[0];
  while (node.group && node.group.what === 'part') node = node.children[0];
  return node;
}

// The groups around a node, the outermost first.
function ancestorsOf(node) {
  const found = [];
  for (let at = node.parent; at && at.parent; at = at.parent) found.unshift(at);
  return found;
}
