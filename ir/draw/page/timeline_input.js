// Pointer, wheel, touch and keys of the timeline. Wheel: zoom at the pointer; with Shift, or over the names: scroll.
// Drag: move; with Shift, or on the time axis: choose a range. Two fingers: zoom. Keys: the help of the page has them.
function zoomAround(time, factor) {
  show(time - (time - state.from) * factor, time + (state.to - time) * factor);
}
const zoomMiddle = (factor) => zoomAround((state.from + state.to) / 2, factor);
function moveBy(time) { show(state.from + time, state.to + time); }
function scrollRows(pixels) {
  timeline.scroll += pixels;
  askDrawing();
}
const placeIn = (event) => {
  const box = timeline.canvas.getBoundingClientRect();
  return {x: event.clientX - box.left, y: event.clientY - box.top};
};

const pointers = new Map();
let drag = null;
function onWheel(event) {
  const {x, y} = placeIn(event);
  const overNames = x < timeline.gutter;
  const amount = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
  if (overNames && timeline.total <= timeline.height - timeline.axis) return;
  event.preventDefault();
  if (overNames) scrollRows(amount);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) moveBy((event.deltaX || amount) * perPixel());
  else zoomAround(timeOf(x), Math.pow(1.0016, amount));
}
function onPointerDown(event) {
  const place = placeIn(event);
  pointers.set(event.pointerId, place);
  if (event.pointerType !== "touch") timeline.canvas.setPointerCapture(event.pointerId);
  const range = event.pointerType !== "touch" && place.x >= timeline.gutter && (event.shiftKey || place.y < timeline.axis);
  drag = {...place, from: state.from, to: state.to, scroll: timeline.scroll, range, moved: false};
  if (pointers.size === 2) {
    const [a, b] = [...pointers.values()];
    drag = {pinch: Math.max(10, Math.abs(a.x - b.x)), middle: timeOf((a.x + b.x) / 2), from: state.from, to: state.to, moved: true};
  }
}
function onPointerMove(event) {
  const place = placeIn(event);
  if (!pointers.has(event.pointerId)) {
    hover(event.pointerType === "touch" ? null : place);
    return;
  }
  pointers.set(event.pointerId, place);
  if (drag && drag.pinch && pointers.size === 2) {
    const [a, b] = [...pointers.values()];
    const factor = drag.pinch / Math.max(10, Math.abs(a.x - b.x)), length = (drag.to - drag.from) * factor;
    const share = ((a.x + b.x) / 2 - timeline.gutter) / plotWidth();
    show(drag.middle - share * length, drag.middle + (1 - share) * length);
  } else if (drag && !drag.pinch) {
    drag.moved = drag.moved || Math.abs(place.x - drag.x) + Math.abs(place.y - drag.y) > 4;
    if (!drag.moved) return;
    hover(null);
    if (drag.range) showChosenRange(drag.x, place.x);
    else {
      timeline.scroll = drag.scroll - (event.pointerType === "touch" ? 0 : place.y - drag.y);
      const shift = (drag.x - place.x) * (drag.to - drag.from) / plotWidth();
      show(drag.from + shift, drag.to + shift);
    }
  }
}
function onPointerUp(event) {
  const place = placeIn(event), known = pointers.delete(event.pointerId);
  byId("range").hidden = true;
  if (!known || !drag || drag.pinch) {
    drag = pointers.size === 0 ? null : drag;
    return;
  }
  if (drag.range && drag.moved) show(Math.min(timeOf(drag.x), timeOf(place.x)), Math.max(timeOf(drag.x), timeOf(place.x)));
  else if (!drag.moved && event.type === "pointerup") click(place);
  drag = null;
}
function showChosenRange(from, to) {
  const range = byId("range"), left = Math.max(timeline.gutter, Math.min(from, to));
  range.hidden = false;
  range.style.left = left + "px";
  range.style.width = Math.max(1, Math.max(from, to) - left) + "px";
}
function click(place) {
  const hit = timelineAt(place.x, place.y);
  if (!hit) return;
  if (hit.row.kind === "device" || hit.inGutter) {
    const device = hit.row.device;
    if (hit.row.kind === "device") timeline.closed.has(device) ? timeline.closed.delete(device) : timeline.closed.add(device);
    askDrawing();
    return;
  }
  if (hit.row.kind === "queue") {
    chooseStep(hit.step);
    if (hit.step >= 0) openPanel("details");
  }
}
function hover(place) {
  const tip = byId("tip"), hit = place && timelineAt(place.x, place.y);
  const lines = hit && !hit.inGutter ? tipOf(hit) : null;
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines);
  const box = timeline.canvas.getBoundingClientRect(), width = tip.offsetWidth, height = tip.offsetHeight;
  const x = box.left + place.x + 14, y = box.top + place.y + 16;
  tip.style.left = Math.max(4, Math.min(x, window.innerWidth - width - 6)) + "px";
  tip.style.top = Math.max(4, y + height > window.innerHeight - 4 ? box.top + place.y - height - 10 : y) + "px";
}

/// The step before or behind the chosen one in its queue that takes time.
function neighbour(by) {
  const at = state.step >= 0 ? state.step : (data.path[0] ?? 0);
  const queue = data.queues[data.steps.queue[at]].steps;
  for (let i = queue.indexOf(at) + by; i >= 0 && i < queue.length; i += by) {
    if (duration(queue[i]) > 0 || (hasMeasured && measuredDuration(queue[i]) > 0)) return queue[i];
  }
  return at;
}
/// The step of the next row at the same time.
function inRow(by) {
  const rows = timeline.rows.filter((row) => row.kind === "queue");
  if (rows.length === 0) return state.step;
  const at = rows.findIndex((row) => state.step >= 0 && row.queue === data.steps.queue[state.step]);
  const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  const time = state.step >= 0 ? data.steps.begin[state.step] : state.from;
  return row.steps[Math.min(row.steps.length - 1, firstEndingAfter(row.steps, false, time))];
}
function chooseAndShow(step) {
  if (step < 0 || step >= stepCount) return;
  chooseStep(step);
  const begin = data.steps.begin[step], end = data.steps.end[step];
  if (end < state.from || begin > state.to) moveBy((begin + end) / 2 - (state.from + state.to) / 2);
  const row = timeline.rows.find((one) => one.kind === "queue" && one.queue === data.steps.queue[step]);
  if (row && (yOf(row) < timeline.axis || yOf(row) + row.height > timeline.height)) scrollRows(yOf(row) - timeline.axis);
}
const timelineKeys = {
  ArrowLeft: () => moveBy(-(state.to - state.from) / 6),
  ArrowRight: () => moveBy((state.to - state.from) / 6),
  ArrowUp: () => chooseAndShow(inRow(-1)),
  ArrowDown: () => chooseAndShow(inRow(1)),
  "+": () => zoomMiddle(0.6),
  "=": () => zoomMiddle(0.6),
  "-": () => zoomMiddle(1 / 0.6),
  0: () => show(0, axisEnd),
  Home: () => moveBy(-axisEnd),
  End: () => moveBy(axisEnd),
  PageUp: () => scrollRows(-timeline.height / 2),
  PageDown: () => scrollRows(timeline.height / 2),
  n: () => chooseAndShow(neighbour(1)),
  p: () => chooseAndShow(neighbour(-1)),
  f: () => { if (state.step >= 0) showStep(state.step); },
  Enter: () => { if (state.step >= 0) openPanel("details"); },
};
function listenToTimeline() {
  const canvas = timeline.canvas;
  canvas.addEventListener("wheel", onWheel, {passive: false});
  canvas.addEventListener("pointerdown", onPointerDown);
  canvas.addEventListener("pointermove", onPointerMove);
  canvas.addEventListener("pointerup", onPointerUp);
  canvas.addEventListener("pointercancel", onPointerUp);
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("dblclick", (event) => {
    const place = placeIn(event), hit = timelineAt(place.x, place.y);
    if (hit && hit.step >= 0) showStep(hit.step);
  });
  canvas.addEventListener("keydown", (event) => {
    const act = timelineKeys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  byId("zoom-in").addEventListener("click", () => zoomMiddle(0.5));
  byId("zoom-out").addEventListener("click", () => zoomMiddle(2));
  byId("zoom-all").addEventListener("click", () => show(0, axisEnd));
  listeners.push(askDrawing);
  new ResizeObserver(askDrawing).observe(canvas);
}
