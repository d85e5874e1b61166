// The data of the page, as ir/draw/page/page_data.cpp wrote them, with what all views derive from them.
const data = JSON.parse(byId("data").textContent);
const text = (index) => data.strings[index];
const stepCount = data.steps.op.length, opCount = data.ops.name.length;
const hasMeasured = data.measured !== null;
/// Whether the trace is of something that plays the device.
const standsIn = (device) => device.backend === "emulated" || device.backend === "null";
/// The axis of time, in nanoseconds: predicted and measured are on one scale.
const axisEnd = Math.max(data.predicted, data.measured || 0, 1);

const op = {
  name: (i) => text(data.ops.name[i]),
  label: (i) => text(data.ops.label[i]),
  kind: (i) => text(data.ops.kind[i]),
  detail: (i) => text(data.ops.detail[i]),
  type: (i) => text(data.ops.type[i]),
  place: (i) => text(data.ops.place[i]),
  isTransfer: (i) => data.ops.route[i] !== 0,
};
const isResident = (i) => op.kind(i) === "parameter" || op.kind(i) === "constant";
const duration = (step) => Math.max(0, data.steps.end[step] - data.steps.begin[step]);
const measuredDuration = (step) => Math.max(0, data.steps.measuredEnd[step] - data.steps.measuredBegin[step]);

const stepOf = new Int32Array(opCount).fill(-1);
data.steps.op.forEach((i, step) => { stepOf[i] = step; });
const onPath = new Uint8Array(stepCount), onMeasuredPath = new Uint8Array(stepCount);
data.path.forEach((step) => { onPath[step] = 1; });
(data.measuredPath || []).forEach((step) => { onMeasuredPath[step] = 1; });

// --- Scopes: children in the order of computation; ops and sums of a scope hold those of its children.
const scopes = data.scopes;
scopes.forEach((scope) => Object.assign(scope, {children: [], ops: [], opCount: 0, seconds: 0, measured: 0,
                                                transfers: 0, parameterBytes: 0, devices: new Set()}));
scopes.forEach((scope, index) => {
  scope.index = index;
  scope.level = index === 0 ? -1 : scopes[scope.parent].level + 1;
  if (index > 0) scopes[scope.parent].children.push(index);
});
scopes.forEach((scope) => scope.children.sort((a, b) => scopes[a].order - scopes[b].order));
for (let i = 0; i < opCount; i++) {
  const scope = scopes[data.ops.scope[i]], step = stepOf[i];
  scope.ops.push(i);
  scope.opCount += step >= 0 ? 1 : 0;
  scope.transfers += op.isTransfer(i) ? 1 : 0;
  scope.parameterBytes += op.kind(i) === "parameter" ? data.ops.bytes[i] : 0;
  scope.devices.add(data.ops.device[i]);
  if (step >= 0) {
    scope.seconds += duration(step);
    scope.measured += hasMeasured ? measuredDuration(step) : 0;
  }
}
for (let i = scopes.length - 1; i > 0; i--) {
  const scope = scopes[i], parent = scopes[scope.parent];
  for (const key of ["opCount", "transfers", "seconds", "measured", "parameterBytes"]) parent[key] += scope[key];
  scope.devices.forEach((device) => parent.devices.add(device));
}
/// All ops of a scope, those of its children included.
function opsOf(index) {
  const all = [], open = [index];
  while (open.length > 0) {
    const scope = scopes[open.pop()];
    for (const i of scope.ops) all.push(i);
    open.push(...scope.children);
  }
  return all;
}
function mostCommonKinds(ops, most) {
  const counts = new Map();
  for (const i of ops) if (stepOf[i] >= 0) counts.set(op.kind(i), (counts.get(op.kind(i)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, most).map(([kind]) => kind);
}
scopes.forEach((scope) => {
  scope.title = scope.kind === "root" ? "whole step"
      : scope.kind === "outside" && scopes[0].children.length === 1 ? "all ops: the graph names no scopes"
      : scope.kind === "outside" ? "no scope: " + (mostCommonKinds(scope.ops, 3).join(", ") || "values kept between steps")
      : scope.name === "" ? "(scope without a name)" : scope.name;
});
const titleOfScope = (index) => index === 0 ? "no scope" : scopes[index].title;

/// "gpu0 to gpu7", "cpu0, gpu2".
function deviceWords(devices) {
  const all = [...devices].sort((a, b) => a - b), words = [];
  for (let i = 0; i < all.length;) {
    let last = i;
    while (last + 1 < all.length && all[last + 1] === all[last] + 1) last++;
    const from = data.devices[all[i]].name, to = data.devices[all[last]].name;
    words.push(last - i > 1 ? from + " to " + to : last > i ? from + ", " + to : from);
    i = last + 1;
  }
  return words.join(", ");
}

// --- Colours: the eight kinds of op that take the most time have one each; transfers and the rest have their own.
const kindSeconds = new Map();
for (let step = 0; step < stepCount; step++) {
  const kind = op.kind(data.steps.op[step]);
  kindSeconds.set(kind, (kindSeconds.get(kind) || 0) + duration(step));
}
const rankedKinds = [...kindSeconds].filter(([kind]) => kind !== "transfer").sort((a, b) => b[1] - a[1]);
const slotOfKind = new Map(rankedKinds.slice(0, 8).map(([kind], slot) => [kind, slot]));
const otherSlot = 8, transferSlot = 9;
slotOfKind.set("transfer", transferSlot);
const slotOf = (kind) => slotOfKind.has(kind) ? slotOfKind.get(kind) : otherSlot;
const stepSlot = new Uint8Array(stepCount);
for (let step = 0; step < stepCount; step++) stepSlot[step] = slotOf(op.kind(data.steps.op[step]));

// --- What is chosen and shown, and who wants to know.
const state = {from: 0, to: axisEnd, step: -1, scope: 0, search: "", matches: null};
const listeners = [];
function changed(what) { listeners.forEach((listener) => listener(what)); }
const readers = [];
/// The steps of the ops that read a result of `i`.
function readersOf(i) {
  if (readers.length === 0) {
    for (let at = 0; at < opCount; at++) readers.push([]);
    data.ops.operands.forEach((operands, reader) => new Set(operands).forEach((from) => readers[from].push(reader)));
  }
  return readers[i];
}
function chooseStep(step) {
  state.step = step;
  changed("step");
}
/// The ops of a scope stand out in the timeline; 0: of all.
function chooseScope(index) {
  state.scope = state.scope === index ? 0 : index;
  updateMatches();
}
function search(words) {
  state.search = words;
  updateMatches();
}
function updateMatches() {
  const words = state.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0 && state.scope === 0) {
    state.matches = null;
  } else {
    state.matches = new Uint8Array(stepCount);
    const inScope = new Uint8Array(opCount);
    for (const i of opsOf(state.scope)) inScope[i] = 1;
    for (let step = 0; step < stepCount; step++) {
      const i = data.steps.op[step];
      state.matches[step] = inScope[i] && words.every((word) => searchedText(i).includes(word)) ? 1 : 0;
    }
  }
  changed("matches");
}
const searchedTexts = [];
function searchedText(i) {
  if (searchedTexts[i] === undefined) {
    searchedTexts[i] = [op.name(i), op.label(i), op.detail(i), op.kind(i), op.type(i),
                        titleOfScope(data.ops.scope[i]), data.devices[data.ops.device[i]].name]
        .join("\n").toLowerCase();
  }
  return searchedTexts[i];
}
function matchedSteps() {
  const all = [];
  for (let step = 0; state.matches && step < stepCount; step++) if (state.matches[step]) all.push(step);
  return all;
}
function show(from, to) {
  const least = Math.min(axisEnd, 20), length = Math.min(axisEnd, Math.max(least, to - from));
  state.from = Math.min(Math.max(0, from), axisEnd - length);
  state.to = state.from + length;
  changed("range");
}
/// Zooms to a step with as much around it.
function showStep(step) {
  const begin = data.steps.begin[step], length = Math.max(duration(step), axisEnd / 1e5, 20);
  show(begin - 4 * length, begin + 5 * length);
}
