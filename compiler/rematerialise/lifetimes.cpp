#include "compiler/rematerialise/lifetimes.h"

#include "ir/graph/micro_batch.h"
#include "ir/plan/in_place.h"
#include "ir/plan/memory_plan.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <numeric>

namespace dfc {

Lifetimes::Lifetimes(const Placement& placement, const StepOrder& order,
                     const SideTable<DeviceId, int64_t>& limits, const InFlight* inFlight)
    : placement_(placement), graph_(placement.graph), order_(order), position_(graph_.opCount(), none),
      lastEarly_(graph_.opCount(), none), againAt_(graph_.opCount(), none), isStale_(graph_.opCount(), true),
      source_(graph_.valueCount()), bytes_(graph_.valueCount(), 0), reads_(graph_.valueCount()),
      readsAgain_(graph_.valueCount()), spans_(graph_.valueCount()), profile_(limits.size()),
      changes_(limits.size()), hasChanged_(limits.size(), true), inFlight_(inFlight),
      batch_(graph_.opCount(), none) {
  for (uint32_t i = 0; i < order.ops.size(); ++i) {
    position_[order.ops[i]] = i;
  }
  for (const DeviceId device : limits.ids()) {
    profile_[device].resize(limits[device] == unlimited ? 0 : length() + 2);
    changes_[device].resize(profile_[device].size());
  }
  findSources();
  findReads();
  if (inFlight != nullptr) {
    findReturns(*inFlight);
  }
}

void Lifetimes::findSources() {
  for (const OpId op : graph_.ops()) {
    const OpRow& row = graph_[op];
    const auto shared = sharesStorageWith(row);
    for (const ValueId result : row.results()) {
      source_[result] = shared ? source_[row.operands[*shared]] : result;
      bytes_[result] = shared || isResident(row.kind()) ? 0 : alignUp(graph_.typeOf(result).bytes());
    }
  }
  // A parameter's next value may be computed in the parameter's bytes.
  for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
    const ValueId next = source_[graph_[assign].operands[1]];
    const OpKind kind = graph_[graph_[next].producer].kind();
    if (classOf(kind) == OpClass::Elementwise || kind == OpKind::Fused) {
      bytes_[next] = 0;
    }
  }
}

void Lifetimes::findReads() {
  for (uint32_t i = 0; i < order_.ops.size(); ++i) {
    const OpId op = order_.ops[i];
    if (classOf(graph_[op].kind()) == OpClass::View) {
      continue;
    }
    for (const ValueId operand : graph_[op].operands) {
      reads_[source_[operand]].push_back({i, placement_.device[op]});
    }
  }
  for (const Fetch& fetch : graph_.fetches()) {
    const ValueId source = source_[fetch.value];
    reads_[source].push_back({static_cast<uint32_t>(length()), placement_.device[graph_[source].producer]});
  }
}

void Lifetimes::findReturns(const InFlight& inFlight) {
  const SideTable<OpId, uint32_t> latest = latestStages(placement_, inFlight);
  for (const OpId op : graph_.ops()) {
    const auto batch = microBatchOf(graph_.scopeOf(op));
    const DeviceId device = placement_.device[op];
    batch_[op] = batch.value_or(none);
    if (batch && position_[op] != none && inFlight.stage[device] != InFlight::noStage &&
        latest[op] > inFlight.stage[device]) {
      uint32_t& first = return_.try_emplace({*batch, device}, none).first->second;
      first = std::min(first, position_[op]);
    }
  }
}

llvm::SmallVector<DeviceId, 4> Lifetimes::devicesOf(OpId op) const {
  llvm::SmallVector<DeviceId, 4> devices = {placement_.device[op]};
  forEachRead(op, [&](const Read& read) {
    if (!llvm::is_contained(devices, read.device)) {
      devices.push_back(read.device);
    }
  });
  return devices;
}

uint32_t Lifetimes::copiesOf(OpId producer, const Span& span) const {
  if (inFlight_ == nullptr || batch_[producer] == none) {
    return 1;
  }
  const auto found = return_.find({batch_[producer], span.device});
  const bool isKept = found != return_.end() && span.begin < found->second && span.end >= found->second;
  return isKept ? inFlight_->count[span.device] : 1;
}

void Lifetimes::evaluate() {
  // Last ops first: where an op is repeated depends on what is repeated behind it.
  for (uint32_t i = static_cast<uint32_t>(length()); i-- > 0;) {
    const OpId op = order_.ops[i];
    if (isStale_[op]) {
      update(op);
      isStale_[op] = false;
    }
  }
  for (const DeviceId device : profile_.ids()) {
    if (hasChanged_[device]) {
      std::partial_sum(changes_[device].begin(), changes_[device].end(), profile_[device].begin());
      hasChanged_[device] = false;
    }
  }
}

void Lifetimes::update(OpId op) {
  const uint32_t again = nextAgainAt(op);
  if (again != againAt_[op]) {
    moveReads(op, again);
  }
  againAt_[op] = again;
  for (const ValueId result : graph_[op].results()) {
    if (bytes_[result] > 0) {
      for (const Span& span : spans_[result]) {
        change(result, span, -1);
      }
      spans_[result].clear();
      addSpans(op, result);
    }
  }
}

uint32_t Lifetimes::nextAgainAt(OpId op) const {
  uint32_t again = none;
  if (isRepeated(op)) {
    forEachRead(op, [&](const Read& read) {
      again = read.position > lastEarly_[op] ? std::min(again, read.position) : again;
    });
  }
  return again;
}

// The reads of the op's operands by its second computation.
void Lifetimes::moveReads(OpId op, uint32_t againAt) {
  const DeviceId device = placement_.device[op];
  for (const ValueId operand : graph_[op].operands) {
    std::vector<Read>& reads = readsAgain_[source_[operand]];
    if (againAt_[op] != none) {
      reads.erase(llvm::find_if(
          reads, [&](const Read& read) { return read.position == againAt_[op] && read.device == device; }));
    }
    if (againAt != none) {
      reads.push_back({againAt, device});
    }
    isStale_[graph_[source_[operand]].producer] = true;
  }
}

// On the op's device from where it is computed; elsewhere from the first read there to the last.
void Lifetimes::addSpans(OpId op, ValueId source) {
  const DeviceId own = placement_.device[op];
  for (const bool again : {false, true}) {
    if (again && againAt_[op] == none) {
      break;
    }
    const uint32_t begin = again ? againAt_[op] : position_[op];
    Span here{own, begin, begin, again};
    llvm::SmallVector<Span, 8> elsewhere;
    for (const Read& read : llvm::concat<Read>(reads_[source], readsAgain_[source])) {
      if (readsAgain(op, read.position) != again) {
        continue;
      }
      if (read.device == own) {
        here.end = std::max(here.end, read.position);
        continue;
      }
      const auto found =
          llvm::find_if(elsewhere, [&](const Span& span) { return span.device == read.device; });
      if (found == elsewhere.end()) {
        elsewhere.push_back({read.device, read.position, read.position, again});
      } else {
        found->begin = std::min(found->begin, read.position);
        found->end = std::max(found->end, read.position);
      }
    }
    for (const Span& span : elsewhere) {
      here.end = std::max(here.end, span.begin);
      addSpan(source, span);
    }
    addSpan(source, here);
  }
}

void Lifetimes::addSpan(ValueId source, Span span) {
  span.copies = copiesOf(graph_[source].producer, span);
  spans_[source].push_back(span);
  change(source, span, 1);
}

void Lifetimes::change(ValueId source, const Span& span, int64_t sign) {
  std::vector<int64_t>& changes = changes_[span.device];
  if (changes.empty()) {
    return;
  }
  // A result of an elementwise op mostly overwrites an operand that dies.
  const OpKind kind = graph_[graph_[source].producer].kind();
  const bool overwrites = classOf(kind) == OpClass::Elementwise || kind == OpKind::Fused;
  const uint32_t begin = overwrites && span.end > span.begin ? span.begin + 1 : span.begin;
  const int64_t bytes = sign * bytes_[source] * span.copies;
  changes[begin] += bytes;
  changes[std::min<size_t>(size_t{span.end} + 1, length() + 1)] -= bytes;
  hasChanged_[span.device] = true;
}

} // namespace dfc
