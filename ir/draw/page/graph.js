// The graph, scope by scope, from above to below in the order of computation: a card for each scope, equal layers
// folded into one, and an arc for what one card's ops read of another's. Cards open to the scopes and ops in them.
const graph = {open: new Set(), cards: [], arcWidth: 44, mostArcs: 400, mostOps: 60, opened: new Map()};

/// What is shown: {scope} or {op}, with the level of nesting.
function visibleCards() {
  const cards = [];
  const add = (index, level) => {
    cards.push({scope: index, level});
    if (!graph.open.has(index)) return;
    for (const child of scopes[index].children) add(child, level + 1);
    const shown = scopes[index].ops.filter((i) => stepOf[i] >= 0), most = graph.opened.get(index) || graph.mostOps;
    for (const i of shown.slice(0, most)) cards.push({op: i, level: level + 1});
    if (shown.length > most) cards.push({more: index, left: shown.length - most, level: level + 1});
  };
  for (const child of scopes[0].children) if (scopes[child].opCount > 0 || scopes[child].parameterBytes > 0) add(child, 0);
  return cards;
}

/// A single card says nothing of the graph, and a few fit at once: opens cards that stand alone, and then, from above,
/// others for as long as no more than a screenful of cards is shown. Equal layers stay folded.
function openAtFirst() {
  const screenful = 24;
  const canOpen = (card) => card.scope !== undefined && !graph.open.has(card.scope) && scopes[card.scope].kind !== "fold" &&
                            scopes[card.scope].opCount > 0;
  for (let cards = visibleCards(); cards.length === 1 && cards[0].scope !== undefined && !graph.open.has(cards[0].scope);) {
    graph.open.add(cards[0].scope);
    cards = visibleCards();
  }
  for (const refused = new Set();;) {
    const next = visibleCards().find((card) => canOpen(card) && !refused.has(card.scope));
    if (next === undefined) return;
    graph.open.add(next.scope);
    if (visibleCards().length > screenful) {
      graph.open.delete(next.scope);
      refused.add(next.scope);
    }
  }
}

/// How the ops of a scope are cut, by the explanation: of the scope itself, or of those in it.
function layoutWords(scope) {
  const explained = data.explanation ? [...data.explanation.scopes, ...(data.explanation.scopesInGroups || [])] : [];
  const shares = new Map();
  for (const row of explained) {
    if (row.scope !== scope.path && !(scope.path !== "" && row.scope.startsWith(scope.path + "/"))) continue;
    for (const way of row.ways) shares.set(way.how, (shares.get(way.how) || 0) + way.share * row.share);
  }
  const all = [...shares.values()].reduce((sum, share) => sum + share, 0);
  return [...shares].sort((a, b) => b[1] - a[1]).filter(([, share]) => share > 0.05 * all).slice(0, 2)
      .map(([how, share]) => (share < 0.95 * all ? Math.round(100 * share / all) + " % " : "") + how).join(", ");
}

function devicePips(devices) {
  const pips = [...devices].sort((a, b) => a - b).map((index) => {
    const pip = make("span", "pip", {title: data.devices[index].name});
    pip.style.background = data.devices[index].border;
    return pip;
  });
  const most = 16;
  return make("span", "pips", {}, ...pips.slice(0, most), pips.length > most ? "+" + (pips.length - most) : "");
}

function layerWords(scope) {
  const names = scope.children.map((child) => scopes[child].title);
  return names[0] + " to " + names[names.length - 1] + (scope.equal ? ", equal" : ", alike but not equal");
}

function cardOfScope(card, row) {
  const scope = scopes[card.scope], total = scopes[0].seconds || 1, canOpen = scope.children.length > 0 || scope.opCount > 0;
  const isOpen = graph.open.has(card.scope), isOutside = scope.kind === "outside";
  const where = "on " + deviceWords(scope.devices), layout = layoutWords(scope);
  const facts = [count(scope.opCount - scope.transfers, "op"), scope.transfers > 0 ? count(scope.transfers, "transfer") : "",
                 scope.parameterBytes > 0 ? byteText(scope.parameterBytes) + " of parameters" : "",
                 hasMeasured ? "measured " + seconds(scope.measured) : ""].filter((words) => words !== "").join(" · ");
  const bar = make("span", "bar", {"aria-hidden": "true"});
  bar.style.width = (100 * scope.seconds / total) + "%";
  return make("div", "card" + (state.scope === card.scope ? " chosen" : ""),
      {role: "treeitem", tabindex: row === graph.row ? "0" : "-1", "aria-level": card.level + 1, "data-row": row,
       "aria-expanded": canOpen ? String(isOpen) : null, "aria-selected": String(state.scope === card.scope)},
      make("div", "card-top", {}, make("span", "twist", {"aria-hidden": "true"}, canOpen ? (isOpen ? "▾" : "▸") : ""),
           make("span", "card-name" + (isOutside ? " outside" : ""), {}, shortened(scope.title, 60)),
           scope.kind === "fold" ? make("span", "times", {}, "× " + scope.layers) : "",
           make("span", "share", {}, percent(scope.seconds / total))),
      scope.kind === "fold" ? make("div", "faint", {}, shortened(layerWords(scope), 70)) : "",
      make("div", "where", {}, devicePips(scope.devices), " " + where),
      layout !== "" ? make("div", "layout", {}, layout) : "",
      make("div", "faint", {}, facts),
      make("div", "bar-ground", {"aria-hidden": "true"}, bar));
}
function cardOfOp(card, row) {
  const i = card.op, step = stepOf[i];
  const pip = devicePips([data.ops.device[i]]);
  return make("div", "card op", {role: "treeitem", tabindex: row === graph.row ? "0" : "-1", "aria-level": card.level + 1, "data-row": row},
      make("div", "card-top", {}, pip, make("span", "card-name", {}, shortened(op.label(i), 44)),
           make("span", "share", {}, seconds(duration(step)))),
      make("div", "faint", {}, shortened(op.detail(i) + " → " + op.type(i), 60)));
}

function drawGraph() {
  const cards = visibleCards(), list = byId("cards"), hadFocus = list.contains(document.activeElement);
  graph.row = Math.min(graph.row || 0, Math.max(0, cards.length - 1));
  graph.cards = cards;
  list.replaceChildren(...cards.map((card, row) => {
    const element = card.scope !== undefined ? cardOfScope(card, row)
        : card.op !== undefined ? cardOfOp(card, row)
        : make("div", "card op more", {role: "treeitem", tabindex: row === graph.row ? "0" : "-1", "data-row": row},
               "show " + card.left + " more ops");
    element.style.marginLeft = (graph.arcWidth + 14 * card.level) + "px";
    return element;
  }));
  if (hadFocus) focusCard(graph.row);
  requestAnimationFrame(drawArcs);
}

/// The card that each op is drawn in: the innermost that is shown.
function cardOfOps() {
  const byScope = new Int32Array(scopes.length).fill(-1), byOp = new Int32Array(opCount).fill(-1);
  graph.cards.forEach((card, row) => { if (card.scope !== undefined) byScope[card.scope] = row; });
  scopes.forEach((scope, index) => { if (byScope[index] < 0 && index > 0) byScope[index] = byScope[scope.parent]; });
  for (let i = 0; i < opCount; i++) byOp[i] = byScope[data.ops.scope[i]];
  graph.cards.forEach((card, row) => { if (card.op !== undefined) byOp[card.op] = row; });
  return byOp;
}
function arcsOf() {
  const cardOf = cardOfOps(), arcs = new Map();
  const isInside = (inner, outer) => {
    for (let level = graph.cards[inner].level; inner > outer; inner--) {
      if (graph.cards[inner].level < level) level = graph.cards[inner].level;
      if (level <= graph.cards[outer].level) return false;
    }
    return true;
  };
  for (let i = 0; i < opCount; i++) {
    for (const from of new Set(data.ops.operands[i])) {
      const a = cardOf[from], b = cardOf[i];
      if (a < 0 || b < 0 || a === b) continue;
      const key = a * graph.cards.length + b, arc = arcs.get(key) || {from: a, to: b, bytes: 0, values: 0};
      arc.bytes += data.ops.bytes[from];
      arc.values += 1;
      arcs.set(key, arc);
    }
  }
  return [...arcs.values()].filter((arc) => !isInside(Math.max(arc.from, arc.to), Math.min(arc.from, arc.to)));
}

const svg = (tag, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
function drawArcs() {
  const list = byId("cards"), picture = byId("arcs"), elements = [...list.children];
  picture.setAttribute("height", list.offsetHeight);
  const arcs = arcsOf().sort((a, b) => b.bytes - a.bytes), drawn = [];
  const middle = (row) => elements[row].offsetTop + Math.min(elements[row].offsetHeight / 2, 22);
  for (const arc of arcs) {
    const near = arc.from === graph.row || arc.to === graph.row;
    if (drawn.length >= graph.mostArcs && !near) continue;
    const isBack = arc.to < arc.from, from = middle(arc.from) + (isBack ? -4 : 4), to = middle(arc.to) + (isBack ? 4 : -4);
    const startX = graph.arcWidth + 14 * graph.cards[arc.from].level - 1, endX = graph.arcWidth + 14 * graph.cards[arc.to].level - 5;
    const reach = Math.max(4, graph.arcWidth - 8 - Math.min(graph.arcWidth - 12, 6 + 5 * Math.abs(arc.to - arc.from)));
    const name = "arc" + (near ? " near" : "") + (isBack ? " back" : "");
    const path = svg("path", {d: `M${startX},${from} C${reach},${from} ${reach},${to} ${endX},${to}`, class: name,
                              "marker-end": "url(#" + (near ? "arrow-near" : "arrow") + ")"});
    const title = svg("title", {});
    title.textContent = arcWords(arc);
    path.append(title);
    drawn.push([near, path]);
  }
  drawn.sort((a, b) => a[0] - b[0]);
  picture.replaceChildren(picture.querySelector("defs"), ...drawn.map(([, path]) => path));
  byId("arc-words").textContent = graph.cards.length === 0 ? "" : flowWords(arcs);
}
function nameOfCard(row) {
  const card = graph.cards[row];
  return card.scope !== undefined ? scopes[card.scope].title : card.op !== undefined ? op.label(card.op) : "more";
}
function arcWords(arc) {
  return nameOfCard(arc.from) + " → " + nameOfCard(arc.to) + ": " + count(arc.values, "value") + ", " + byteText(arc.bytes);
}
function flowWords(arcs) {
  const into = arcs.filter((arc) => arc.to === graph.row), out = arcs.filter((arc) => arc.from === graph.row);
  const named = (list, end) => list.slice(0, 4).map((arc) => shortened(nameOfCard(arc[end]), 30) + " (" + byteText(arc.bytes) + ")").join(", ") +
                               (list.length > 4 ? " and " + (list.length - 4) + " more" : "");
  return shortened(nameOfCard(graph.row), 50) + " reads " + (into.length > 0 ? named(into, "from") : "nothing") +
         (out.length > 0 ? "; is read by " + named(out, "to") : "");
}

function toggleCard(row, open) {
  const card = graph.cards[row];
  if (card.more !== undefined) graph.opened.set(card.more, (graph.opened.get(card.more) || graph.mostOps) + 200);
  else if (card.scope === undefined) return;
  else if (open ?? !graph.open.has(card.scope)) graph.open.add(card.scope);
  else graph.open.delete(card.scope);
  drawGraph();
}
function focusCard(row) {
  graph.row = Math.max(0, Math.min(graph.cards.length - 1, row));
  for (const card of byId("cards").children) card.tabIndex = Number(card.dataset.row) === graph.row ? 0 : -1;
  byId("cards").children[graph.row]?.focus();
  drawArcs();
}
function chooseCard(row) {
  const card = graph.cards[row];
  graph.row = row;
  if (card.more !== undefined) toggleCard(row);
  else if (card.op !== undefined) chooseAndShow(stepOf[card.op]);
  else chooseScope(card.scope);
}
function listenToGraph() {
  const list = byId("cards");
  list.addEventListener("click", (event) => {
    const element = event.target.closest(".card");
    if (!element) return;
    const row = Number(element.dataset.row);
    graph.row = row;
    if (event.target.closest(".twist")) toggleCard(row);
    else chooseCard(row);
  });
  list.addEventListener("dblclick", (event) => {
    const element = event.target.closest(".card");
    if (element && !event.target.closest(".twist")) toggleCard(Number(element.dataset.row));
  });
  list.addEventListener("keydown", (event) => {
    const act = {ArrowDown: () => focusCard(graph.row + 1), ArrowUp: () => focusCard(graph.row - 1), Home: () => focusCard(0),
                 End: () => focusCard(graph.cards.length - 1), ArrowRight: () => toggleCard(graph.row, true),
                 ArrowLeft: () => toggleCard(graph.row, false), Enter: () => chooseCard(graph.row), " ": () => chooseCard(graph.row)}[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  listeners.push((what) => { if (what === "matches") drawGraph(); });
}
