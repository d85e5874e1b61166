// Sums by kind of op, by scope and by device, and the dearest ops: tables that any column sorts. They are of the ops
// that the search and the chosen scope leave.
const tables = {by: "kind", sort: {column: null, down: true}, most: 100};
const groupings = {
  kind: {title: "Op kinds", key: (step) => op.kind(data.steps.op[step]), swatch: (key) => slotOf(key)},
  scope: {title: "Scopes", key: (step) => foldOf(data.ops.scope[data.steps.op[step]])},
  device: {title: "Devices", key: (step) => data.devices[data.queues[data.steps.queue[step]].device].name},
  op: {title: "Ops", key: null},
};
/// The name of a scope with equal layers taken together.
function foldOf(index) {
  return scopes[index].kind === "scope" ? scopes[index].path || "(scope without a name)" : "(no scope)";
}

function sums() {
  const rows = new Map(), grouping = groupings[tables.by];
  for (let step = 0; step < stepCount; step++) {
    if (state.matches && !state.matches[step]) continue;
    const key = grouping.key ? grouping.key(step) : step;
    const row = rows.get(key) || {key, ops: 0, seconds: 0, measured: 0, bytes: 0, path: 0};
    row.ops++;
    row.seconds += duration(step);
    row.measured += hasMeasured ? measuredDuration(step) : 0;
    row.bytes += data.ops.bytes[data.steps.op[step]];
    row.path += (hasMeasured ? onMeasuredPath : onPath)[step] ? (hasMeasured ? measuredDuration(step) : duration(step)) : 0;
    rows.set(key, row);
  }
  return [...rows.values()];
}
function columnsOfTable() {
  const columns = [{key: "key", title: groupings[tables.by].title, words: (row) => nameOfRow(row)}];
  if (tables.by !== "op") columns.push({key: "ops", title: "Ops", words: (row) => row.ops.toLocaleString("en")});
  columns.push({key: "seconds", title: "Predicted", words: (row) => seconds(row.seconds)});
  if (hasMeasured) {
    columns.push({key: "measured", title: "Measured", words: (row) => seconds(row.measured)});
    columns.push({key: "ratio", title: "Meas. / pred.", words: (row) => row.seconds > 0 ? (row.measured / row.seconds).toFixed(2) : "–"});
  } else {
    columns.push({key: "share", title: "Share", words: (row) => percent(row.share)});
  }
  columns.push({key: "path", title: "On critical path", words: (row) => row.path > 0 ? seconds(row.path) : "–"});
  columns.push({key: "bytes", title: "Results", words: (row) => byteText(row.bytes)});
  return columns;
}
const nameOfRow = (row) => tables.by === "op" ? op.label(data.steps.op[row.key]) : row.key;

function drawTables() {
  const rows = sums(), columns = columnsOfTable();
  const total = rows.reduce((sum, row) => sum + row.seconds, 0) || 1;
  rows.forEach((row) => { row.share = row.seconds / total; row.ratio = row.seconds > 0 ? row.measured / row.seconds : 0; });
  const sort = tables.sort.column || (hasMeasured ? "measured" : "seconds"), sign = tables.sort.down ? -1 : 1;
  const valueOf = (row) => sort === "key" ? nameOfRow(row) : row[sort];
  rows.sort((a, b) => sign * (valueOf(a) < valueOf(b) ? -1 : valueOf(a) > valueOf(b) ? 1 : 0));
  byId("table-head").replaceChildren(make("tr", "", {}, ...columns.map((column) => {
    const chosen = column.key === sort;
    return make("th", column.key === "key" ? "" : "number", {scope: "col", "aria-sort": chosen ? (tables.sort.down ? "descending" : "ascending") : "none"},
        make("button", "sort", {type: "button", onclick: () => {
          tables.sort = {column: column.key, down: chosen ? !tables.sort.down : column.key !== "key"};
          drawTables();
        }}, column.title + (chosen ? (tables.sort.down ? " ▾" : " ▴") : "")));
  })));
  byId("table-body").replaceChildren(...rows.slice(0, tables.most).map((row) => rowOfTable(row, columns)));
  const left = rows.length - tables.most;
  byId("table-foot").textContent = (left > 0 ? "The first " + tables.most + " of " + count(rows.length, "row") + ". " : "") +
      "Seconds are sums over all devices, which work at the same time" + (state.matches ? "; of the ops that are chosen alone." : ".");
}
function rowOfTable(row, columns) {
  const grouping = groupings[tables.by];
  return make("tr", "", {}, ...columns.map((column) => {
    if (column.key !== "key") return make("td", "number", {}, column.words(row));
    const swatch = grouping.swatch ? make("span", "swatch kind" + grouping.swatch(row.key), {"aria-hidden": "true"}) : "";
    const words = shortened(column.words(row), 60);
    return make("th", "", {scope: "row"}, swatch, make("button", "link", {type: "button", onclick: () => chooseRow(row)}, words));
  }));
}
function chooseRow(row) {
  if (tables.by === "op") {
    chooseAndShow(row.key);
    showStep(row.key);
  } else if (tables.by === "scope") {
    const index = scopes.findIndex((scope) => scope.path === row.key && scope.kind !== "root");
    if (index > 0) chooseScope(scopes[index].kind === "scope" && scopes[scopes[index].parent].kind === "fold" ? scopes[index].parent : index);
  } else {
    byId("search").value = state.search === row.key ? "" : row.key;
    search(byId("search").value);
  }
}
function listenToTables() {
  const choices = byId("table-choices");
  choices.append(...Object.entries(groupings).map(([by, grouping]) => make("button", "", {type: "button", "aria-pressed": String(by === tables.by),
    "data-by": by, onclick: () => {
      tables.by = by;
      tables.sort = {column: null, down: true};
      for (const button of choices.children) button.setAttribute("aria-pressed", String(button.dataset.by === by));
      drawTables();
    }}, grouping.title)));
  listeners.push((what) => { if (what === "matches") drawTables(); });
}
