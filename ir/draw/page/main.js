// Puts the page together: its head, panels and search.
function figure(term, words, hint) {
  return make("div", "figure", hint ? {title: hint} : {}, make("dt", "", {}, term), make("dd", "", {}, words));
}
function drawHead() {
  document.title = shortened(data.graph, 60) + " on " + data.machine;
  byId("title").textContent = shortened(data.graph, 80);
  byId("machine").textContent = "on " + shortened(data.machine, 60);
  const transfers = data.steps.op.filter((i) => op.isTransfer(i)), bytes = transfers.reduce((sum, i) => sum + data.ops.bytes[i], 0);
  const figures = [figure("step, predicted", seconds(data.predicted), "from its first op to its last")];
  if (hasMeasured) figures.push(figure("measured", seconds(data.measured), data.which),
                                figure("measured / predicted", (data.measured / Math.max(1e-9, data.predicted)).toFixed(3)));
  figures.push(figure("lower bound", seconds(data.bound), "no order of this placement's ops takes less"),
               figure("ops of the plan", stepCount.toLocaleString("en"), "inputs, computations behind fusion, and transfers"),
               figure("of them transfers", transfers.length.toLocaleString("en") + (bytes > 0 ? ", " + byteText(bytes) : "")),
               figure("memory, most", byteText(Math.max(0, ...data.devices.map((device) => device.arena))), "of the device that holds the most"));
  byId("figures").replaceChildren(...figures);
  byId("policy").textContent = "placement: " + data.policy;
  byId("stand-ins").textContent = data.standIns;
}
function drawLegend() {
  const kinds = [...slotOfKind].sort((a, b) => a[1] - b[1]).filter(([kind]) => kindSeconds.has(kind));
  const keys = kinds.map(([kind, slot]) => make("span", "key", {}, make("span", "swatch kind" + slot), kind));
  if (kindSeconds.size > kinds.length) keys.push(make("span", "key", {}, make("span", "swatch kind" + otherSlot), "other ops"));
  keys.push(make("span", "key", {}, make("span", "swatch path"), hasMeasured ? "critical path (of each)" : "critical path"));
  if (hasMeasured) keys.push(make("span", "key", {}, "pale, above: predicted; full, below: measured"), make("span", "key", {}, "memory: filled as measured, dashed as predicted"));
  byId("legend").replaceChildren(...keys);
}

const panels = ["graph", "sums", "explanation", "details"];
function openPanel(name) {
  for (const one of panels) {
    byId("tab-" + one).setAttribute("aria-selected", String(one === name));
    byId("tab-" + one).tabIndex = one === name ? 0 : -1;
    byId("panel-" + one).hidden = one !== name;
  }
  if (name === "graph") requestAnimationFrame(drawArcs);
}
function listenToPanels() {
  for (const name of panels) byId("tab-" + name).addEventListener("click", () => openPanel(name));
  byId("tabs").addEventListener("keydown", (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by) return;
    const at = panels.findIndex((name) => byId("tab-" + name).getAttribute("aria-selected") === "true");
    const name = panels[(at + by + panels.length) % panels.length];
    openPanel(name);
    byId("tab-" + name).focus();
  });
}
function listenToSearch() {
  const box = byId("search");
  let waiting = 0;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(box.value), 120);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    clearTimeout(waiting);
    if (state.search !== box.value) search(box.value);
    nextMatch(event.shiftKey ? -1 : 1);
  });
  byId("clear").addEventListener("click", clearChoice);
  listeners.push((what) => { if (what === "matches") drawFound(); });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape") {
      clearChoice();
    }
  });
}
function clearChoice() {
  byId("search").value = "";
  Object.assign(state, {search: "", scope: 0, step: -1});
  hover(null);
  updateMatches();
  changed("step");
}
function nextMatch(by) {
  const all = matchedSteps();
  if (all.length === 0) return;
  const at = all.indexOf(state.step);
  const step = all[at < 0 ? 0 : (at + by + all.length) % all.length];
  chooseAndShow(step);
  showStep(step);
}
function drawFound() {
  const isChosen = state.matches !== null, all = matchedSteps();
  byId("clear").hidden = !isChosen;
  byId("found").textContent = !isChosen ? ""
      : count(all.length, "op") + ", " + seconds(all.reduce((sum, step) => sum + duration(step), 0)) + " predicted" +
        (state.scope > 0 ? ", in " + shortened(scopes[state.scope].title, 40) : "");
}
function announceStep() {
  if (state.step < 0) return;
  const i = data.steps.op[state.step];
  byId("said").textContent = op.label(i) + ", " + op.detail(i) + ", " + op.type(i) + ", " + timesOf(state.step) + ", " +
      data.queues[data.steps.queue[state.step]].label;
}

readPalette();
drawHead();
drawLegend();
drawExplanation();
drawDetails();
listenToTimeline();
listenToGraph();
listenToTables();
listenToPanels();
listenToSearch();
listeners.push((what) => { if (what === "step") { drawDetails(); announceStep(); } });
openAtFirst();
drawGraph();
drawTables();
drawTimeline();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readPalette(); askDrawing(); });
window.addEventListener("resize", () => requestAnimationFrame(drawArcs));
/// For tests: what the page holds and how long it takes.
window.dfcPage = {state, data, timeline, graph, show, showStep, xOf, yOf, readyAt: performance.now()};
document.documentElement.dataset.ready = "yes";
