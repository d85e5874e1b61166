// The rows of the timeline, from above: for each device that works or holds values its queues, then its memory.
// A row of a queue has two halves where there is a measured step: predicted above measured.
const timeline = {canvas: byId("timeline"), rows: [], gutter: 150, axis: 26, scroll: 0, height: 0, width: 0,
                  closed: new Set(), hover: null, row: -1};

function rowsOfTimeline() {
  const rows = [];
  data.devices.forEach((device, index) => {
    const queues = data.queues.map((queue, id) => ({queue, id}))
                       .filter(({queue}) => queue.device === index && queue.steps.length > 0);
    if (queues.length === 0 && device.arena === 0) return;
    rows.push({kind: "device", device: index, height: 20});
    if (timeline.closed.has(index)) return;
    for (const {queue, id} of queues) {
      const worked = queue.steps.some((step) => duration(step) > 0 || (hasMeasured && measuredDuration(step) > 0));
      if (worked) rows.push({kind: "queue", device: index, queue: id, steps: queue.steps, height: 0});
    }
    if (device.arena > 0) rows.push({kind: "memory", device: index, held: data.memory.held[index],
                                     measuredHeld: hasMeasured ? data.memory.measuredHeld[index] : null, height: 30});
  });
  return rows;
}

/// Rows grow into the height that there is, within limits; more rows scroll.
function layOutTimeline() {
  const rows = rowsOfTimeline(), queues = rows.filter((row) => row.kind === "queue");
  const fixed = rows.reduce((sum, row) => sum + row.height, 0);
  const space = (timeline.height - timeline.axis - fixed) / Math.max(1, queues.length);
  const height = Math.round(Math.min(hasMeasured ? 52 : 34, Math.max(hasMeasured ? 24 : 15, space)));
  let top = 0;
  for (const row of rows) {
    row.height = row.kind === "queue" ? height : row.height;
    row.top = top;
    top += row.height;
  }
  timeline.rows = rows;
  timeline.total = top;
  timeline.scroll = Math.max(0, Math.min(timeline.scroll, top - (timeline.height - timeline.axis)));
}

/// The measured steps of a queue may begin in another order than planned.
const begins = new Map();
function orderedSteps(row, measured) {
  if (!measured) return row.steps;
  if (!begins.has(row.queue)) {
    begins.set(row.queue, [...row.steps].sort((a, b) => data.steps.measuredBegin[a] - data.steps.measuredBegin[b]));
  }
  return begins.get(row.queue);
}
const beginOf = (step, measured) => measured ? data.steps.measuredBegin[step] : data.steps.begin[step];
const endOf = (step, measured) => measured ? data.steps.measuredEnd[step] : data.steps.end[step];

/// The first step of a row that ends at or after `time`; steps of a queue do not overlap.
function firstEndingAfter(steps, measured, time) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(steps[middle], measured) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

const plotWidth = () => Math.max(1, timeline.width - timeline.gutter);
const perPixel = () => (state.to - state.from) / plotWidth();
const xOf = (time) => timeline.gutter + (time - state.from) / perPixel();
const timeOf = (x) => state.from + (x - timeline.gutter) * perPixel();

/// Spans to draw of one half of a row: those that are wide enough by themselves, and runs of narrower ones merged
/// into pixels with their number. Only what is visible is looked at.
function visibleSpans(steps, measured) {
  const spans = [], scale = perPixel();
  for (let i = firstEndingAfter(steps, measured, state.from); i < steps.length; i++) {
    const step = steps[i], begin = beginOf(step, measured), end = endOf(step, measured);
    if (begin > state.to) break;
    const left = xOf(begin), width = (end - begin) / scale;
    if (width >= 1) {
      spans.push({step, left, width, steps: 1, busy: width});
      continue;
    }
    const pixel = Math.floor(left), last = spans[spans.length - 1];
    if (last && last.steps > 0 && last.pixel === pixel) {
      last.steps++;
      last.busy += width;
      if (end - begin > last.longest) Object.assign(last, {step, longest: end - begin});
      last.path = last.path || pathOf(measured)[step];
      last.matches = last.matches || (state.matches && state.matches[step]);
    } else if (end > begin || pathOf(measured)[step]) {
      spans.push({step, left: pixel, width: 1, steps: 1, busy: width, pixel, longest: end - begin,
                  path: pathOf(measured)[step], matches: state.matches && state.matches[step]});
    }
  }
  return spans;
}
const pathOf = (measured) => measured ? onMeasuredPath : onPath;

/// What lies at a point of the canvas: {row, time, step, steps, measured}.
function timelineAt(x, y) {
  const row = timeline.rows.find((one) => y >= yOf(one) && y < yOf(one) + one.height);
  if (!row || y < timeline.axis) return null;
  const hit = {row, time: timeOf(x), step: -1, steps: 0, measured: false, inGutter: x < timeline.gutter};
  if (row.kind !== "queue" || hit.inGutter) return hit;
  hit.measured = hasMeasured && y >= yOf(row) + row.height / 2;
  const steps = orderedSteps(row, hit.measured), near = 2 * perPixel();
  let best = Infinity;
  for (let i = firstEndingAfter(steps, hit.measured, hit.time - near); i < steps.length; i++) {
    const step = steps[i], begin = beginOf(step, hit.measured), end = endOf(step, hit.measured);
    if (begin > hit.time + near) break;
    const distance = Math.max(0, begin - hit.time, hit.time - end) - (end - begin) * 1e-6;
    hit.steps += 1;
    if (distance < best) Object.assign(hit, {step, best: (best = distance)});
  }
  return hit;
}
const yOf = (row) => timeline.axis + row.top - timeline.scroll;

/// Bytes held on a device at a time.
function heldAt(held, time) {
  let low = 0, high = held.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (held[2 * middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : held[2 * low - 1];
}
/// The largest values that are alive on a device at a time.
function largestAt(device, time, most) {
  const memory = data.memory, alive = [];
  for (let i = 0; i < memory.op.length; i++) {
    if (memory.device[i] === device && memory.begin[i] <= time && time < memory.end[i]) alive.push(i);
  }
  return alive.sort((a, b) => memory.bytes[b] - memory.bytes[a]).slice(0, most)
      .map((i) => ({op: memory.op[i], bytes: memory.bytes[i]}));
}
const peakOf = (held) => { let peak = 0; for (let i = 1; i < held.length; i += 2) peak = Math.max(peak, held[i]); return peak; };
data.devices.forEach((device, index) => {
  device.peak = Math.max(peakOf(data.memory.held[index]), hasMeasured ? peakOf(data.memory.measuredHeld[index]) : 0);
});
const largestPeak = Math.max(1, ...data.devices.map((device) => device.peak));
