// SPDX-License-Identifier: Apache-2.0
// The page: its header and sections, for one model or two.
'use strict';

// Rewriting joins nodes in an operator, and lowering makes several operators of a node.
function nodesText({stats, graphs}) {
  const {timed} = graphs.compiled, several = stats.nodes && timed.length > stats.nodes ? splitNodes(timed) : 0;
  if (!stats.nodes) return 'of a compiled model';
  return `for ${plural(stats.nodes, 'node')} of the model` + (several ? `, ${countText(several)} of which became several operators` : '');
}

function precisionText(model) {
  const bits = weightBits(model.graphs.compiled.timed);
  return bits.length ? `${model.precision}, weights of ${bits.join(' and ')}${NO_BREAK}bits` : model.precision;
}

// Without the signs of trademarks.
const processorText = ({processor}) => (processor || 'unknown').replace(/\s*\((R|TM)\)/gi, '');

function summaryOf(model) {
  const {times, stats, machine, memory} = model;
  return el('dl', {class: 'facts summary'},
    factOf('Time', msText(times.median), `median of ${plural(times.runs, 'run')}, min ${msText(times.min)}`),
    factOf('Throughput', `${digits(1000 / times.median, 3)} runs/s`, `first output after ${msText(times.load)}`),
    factOf('Operators', countText(model.graphs.compiled.timed.length), nodesText(model)),
    factOf('Parameters', countText(stats.parameters), bytesText(stats.parameter_bytes)),
    factOf('Work', stats.macs ? withPrefix(2 * stats.macs, 'FLOP') : 'none', stats.macs ? `${withPrefix(2 * stats.macs / (times.median * 1e-3), 'FLOP/s')}` : null),
    factOf('Memory', bytesText(memory.size), `${bytesText(times.peak_kb * 1024)} peak of the process`),
    factOf('Precision', precisionText(model), `target ${model.target}`, true),
    factOf('Processor', processorText(machine), `${machine.isa}, ${plural(machine.threads, 'thread')}`, true));
}

function portsOf(model) {
  const rows = [...model.inputs.map(port => ['input', port]), ...model.outputs.map(port => ['output', port])];
  const MAX_PORTS = 12, shown = rows.slice(0, MAX_PORTS), rest = rows.slice(MAX_PORTS);
  const row = ([what, port]) => el('tr', null, el('td', {class: 'muted'}, what), el('td', null, el('code', null, breakable(port.name))),
                                   el('td', null, typeText(port.dtype)), el('td', {class: 'number shape'}, port.shape_text));
  const body = el('tbody', null, shown.map(row));
  const more = rest.length ? el('button', {type: 'button', class: 'more', on: {click: event => { body.append(...rest.map(row)); event.target.remove(); }}},
                                `Show ${rest.length} more`) : null;
  return sectionOf('ports', 'Inputs and outputs', null, el('div', {class: 'scroll'}, el('table', null,
    el('thead', null, el('tr', null, ['', 'name', 'type', 'shape'].map(text => el('th', null, text)))), body)), more);
}

// The theme: that of the system until the reader chooses.
function themeSwitch() {
  const root = document.documentElement, system = matchMedia('(prefers-color-scheme: dark)');
  let chosen = 'system';
  const apply = () => { root.dataset.theme = chosen === 'system' ? (system.matches ? 'dark' : 'light') : chosen; };
  system.addEventListener('change', apply);
  apply();
  return switchOf('theme', {system: 'Auto', light: 'Light', dark: 'Dark'}, chosen, value => { chosen = value; apply(); });
}

class Page {
  constructor(data) {
    this.data = data;
    this.model = data.models[0];
    this.box = null; // the chosen one of the compiled program
    this.view = new GraphView((model, node) => this.chosen(model, node));
    this.panel = el('aside', {class: 'panel', 'aria-live': 'polite'});
    this.body = el('div');
  }

  element() {
    const {models, version} = this.data;
    const names = models.map(model => model.name).join(' and ');
    document.title = `${names} - LightNet report`;
    const which = models.length > 1 ? switchOf('model', Object.fromEntries(models.map((model, i) => [i, `${LETTERS[i]} ${model.name}`])), '0',
                                               i => this.show(models[i])) : null;
    this.which = which;
    this.isDecoded = models.length > 1 && models.every(model => model.decode); // both in one section
    return [el('div', {class: 'top'}, el('div', null, el('h1', null, names), el('p', null, `LightNet ${version}`)), el('div', null, which, themeSwitch())),
            models.length > 1 ? compareSection(this, models) : null, this.isDecoded ? decodeSection(models) : null, this.body];
  }

  show(model) {
    this.model = model;
    this.box = null;
    const sections = [summaryOf(model), model.decode && !this.isDecoded ? decodeSection([model]) : null, this.graphSection(model), timesSection(this, model),
                      el('div', {class: 'columns'}, rooflineSection(this, model), memorySection(this, model)), model.accuracy ? accuracySection(this, model) : null, portsOf(model)];
    this.body.replaceChildren(...sections.filter(section => section));
    if (this.which) [...this.which.children].forEach((button, i) => button.setAttribute('aria-pressed', String(this.data.models[i] === model)));
    this.showGraph('compiled');
  }

  graphSection(model) {
    const graphs = model.graphs.model ? switchOf('graph', {compiled: 'Compiled', model: 'Model'}, 'compiled', name => this.showGraph(name)) : null;
    const search = searchOf(text => withBodies(this.whole).flatMap(graph => findBoxes(graph, text)), box => this.reveal(box));
    const kinds = Object.keys(KINDS).filter(kind => graphsOf(model).some(graph => graph.boxes.some(box => box.kind === kind)));
    const open = el('button', {type: 'button', on: {click: () => this.view.setAll(true)}}, 'Open all');
    const close = el('button', {type: 'button', on: {click: () => this.view.setAll(false)}}, 'Close all');
    this.path = el('nav', {class: 'path', 'aria-label': 'subgraphs', hidden: true});
    return sectionOf('graph', 'Graph', [search, graphs, el('div', {class: 'pair-of-buttons'}, open, close)], this.path, legendOf(kinds.map(kind => ({kind}))),
      el('div', {class: 'graph'}, this.view.element, this.panel),
      el('p', {class: 'note'}, 'Drag to move; pinch, or Ctrl and the wheel, to zoom. Keys: arrows go from box to box, Enter chooses one, + and - zoom. A box is an operator: the types and the name of the nodes that it computes, its shape, its time, and at the bottom a bar for its share of the run. The graph "Compiled" leaves out constants, and views, which need no time.'));
  }

  showGraph(name) {
    this.whole = this.model.graphs[name];
    this.showBody([]);
  }

  // The subgraph that the last of the names names, each within the one before it; none: the whole graph.
  showBody(names) {
    const titles = ['Whole graph', ...names];
    this.graph = names.length ? this.whole.bodies.get(names[names.length - 1]) : this.whole;
    this.names = names;
    this.path.hidden = !names.length;
    this.path.replaceChildren(...titles.flatMap((title, i) => [i ? ' ▸ ' : '', i === names.length ? el('b', null, title)
      : el('button', {type: 'button', class: 'link', on: {click: () => this.showBody(names.slice(0, i))}}, title)]));
    this.panel.replaceChildren(...emptyPanel(this.model, box => this.pick(this.model, box)));
    this.view.show(this.model, this.graph);
  }

  // Makes an element one that shows a box of the compiled program.
  linked(box, element) {
    element.dataset.box = box.index;
    element.classList.toggle('selected', box === this.box);
    return element;
  }

  // The graph chose a node: the panel and the plots follow.
  chosen(model, node) {
    this.panel.replaceChildren(...panelOf(model, node, box => this.reveal(box), name => this.showBody([...this.names, name])).flat());
    this.panel.scrollTop = 0;
    this.mark(model.graphs.compiled.timed.includes(node.box) ? node.box : null);
  }

  mark(box) {
    this.box = box;
    for (const element of this.body.querySelectorAll('[data-box].selected')) element.classList.remove('selected');
    for (const element of box ? this.body.querySelectorAll(`[data-box="${box.index}"]`) : []) element.classList.add('selected');
  }

  reveal(box) {
    if (box.graph !== this.graph) this.showBody(box.graph.names);
    const node = this.graph.leaves[box.index];
    this.view.reveal(node);
    this.chosen(this.model, node);
  }

  // A plot chose an operator of a compiled model.
  pick(model, box) {
    document.getElementById('tip').hidden = true; // of an element that the page scrolls away
    if (model !== this.model) this.show(model);
    const compiled = document.querySelector('#graph [data-value="compiled"]');
    if (this.graph !== model.graphs.compiled && compiled) compiled.click();
    else if (this.graph !== model.graphs.compiled) this.showGraph('compiled');
    this.reveal(box);
    const section = document.getElementById('graph');
    const edge = section.getBoundingClientRect();
    if (edge.bottom < 120 || edge.top > innerHeight - 120) section.scrollIntoView({block: 'start', behavior: 'smooth'});
  }
}

const page = new Page(readData());
document.getElementById('page').append(...page.element().filter(part => part));
page.show(page.model);
