// SPDX-License-Identifier: Apache-2.0
// The drawing of a graph: boxes, groups that open and close, edges.
'use strict';

class GraphView {
  // select(model, node): called when a box or a group is chosen.
  constructor(select) {
    this.select = select;
    this.content = svg('g');
    this.view = svg('svg', {role: 'group', 'aria-label': 'graph of operators'},
      svg('defs', null, svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
                                      markerUnits: 'userSpaceOnUse', orient: 'auto'},
                           svg('path', {d: 'M0 0.6 L8 4 L0 7.4 z', fill: 'var(--edge)'}))), this.content);
    this.zoom = zoomOf(this.view, this.content);
    this.view.addEventListener('keydown', event => this.press(event));
    this.view.addEventListener('focusin', event => this.stopAt(event.target));
    this.element = el('div', {class: 'canvas'}, this.view, el('div', {class: 'zoom'},
      this.button('−', 'zoom out', () => this.zoom.by(1 / 1.3)), this.button('+', 'zoom in', () => this.zoom.by(1.3)),
      this.button('fit', 'show the whole graph', () => this.zoom.fit(this.layout))));
    new ResizeObserver(() => requestAnimationFrame(() => this.resized())).observe(this.element);
  }

  button(text, label, click) {
    return el('button', {type: 'button', title: label, 'aria-label': label, on: {click}}, text);
  }

  show(model, graph) {
    this.model = model;
    this.graph = graph;
    this.open = new Set();
    this.selected = this.stop = null;
    this.draw();
    this.setHeight(0);
    this.fitTop();
  }

  // As high as the drawing needs, at least `least`, within bounds.
  setHeight(least) {
    const width = this.width = this.view.clientWidth;
    const max = Math.min(900, Math.max(380, 0.72 * innerHeight)), min = Math.min(max, matchMedia('(min-width: 900px)').matches ? 380 : 150);
    const needed = this.layout.height * readingScale(this.layout, width) + MARGIN.side + MARGIN.end;
    this.height = Math.round(Math.min(max, Math.max(min, needed, least)));
    this.element.closest('.graph').style.setProperty('--height', `${this.height}px`);
  }

  // What was in the middle stays there.
  resized() {
    const by = this.view.clientWidth - this.width;
    if (!by || !this.layout) return;
    this.zoom.move(by / 2);
    this.setHeight(0);
  }

  fitTop() {
    const first = this.layout.items[0];
    this.zoom.fit(this.layout, first ? first.x + first.width / 2 : 0);
  }

  // The element with the focus keeps it.
  draw() {
    const focused = this.content.contains(document.activeElement) ? document.activeElement.closest('[data-id]').dataset.id : null;
    this.layout = layoutOf(this.graph.root, this.graph.edges, node => this.open.has(node.id));
    this.rects = new Map(); // id -> rectangle of a visible node
    this.elements = new Map();
    this.paths = [];
    this.content.replaceChildren(this.drawn(this.layout, 0, 0));
    this.mark();
    this.makeStop(this.elements.has(this.stop) ? this.stop : this.layout.items.length ? this.layout.items[0].node.id : null);
    if (this.elements.has(focused)) this.focus(focused);
  }

  // The part of a box or a frame that has the focus.
  target(id) {
    const element = this.elements.get(id);
    return element.querySelector(':scope > .head') || element;
  }

  focus(id) {
    this.target(id).focus({preventScroll: true});
  }

  // One element of the graph is a stop of the tab key; arrows lead to the others.
  makeStop(id) {
    if (this.elements.has(this.stop)) this.target(this.stop).setAttribute('tabindex', -1);
    this.stop = id;
    if (id) this.target(id).setAttribute('tabindex', 0);
  }

  stopAt(element) {
    const at = element.closest('[data-id]');
    if (at) this.makeStop(at.dataset.id);
  }

  press(event) {
    const {key} = event, way = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]}[key];
    const zoom = {'+': 1.3, '=': 1.3, '-': 1 / 1.3}[key];
    if ((!way && !zoom) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (zoom) {
      this.zoom.by(zoom);
      return;
    }
    const next = this.neighbor(this.stop, way);
    if (!next) return;
    this.zoom.show(this.spotOf(next));
    this.focus(next);
  }

  // The rectangle of a box, or of the title of a frame.
  spotOf(id) {
    const rect = this.rects.get(id);
    return this.elements.get(id).matches('.frame') ? {...rect, height: FRAME.head} : rect;
  }

  // The nearest one in a direction [x, y]: what lies straight ahead is nearer than what lies aside. null: none.
  neighbor(id, [x, y]) {
    const middle = rect => ({x: rect.x + rect.width / 2, y: rect.y + rect.height / 2});
    const from = middle(this.spotOf(id));
    let best = {id: null, far: Infinity};
    for (const other of this.elements.keys()) {
      const to = middle(this.spotOf(other)), dx = to.x - from.x, dy = to.y - from.y;
      const ahead = x * dx + y * dy, far = ahead + 2 * Math.abs(y * dx + x * dy);
      if (other !== id && ahead > 1 && far < best.far) best = {id: other, far};
    }
    return best.id;
  }

  drawn(layout, x, y) {
    const edges = layout.paths.map(({d, link}) => {
      const path = svg('path', {class: 'edge', d, 'marker-end': link.to === 'out' ? null : 'url(#arrow)'});
      this.paths.push({path, link});
      return withTip(path, () => [...new Set(link.edges.map(edge => `${edge.tensor}  ${shapeText(edge.shape)}`))].slice(0, 8).join('\n'));
    });
    const boxes = layout.items.map(item => {
      this.rects.set(item.node.id, {x: x + item.x, y: y + item.y, width: item.width, height: item.height});
      return item.inner ? this.frame(item, x + item.x, y + item.y) : this.box(item);
    });
    return svg('g', null, edges, boxes);
  }

  // An open group, with its content.
  frame(item, x, y) {
    const {node, width, height, inner} = item;
    const isLeft = inner.enter > width / 2 - 1; // of the edge from above
    const room = isLeft ? inner.enter - 26 : width - inner.enter - 34, left = isLeft ? 1 : inner.enter + 8;
    const title = fitted(`▾  ${node.title}`, room, 12.5, 600);
    const element = svg('g', {class: 'frame', transform: `translate(${item.x} ${item.y})`, 'data-id': node.id},
      svg('rect', {class: 'card', width, height, rx: 9}),
      this.drawn(inner, x, y),
      svg('rect', {class: 'head', x: left, y: 1, width: widthOf(title, 12.5, 600) + 18, height: FRAME.head - 6, rx: 6, tabindex: -1,
                   role: 'button', 'aria-label': `close ${node.title}`, on: pressed(() => this.toggle(node))}),
      this.text('title', left + 9, 15, title));
    this.elements.set(node.id, element);
    return element;
  }

  text(name, x, y, content) {
    return svg('text', {class: name, x, y}, content);
  }

  textTo(name, x, y, content) {
    return svg('text', {class: name, x, y, 'text-anchor': 'end'}, content);
  }

  box(item) {
    const {node} = item;
    const isPort = node.box && node.box.what !== 'op';
    const content = isPort ? this.portContent(item) : node.box ? this.operatorContent(item) : this.groupContent(item);
    const act = () => { this.choose(node); if (node.group) this.toggle(node); };
    const element = svg('g', {class: `box ${isPort ? 'port' : ''} ${node.box && node.box.isUnread ? 'unread' : ''}`, transform: `translate(${item.x} ${item.y})`, 'data-id': node.id,
                              tabindex: -1, role: 'button', 'aria-label': node.box ? `${labelOf(node.box)} ${node.box.name}` : `open ${node.title}`,
                              color: colorOf(node.box ? node.box.kind : 'other'),
                              on: pressed(act)}, content);
    this.elements.set(node.id, element);
    return node.box ? withTip(element, () => describeBox(this.model, node.box)) : element;
  }

  portContent({node, width, height}) {
    const {name, label, outputs, isUnread} = node.box;
    const end = isUnread ? ', not read' : '', shape = fitted(shapeText(outputs[0].shape), 0.5 * width, 11.5);
    const text = fitted(`${label} ${name}`, width - 34 - widthOf(shape, 11.5) - widthOf(end, 11.5), 11.5) + end;
    return [svg('rect', {class: 'card', width, height, rx: height / 2}),
            this.text('sub', 13, height / 2 + 4, text), this.textTo('sub', width - 13, height / 2 + 4, shape)];
  }

  // Types and names; of a compiled operator its time, and a bar as long as its share.
  operatorContent({node, width, height}) {
    const box = node.box, shape = fitted(shapeText(box.outputs[0] && box.outputs[0].shape), 0.6 * width, 11.5);
    const room = width - 26, rate = rateOf(box);
    const speed = rate ? withPrefix(rate, 'FLOP/s') : '';
    const time = isTimed(box) ? [this.text('sub number', 14, 53, `${msText(box.ms)}, ${percentText(box.share)}`),
                                 this.textTo('sub number', width - 11, 53, speed)] : [];
    return [svg('rect', {class: 'card', width, height, rx: 6}),
            svg('rect', {class: 'share', x: 5, y: height - 4, width: (width - 6) * Math.min(1, box.share), height: 3}),
            svg('path', {class: 'bar', d: `M6 0H5.5V${height}H6A6 6 0 0 1 0 ${height - 6}V6A6 6 0 0 1 6 0z`}),
            this.text('label', 14, 19, fittedStart(labelOf(box), room, 12.5, 600)),
            this.text('sub', 14, 36, fitted(box.name, room - widthOf(shape, 11.5) - 8, 11.5)),
            this.textTo('sub', width - 11, 36, shape), ...time];
  }

  groupContent(item) {
    const node = item.node, stack = isRepeat(node) ? BOX.stack : 0, width = item.width - stack, height = item.height - stack;
    const time = node.ms ? `${msText(node.ms)}, ${percentText(node.share)}` : '';
    const count = isRepeat(node) && node.group.count < node.operators
      ? `${plural(node.operators / node.group.count, 'operator')} each` : plural(node.operators, 'operator');
    const stacked = stack ? [stack, stack / 2].map(by => svg('rect', {class: 'card', x: by, y: by, width, height, rx: 6})) : [];
    return [...stacked, svg('rect', {class: 'card', width, height, rx: 6}),
            svg('rect', {class: 'share', x: 5, y: height - 4, width: (width - 6) * Math.min(1, node.share), height: 3}),
            this.text('label', 14, 19, fitted(`▸  ${node.title}`, width - 26, 12.5, 600)),
            this.text('sub', 14, 36, fitted(count, width - 34 - widthOf(time, 11.5), 11.5)),
            this.textTo('sub number', width - 11, 36, time)];
  }

  // Opens or closes a group, whose corner stays where it is. The first copy of a repeat opens with it.
  toggle(node) {
    const before = this.zoom.where(this.rects.get(node.id));
    if (this.open.delete(node.id)) {
      for (const id of [...this.open]) if (!this.isVisible(id)) this.open.delete(id);
    } else {
      this.open.add(node.id);
      if (isRepeat(node)) this.openFirst(node);
    }
    this.draw();
    this.setHeight(this.height);
    this.zoom.bring(this.rects.get(node.id), before);
    if (this.open.has(node.id)) this.zoom.include(this.rects.get(node.id), this.beginOf(node));
  }

  // The position from left to right of the first box in an open group.
  beginOf(node) {
    let rect = null;
    for (const {id} of this.graph.leaves.slice(node.first, node.end))
      if (this.rects.has(id) && (!rect || this.rects.get(id).y < rect.y)) rect = this.rects.get(id);
    rect = rect || this.rects.get(node.id);
    return rect.x + rect.width / 2;
  }

  openFirst(repeat) {
    const first = firstCopyOf(repeat);
    for (let at = first; first.group && at !== repeat; at = at.parent) this.open.add(at.id);
  }

  isVisible(id) {
    const node = this.graph.groupNodes.find(group => group.id === id);
    return ancestorsOf(node).every(group => this.open.has(group.id));
  }

  setAll(isOpen) {
    this.open = new Set(isOpen ? this.graph.groupNodes.map(node => node.id) : []);
    this.draw();
    this.setHeight(0);
    const chosen = this.selected && this.rects.get(this.selected.id);
    if (chosen) this.zoom.center(chosen);
    else this.fitTop();
  }

  choose(node) {
    this.selected = node;
    this.mark();
    this.select(this.model, node);
  }

  // Opens the groups around a box, and moves it into view.
  reveal(node) {
    for (const group of ancestorsOf(node)) this.open.add(group.id);
    this.selected = node;
    this.draw();
    this.setHeight(this.height);
    this.zoom.center(this.rects.get(node.id));
  }

  mark() {
    const id = this.selected && this.selected.id;
    for (const [key, element] of this.elements) element.classList.toggle('selected', key === id);
    for (const {path, link} of this.paths) path.classList.toggle('lit', Boolean(id) && (link.from === id || link.to === id));
  }
}

// The field that finds boxes by names and types.
function searchOf(find, pick) {
  const MAX_FOUND = 40;
  const list = el('ul', {role: 'listbox', id: 'found', hidden: true});
  const input = el('input', {type: 'search', placeholder: 'Find by name or type', 'aria-label': 'find an operator by name or type',
                             role: 'combobox', 'aria-controls': 'found', 'aria-autocomplete': 'list', 'aria-expanded': 'false', autocomplete: 'off'});
  let found = [], at = 0;
  function show() {
    found = input.value.trim() ? find(input.value.trim()).slice(0, MAX_FOUND) : [];
    at = 0;
    list.replaceChildren(...found.map((box, i) => el('li', {role: 'option', id: `found-${i}`, on: {pointerdown: event => { event.preventDefault(); take(i); }}},
                                                    box.name, el('small', null, box.label))));
    if (!found.length && input.value.trim()) list.append(el('li', null, el('small', null, 'nothing found')));
    reveal(Boolean(input.value.trim()));
    mark();
  }
  function reveal(isShown) {
    list.hidden = !isShown;
    input.setAttribute('aria-expanded', String(isShown));
  }
  function mark() {
    [...list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === at && found.length > 0)));
    setAttributes(input, {'aria-activedescendant': found.length ? `found-${at}` : ''});
  }
  function take(i) {
    reveal(!found.length); // which it says that nothing was found
    if (found[i]) pick(found[i]);
  }
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  input.addEventListener('blur', () => reveal(false));
  input.addEventListener('keydown', event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step && found.length) {
      event.preventDefault();
      at = (at + step + found.length) % found.length;
      mark();
      list.children[at].scrollIntoView({block: 'nearest'});
    } else if (event.key === 'Enter') {
      take(at);
    } else if (event.key === 'Escape') {
      reveal(false);
    }
  });
  return el('div', {class: 'search'}, input, list);
}

// The boxes that a text names: by the model's nodes, types, operators and tensors.
function findBoxes(graph, text) {
  const wanted = text.toLowerCase();
  const words = box => [box.name, box.label, box.operator || '', box.type || '', ...(box.nodes || []).flatMap(node => [node.name, node.type])];
  const rank = box => Math.min(...words(box).map(word => {
    const at = word.toLowerCase().indexOf(wanted);
    return at < 0 ? 9 : word.length === wanted.length ? 0 : at === 0 ? 1 : 2;
  }));
  return graph.boxes.map(box => ({box, rank: rank(box)})).filter(entry => entry.rank < 9)
    .sort((a, b) => a.rank - b.rank || a.box.index - b.box.index).map(entry => entry.box);
}
