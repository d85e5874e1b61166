// Draws the timeline on its canvas, once a frame at most, in the colours of the style sheet's scheme.
const palette = {};
function readPalette() {
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
  for (const name of ["ground", "panel", "line", "ink", "faint", "path", "chosen", "band"]) palette[name] = colour("--" + name);
  palette.kinds = Array.from({length: 10}, (_, slot) => colour("--kind" + slot));
  palette.inks = Array.from({length: 10}, (_, slot) => colour("--kind-ink" + slot) || colour("--kind-ink"));
  palette.dark = colour("--is-dark") === "1";
}

let drawingAsked = false;
function askDrawing() {
  if (drawingAsked) return;
  drawingAsked = true;
  requestAnimationFrame(() => { drawingAsked = false; drawTimeline(); });
}

function drawTimeline() {
  const began = performance.now(), canvas = timeline.canvas, ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (width === 0) return;
  timeline.gutter = width < 600 ? 92 : 150;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  Object.assign(timeline, {width, height});
  layOutTimeline();
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, width, height);
  pen.textBaseline = "middle";
  timeline.drawn = 0;
  for (const row of timeline.rows) {
    if (yOf(row) + row.height >= timeline.axis && yOf(row) < height) drawRow(pen, row);
  }
  if (state.matches === null) drawPathLines(pen);
  drawChosen(pen);
  drawAxis(pen);
  drawScrollBar(pen);
  timeline.milliseconds = performance.now() - began;
}

function drawRow(pen, row) {
  const y = yOf(row), device = data.devices[row.device];
  pen.fillStyle = row.kind === "device" ? palette.band : palette.panel;
  pen.fillRect(0, y, timeline.width, row.height);
  pen.fillStyle = device.border;
  pen.fillRect(0, y, 5, row.height);
  if (row.kind === "device") drawDeviceName(pen, row, device, y);
  else {
    pen.fillStyle = palette.line;
    pen.fillRect(0, y + row.height - 1, timeline.width, 1);
    pen.save();
    pen.beginPath();
    pen.rect(timeline.gutter, Math.max(y, timeline.axis), plotWidth(), row.height);
    pen.clip();
    drawGrid(pen, y, row.height);
    row.kind === "queue" ? drawQueue(pen, row, y) : drawMemory(pen, row, y);
    pen.restore();
    drawRowName(pen, row, y, device);
  }
}

function drawDeviceName(pen, row, device, y) {
  pen.fillStyle = palette.ink;
  pen.font = "600 12px system-ui, sans-serif";
  const closed = timeline.closed.has(row.device);
  pen.fillText((closed ? "▸ " : "▾ ") + shortened(device.name, 24), 12, y + row.height / 2);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = palette.faint;
  pen.fillText(shortened((standsIn(device) ? device.backend + " in place of " : "") + device.model + (closed ? "  · closed: choose its name to open it" : ""), 90), timeline.gutter + 4, y + row.height / 2);
}

function drawRowName(pen, row, y, device) {
  const narrow = timeline.gutter < 120;
  pen.fillStyle = palette.ink;
  pen.font = "11px system-ui, sans-serif";
  if (row.kind === "memory") {
    pen.fillText("memory", 12, y + row.height / 2 - 6);
    pen.fillStyle = palette.faint;
    pen.fillText((narrow ? "" : "peak ") + byteText(device.peak), 12, y + row.height / 2 + 7);
    return;
  }
  const label = data.queues[row.queue].label, name = label.startsWith(device.name + " ") ? label.slice(device.name.length + 1) : label;
  const halves = hasMeasured && row.height >= 24;
  pen.fillText(shortened(name, narrow ? 12 : 20), 12, y + (halves ? row.height / 4 + 2 : row.height / 2));
  if (halves) {
    pen.fillStyle = palette.faint;
    pen.fillText("measured", 12, y + 3 * row.height / 4);
  }
}

function drawQueue(pen, row, y) {
  const halves = hasMeasured ? 2 : 1, height = row.height / halves;
  for (let half = 0; half < halves; half++) {
    const measured = half === 1, top = y + half * height + 1, tall = height - (measured ? 3 : 2);
    for (const span of visibleSpans(orderedSteps(row, measured), measured)) {
      drawSpan(pen, span, top, tall, measured);
    }
  }
}

function drawSpan(pen, span, top, height, measured) {
  timeline.drawn++;
  const slot = stepSlot[span.step], narrow = span.pixel !== undefined;
  const isPath = narrow ? span.path : pathOf(measured)[span.step];
  const fits = state.matches === null || (narrow ? span.matches : state.matches[span.step]);
  const width = Math.max(1, span.width - (span.width > 4 ? 1 : 0));
  pen.globalAlpha = (fits ? 1 : 0.14) * (narrow ? Math.max(0.45, Math.min(1, span.busy)) : 1);
  pen.fillStyle = palette.kinds[slot];
  pen.fillRect(span.left, top, width, height);
  if (hasMeasured && !measured && span.width > 3) { // predicted: an outline, so that it is not taken for measured
    pen.fillStyle = palette.panel;
    pen.globalAlpha = fits ? 0.45 : 0.1;
    pen.fillRect(span.left + 1, top + 1, width - 2, height - 2);
  }
  pen.globalAlpha = fits ? 1 : 0.2;
  if (isPath) {
    pen.fillStyle = palette.path;
    pen.fillRect(span.left, top, Math.max(1.5, width), 3);
  }
  if (span.width > 34 && height >= 11) {
    const left = Math.max(span.left, timeline.gutter), room = span.left + width - left - 6;
    const letters = Math.floor(room / 6.2);
    if (letters >= 3) {
      pen.fillStyle = hasMeasured && !measured ? palette.ink : palette.inks[slot];
      pen.font = "11px system-ui, sans-serif";
      pen.fillText(shortened(labelOf(span.step, letters), letters), left + 3, top + height / 2 + (isPath ? 1.5 : 0.5));
    }
  }
  pen.globalAlpha = 1;
}
/// The scope where the author named it and there is room, else the label of the op.
function labelOf(step, letters) {
  const i = data.steps.op[step], scope = data.ops.scope[i], label = op.label(i);
  const whole = scope > 0 && scopes[scope].kind === "scope" ? scopes[scope].title + ": " + label : label;
  return whole.length <= letters ? whole : label;
}

/// Filled as measured, where there is a measured step, with the predicted as a line; else filled as predicted.
function drawMemory(pen, row, y) {
  const device = data.devices[row.device];
  pen.lineWidth = 1;
  if (row.measuredHeld) {
    traceMemory(pen, row, y, row.measuredHeld, data.measured);
    fillMemory(pen, device);
    traceMemory(pen, row, y, row.held, data.predicted);
    pen.setLineDash([3, 3]);
    pen.strokeStyle = palette.ink;
    pen.stroke();
    pen.setLineDash([]);
  } else {
    traceMemory(pen, row, y, row.held, data.predicted);
    fillMemory(pen, device);
  }
}
function fillMemory(pen, device) {
  pen.fillStyle = palette.dark ? device.border : device.fill;
  pen.fill();
  pen.strokeStyle = device.border;
  pen.stroke();
}
/// Makes the outline of the bytes that are held from the begin of what is shown to `until` the pen's path.
function traceMemory(pen, row, y, held, until) {
  const height = row.height - 4, top = y + 3, scale = height / largestPeak;
  pen.beginPath();
  pen.moveTo(timeline.gutter, top + height);
  let last = Math.max(0, firstAfter(held, state.from) - 1);
  const tops = []; // of each pixel the largest, so that no peak is lost
  for (let i = last; i < held.length / 2 && held[2 * i] <= state.to; i++) {
    const x = Math.max(timeline.gutter, Math.floor(xOf(held[2 * i]))), before = tops[tops.length - 1];
    if (before && before.x === x) {
      before.most = Math.max(before.most, held[2 * i + 1]);
      before.after = held[2 * i + 1];
    } else {
      tops.push({x, most: Math.max(held[2 * i + 1]), after: held[2 * i + 1]});
    }
  }
  let level = top + height;
  for (const point of tops) {
    pen.lineTo(point.x, level);
    pen.lineTo(point.x, top + height - point.most * scale);
    level = top + height - point.after * scale;
    if (point.after !== point.most) {
      pen.lineTo(point.x + 1, top + height - point.most * scale);
      pen.lineTo(point.x + 1, level);
    }
  }
  const end = Math.min(timeline.width, xOf(until));
  pen.lineTo(end, level);
  pen.lineTo(end, top + height);
  pen.closePath();
}
function firstAfter(held, time) {
  let low = 0, high = held.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (held[2 * middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// Where the critical path goes from one queue to another.
function drawPathLines(pen) {
  const path = hasMeasured ? data.measuredPath : data.path, rowOf = new Map();
  timeline.rows.forEach((row) => { if (row.kind === "queue") rowOf.set(row.queue, row); });
  pen.save();
  pen.beginPath();
  pen.rect(timeline.gutter, timeline.axis, plotWidth(), timeline.height);
  pen.clip();
  pen.strokeStyle = palette.path;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (let i = 1; i < path.length; i++) {
    const before = path[i - 1], step = path[i];
    const from = rowOf.get(data.steps.queue[before]), to = rowOf.get(data.steps.queue[step]);
    const end = endOf(before, hasMeasured), begin = beginOf(step, hasMeasured);
    if (!from || !to || from === to || begin < state.from || end > state.to) continue;
    const shift = (row) => yOf(row) + (hasMeasured ? row.height / 2 : 0) + 2;
    pen.moveTo(xOf(end), shift(from));
    pen.lineTo(xOf(begin), shift(to));
  }
  pen.stroke();
  pen.restore();
}

function drawChosen(pen) {
  if (state.step < 0) return;
  const row = timeline.rows.find((one) => one.kind === "queue" && one.queue === data.steps.queue[state.step]);
  if (!row) return;
  pen.save();
  pen.beginPath();
  pen.rect(timeline.gutter, timeline.axis, plotWidth(), timeline.height);
  pen.clip();
  pen.strokeStyle = palette.chosen;
  pen.lineWidth = 2;
  for (let half = 0; half < (hasMeasured ? 2 : 1); half++) {
    const measured = half === 1, height = row.height / (hasMeasured ? 2 : 1);
    const left = xOf(beginOf(state.step, measured)), right = xOf(endOf(state.step, measured));
    pen.strokeRect(left - 1, yOf(row) + half * height, Math.max(3, right - left + 2), height - 1);
  }
  pen.restore();
}

/// Ticks at 1, 2 or 5 times a power of ten.
function drawAxis(pen) {
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, timeline.width, timeline.axis);
  pen.fillStyle = palette.line;
  pen.fillRect(0, timeline.axis - 1, timeline.width, 1);
  pen.fillStyle = palette.faint;
  pen.font = "11px system-ui, sans-serif";
  const [tick, times] = ticks();
  let end = timeline.gutter; // of the words before
  for (const time of times) {
    const x = xOf(time), words = tickText(time, tick), width = pen.measureText(words).width;
    pen.fillStyle = palette.line;
    pen.fillRect(x, timeline.axis - 7, 1, 7);
    const left = x + 3 + width <= timeline.width ? x + 3 : x - 3 - width; // the last may stand before its tick
    if (left <= end) continue;
    pen.fillStyle = palette.faint;
    pen.fillText(words, left, timeline.axis / 2 - 1);
    end = left + width + 6;
  }
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, timeline.gutter, timeline.axis - 1);
  pen.fillStyle = palette.faint;
  pen.fillText("time", 12, timeline.axis / 2 - 1);
}
/// The distance of the ticks of the axis, and their times.
function ticks() {
  const least = perPixel() * 84, power = Math.pow(10, Math.floor(Math.log10(least))), times = [];
  const tick = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least);
  for (let number = Math.ceil(state.from / tick); number * tick <= state.to; number++) times.push(number * tick);
  return [tick, times];
}
/// Lines of the ticks, below what a row shows.
function drawGrid(pen, y, height) {
  pen.fillStyle = palette.line;
  for (const time of ticks()[1]) pen.fillRect(xOf(time), y, 1, height);
}
function tickText(time, tick) {
  if (time === 0) return "0";
  const [unit, name] = axisUnit();
  const places = Math.max(0, Math.ceil(-Math.log10(tick / unit) - 1e-9));
  return (time / unit).toFixed(Math.min(6, places)) + " " + name;
}
function axisUnit() {
  const largest = state.to;
  return largest >= 1e9 ? [1e9, "s"] : largest >= 1e6 ? [1e6, "ms"] : largest >= 1e3 ? [1e3, "µs"] : [1, "ns"];
}

function drawScrollBar(pen) {
  const space = timeline.height - timeline.axis;
  if (timeline.total <= space) return;
  pen.fillStyle = palette.faint;
  pen.globalAlpha = 0.5;
  pen.fillRect(timeline.width - 5, timeline.axis + space * timeline.scroll / timeline.total, 4, space * space / timeline.total);
  pen.globalAlpha = 1;
}
