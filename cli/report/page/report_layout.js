// SPDX-License-Identifier: Apache-2.0
// Positions of boxes and paths of edges, group by group.
//
// Each open group is laid out by itself, and is one box for the group around it. So boxes of
// different groups never overlap. Edges from outside begin at one point of the group's upper side,
// those to the outside end at one point of its lower side. Between rows of boxes an edge is a
// curve; beside boxes it is a vertical line, at the position that dagre keeps free for it. So edges
// never run behind boxes.
'use strict';

const BOX = {width: 288, height: 48, timed: 64, port: 26, stack: 4}; // stack: cards below that of a repeat
const FRAME = {head: 26, pad: 16};
const SPACE = {row: 30, box: 26, edge: 18};

const isRepeat = node => Boolean(node.group) && node.group.what === 'repeat';

// The size of a box, or of a closed group.
function sizeOf(node) {
  const height = node.group ? BOX.height : node.box.what !== 'op' ? BOX.port : isTimed(node.box) ? BOX.timed : BOX.height;
  const stack = isRepeat(node) ? BOX.stack : 0;
  return {width: BOX.width + stack, height: height + stack};
}

// {width, height, items: [{node, x, y, width, height, inner}], paths: [{d, from, to}], enter, leave}: the left upper corners
// of items; enter and leave are positions on the upper and the lower side.
function layoutOf(node, edges, isOpen) {
  const childAt = new Array(node.end - node.first);
  for (const child of node.children) childAt.fill(child, child.first - node.first, child.end - node.first);
  const inner = new Map();
  for (const child of node.children)
    if (child.group && isOpen(child)) inner.set(child, layoutOf(child, edges, isOpen));
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({rankdir: 'TB', ranksep: SPACE.row, nodesep: SPACE.box, edgesep: SPACE.edge, marginx: 0, marginy: 0});
  for (const child of node.children) {
    const {width, height} = inner.get(child) || sizeOf(child);
    graph.setNode(child.id, {width, height, node: child});
  }
  const links = linksOf(node, edges, childAt);
  addPorts(graph, node, links);
  addUnread(node, links);
  for (const link of links.values()) graph.setEdge(link.from, link.to, {link, weight: link.weight});
  dagre.layout(graph);
  return placed(node, graph, inner);
}

// The edges between children, once for each pair; "in" and "out" are the outside.
function linksOf(node, edges, childAt) {
  const links = new Map();
  const isInside = box => box >= node.first && box < node.end;
  for (const edge of edges) {
    if (!isInside(edge.from) && !isInside(edge.to)) continue;
    const from = isInside(edge.from) ? childAt[edge.from - node.first].id : 'in';
    const to = isInside(edge.to) ? childAt[edge.to - node.first].id : 'out';
    if (from === to) continue;
    const key = `${from} ${to}`;
    if (!links.has(key)) links.set(key, {from, to, edges: [], weight: 1, isDrawn: true});
    links.get(key).edges.push(edge);
  }
  return links;
}

// The outside above and below all children: edges that are not drawn keep it there.
function addPorts(graph, node, links) {
  const all = [...links.values()];
  const reads = new Set(all.map(link => link.to)), isRead = new Set(all.map(link => link.from));
  if (!node.parent) return;
  graph.setNode('in', {width: 1, height: 1});
  graph.setNode('out', {width: 1, height: 1});
  for (const child of node.children) {
    if (!reads.has(child.id)) links.set(`in ${child.id}`, {from: 'in', to: child.id, weight: 0, isDrawn: false});
    if (!isRead.has(child.id)) links.set(`${child.id} out`, {from: child.id, to: 'out', weight: 0, isDrawn: false});
  }
}

// Inputs that nothing reads, above the first box: beside it they would widen the graph.
function addUnread(node, links) {
  const unread = node.children.filter(child => child.box && child.box.isUnread);
  const first = node.children.find(child => !unread.includes(child));
  [...unread, first].slice(1).forEach((to, i) => {
    if (to) links.set(`${unread[i].id} ${to.id}`, {from: unread[i].id, to: to.id, weight: 0, isDrawn: false});
  });
}

function placed(node, graph, inner) {
  const width = Math.max(1, graph.graph().width), height = Math.max(1, graph.graph().height); // of a graph without nodes: -Infinity
  const pad = node.parent ? FRAME.pad : 0, head = node.parent ? FRAME.head : 0;
  const result = {width: Math.max(width, node.parent ? BOX.width - 2 * pad : 0) + 2 * pad, height: height + head + pad, items: [], paths: []};
  const byId = new Map(), bands = new Map();
  for (const child of node.children) {
    const at = graph.node(child.id);
    const item = {node: child, x: at.x - at.width / 2 + pad, y: at.y - at.height / 2 + head, width: at.width, height: at.height,
                  inner: inner.get(child)};
    byId.set(child.id, item);
    result.items.push(item);
    // dagre centers the boxes of a row on a line.
    const band = bands.get(at.y) || {top: item.y, bottom: item.y + item.height};
    bands.set(at.y, {top: Math.min(band.top, item.y), bottom: Math.max(band.bottom, item.y + item.height)});
  }
  const enter = graph.node('in'), leave = graph.node('out');
  result.enter = enter ? enter.x + pad : result.width / 2;
  result.leave = leave ? leave.x + pad : result.width / 2;
  for (const name of graph.edges()) {
    const edge = graph.edge(name);
    if (!edge.link.isDrawn) continue;
    const inside = edge.points.slice(1, -1).filter(point => bands.has(point.y))
      .map(point => ({x: point.x + pad, ...bands.get(point.y)}));
    const from = byId.get(name.v), to = byId.get(name.w);
    const begin = from ? {x: exitOf(from), y: from.y + from.height} : {x: result.enter, y: head};
    const end = to ? {x: entryOf(to), y: to.y} : {x: result.leave, y: result.height};
    const lead = from ? '' : `M${begin.x} 0V${head}`; // beside the title
    result.paths.push({d: lead + pathOf(begin, inside, end), link: edge.link});
  }
  return result;
}

const entryOf = item => item.x + (item.inner ? item.inner.enter : item.width / 2);
const exitOf = item => item.x + (item.inner ? item.inner.leave : item.width / 2);

// Down from `begin`, straight through the bands, curved between them.
function pathOf(begin, bands, end) {
  let d = `M${begin.x} ${begin.y}`, at = begin;
  for (const band of bands) {
    d += curve(at, {x: band.x, y: band.top}) + `V${band.bottom}`;
    at = {x: band.x, y: band.bottom};
  }
  return d + curve(at, end);
}

function curve(from, to) {
  const middle = (from.y + to.y) / 2;
  return Math.abs(from.x - to.x) < 0.5 ? `L${to.x} ${to.y}` : `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
}
