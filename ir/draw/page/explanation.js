// The explanation of the plan (compiler/explain), as sentences and tables.
function table(headings, rows) {
  return make("div", "scrolled", {tabindex: "0"}, make("table", "", {},
      make("thead", "", {}, make("tr", "", {}, ...headings.map((words) => make("th", "", {scope: "col"}, words)))),
      make("tbody", "", {}, ...rows.map((cells) => make("tr", "", {}, ...cells.map((cell) => make("td", "", {}, cell)))))));
}
const ofSeconds = (value) => value === null ? "–" : seconds(value * 1e9);
function part(title, words, ...content) {
  return make("section", "", {}, make("h3", "", {}, title), words ? make("p", "", {}, words) : "", ...content);
}
function stepWords(said) {
  return "A step among many takes " + ofSeconds(said.predictedSeconds) + ". In any order of this placement's ops it would take at least " +
         ofSeconds(said.lowerBoundSeconds) + ". A step by itself, its feeds first, takes " + ofSeconds(said.firstStepSeconds) + "." +
         (said.boundOfSplitsSeconds !== null ? " By its products, convolutions, attention and copies alone, without launches, every split along one axis over alike devices takes at least " + ofSeconds(said.boundOfSplitsSeconds) + (said.split ? "." : "; that does not hold for whole ops, as here.") : "");
}
function drawExplanation() {
  const panel = byId("panel-explanation"), said = data.explanation;
  if (!said) {
    panel.replaceChildren(make("p", "faint", {}, "There is no explanation of this plan."));
    return;
  }
  const parts = [part("The step", stepWords(said)),
    part("Devices", said.placement + "; " + said.devices.length + " of the machine's " + said.machineDevices + " devices are used", table(["Device", "Work", "Memory at most", "Kept between steps"], said.devices.map((row) =>
        [row.name, row.share > 0 ? percent(row.share) : "–", byteText(row.memoryBytes) + (row.capacityBytes > 0 ? " of " + byteText(row.capacityBytes) : ""), byteText(row.residentBytes)])))];
  if (said.considered.length > 0) {
    const shown = said.considered.filter((row) => row.notable), left = said.considered.length - shown.length;
    parts.push(part("Why this plan: what was compared", left > 0 ? "The best of each kind; dfc explain --all-candidates lists " + left + " more." : "",
        table(["Placement", "Step", ""], shown.map((row) => [row.description, ofSeconds(row.seconds), row.verdict]))));
  }
  for (const [title, rows] of [["How ops are cut", said.scopes], ["How ops are cut within a group", said.scopesInGroups]]) {
    if (rows.length === 0) continue;
    parts.push(part(title, "", table(["Scope", "Share", "Ways"], rows.filter((row) => row.share >= 0.001).map((row) =>
        [(row.scope || "(no scope)") + (row.count > 1 ? " × " + row.count : ""), percent(row.share),
         row.ways.slice(0, 3).map((way) => percent(way.share) + " " + way.how).join("; ")]))));
  }
  if (said.copies.length > 0) {
    parts.push(part("What devices send one another", "Hidden: the share of a link's time in which the receiving device computes.",
        table(["Kind", "Transfers", "Bytes to a device", "Link time", "Hidden"], said.copies.map((row) =>
            [row.kind, row.transfers.toLocaleString("en"), byteText(row.bytesPerDevice), ofSeconds(row.linkSeconds), percent(row.hidden)]))));
  }
  if (said.parameters.length > 0) {
    parts.push(part("Where parameters are", "", table(["Parameters", "Type", "Layout", "Bytes on a device"], said.parameters.map((row) =>
        [row.names + (row.count > 1 ? " (" + row.count + ")" : ""), row.type, row.layout, byteText(row.bytesPerDevice)]))));
  }
  if (said.considered.length === 0) parts.push(make("p", "faint", {}, "A sealed plan does not keep what was compared with it, nor how ops were cut: make the page from the graph file for that."));
  panel.replaceChildren(...parts);
}
