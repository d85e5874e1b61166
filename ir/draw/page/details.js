// What is said of a step: in short at the pointer, in full in its panel.
function timesOf(step) {
  const words = "predicted " + seconds(duration(step));
  return hasMeasured ? words + ", measured " + seconds(measuredDuration(step)) : words;
}
function tipOf(hit) {
  if (hit.row.kind === "memory") return tipOfMemory(hit);
  if (hit.row.kind !== "queue" || hit.step < 0) return null;
  const step = hit.step, i = data.steps.op[step];
  const lines = [make("strong", "", {}, shortened(op.label(i), 70)),
                 make("div", "", {}, shortened(op.detail(i) + " → " + op.type(i), 90)),
                 make("div", "", {}, byteText(data.ops.bytes[i]) + " · " + timesOf(step)),
                 make("div", "", {}, "begins " + seconds(data.steps.begin[step]) + " · slack " + seconds(data.steps.slack[step]) +
                                     (onPath[step] ? " · on the critical path" : ""))];
  const scope = data.ops.scope[i];
  if (scopes[scope].kind === "scope") lines.push(make("div", "faint", {}, "in " + shortened(scopes[scope].title, 60)));
  if (op.isTransfer(i)) lines.push(make("div", "", {}, shortened(routeWords(i), 90)));
  if (op.place(i) !== "") lines.push(make("div", "faint", {}, shortened(op.place(i), 80)));
  if (hit.steps > 1) lines.push(make("div", "faint", {}, count(hit.steps, "op") + " within two pixels: zoom in to see them apart"));
  return lines;
}
function tipOfMemory(hit) {
  const device = data.devices[hit.row.device], time = Math.min(hit.time, data.predicted), measured = hit.row.measuredHeld;
  const measuredTime = Math.min(hit.time, data.measured || 0);
  const lines = [measured ? make("strong", "", {}, byteText(heldAt(measured, measuredTime)) + " held on " + device.name + " at " + seconds(measuredTime) + ", measured") : "",
                 make(measured ? "div" : "strong", "", {}, byteText(heldAt(hit.row.held, time)) + " held on " + device.name + " at " + seconds(time) + (measured ? ", predicted" : "")),
                 make("div", "faint", {}, byteText(device.resident) + " of it between steps" +
                                          (device.capacity > 0 ? " · memory of " + byteText(device.capacity) : ""))];
  for (const {op: i, bytes} of largestAt(hit.row.device, time, 5)) {
    lines.push(make("div", "", {}, byteText(bytes) + "  " + shortened(op.label(i), 50)));
  }
  return lines;
}
function routeWords(i) {
  const [from, ...links] = data.ops.route[i];
  return data.devices[from].name + " → " + data.devices[data.ops.device[i]].name +
         (links.length > 0 ? " over " + links.map((link) => data.links[link]).join(", ") : "");
}

/// A button that chooses the step of an op; plain words for ops without a step.
function linkTo(i) {
  const words = shortened(op.label(i), 48), where = data.devices[data.ops.device[i]].name;
  const step = stepOf[i];
  if (step < 0) return make("li", "", {}, words + " ", make("span", "faint", {}, "kept on " + where));
  return make("li", "", {}, make("button", "link", {type: "button", onclick: () => { chooseAndShow(step); }}, words),
              make("span", "faint", {}, " " + where + ", " + seconds(duration(step))));
}
function listOf(title, ops) {
  if (ops.length === 0) return null;
  const most = 30, items = ops.slice(0, most).map(linkTo);
  if (ops.length > most) items.push(make("li", "faint", {}, "and " + (ops.length - most) + " more"));
  return make("section", "", {}, make("h3", "", {}, title), make("ul", "links", {}, ...items));
}
function fact(term, words) { return [make("dt", "", {}, term), make("dd", "", {}, words)]; }

function drawDetails() {
  const panel = byId("panel-details"), step = state.step;
  if (step < 0) {
    panel.replaceChildren(make("p", "faint", {}, "Choose an op in the timeline (click, tap, or the keys ↑ ↓ n p) to see all of it here."));
    return;
  }
  const i = data.steps.op[step], scope = data.ops.scope[i];
  const facts = [...fact("Op", op.detail(i)), ...fact("Result", op.type(i) + ", " + byteText(data.ops.bytes[i])),
                 ...fact("Name in the plan", op.name(i)),
                 ...fact("Scope", scopes[scope].kind === "scope" ? pathOfScope(scope) : "none"),
                 ...fact("Queue", data.queues[data.steps.queue[step]].label),
                 ...fact("Predicted", seconds(duration(step)) + ", from " + seconds(data.steps.begin[step]) + " to " + seconds(data.steps.end[step]))];
  if (hasMeasured) {
    facts.push(...fact("Measured", seconds(measuredDuration(step)) + ", from " + seconds(data.steps.measuredBegin[step]) + " to " +
                                   seconds(data.steps.measuredEnd[step])));
  }
  facts.push(...fact("Slack", seconds(data.steps.slack[step]) + (onPath[step] ? "; on the critical path" : "; it may end so much later and the step does not")));
  if (hasMeasured && onMeasuredPath[step]) facts.push(...fact("", "on the critical path of what was measured"));
  if (op.isTransfer(i)) facts.push(...fact("Route", routeWords(i)));
  facts.push(...fact("Written at", op.place(i) || "not known"));
  panel.replaceChildren(
      make("h2", "", {}, op.label(i)),
      make("p", "", {}, make("button", "", {type: "button", onclick: () => showStep(step)}, "Zoom to it")),
      make("dl", "", {}, ...facts),
      ...[listOf("Reads", [...new Set(data.ops.operands[i])]), listOf("Read by", readersOf(i)),
          listOf("Waits for, on other queues", data.steps.waits[step].map((wait) => data.steps.op[wait]))].filter((one) => one));
}
function pathOfScope(index) {
  const words = [];
  for (let at = index; at > 0; at = scopes[at].parent) if (scopes[at].kind === "scope") words.unshift(scopes[at].title);
  return words.join(" / ");
}
