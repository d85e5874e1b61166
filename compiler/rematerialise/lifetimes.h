// Lifetimes: the bytes that a step holds on each device at each op of an order, where some ops are computed a
// second time and their first results are freed in between.
#pragma once

#include "compiler/rematerialise/in_flight.h"
#include "compiler/rematerialise/step_order.h"

#include <limits>
#include <map>
#include <utility>

namespace dfc {

class Lifetimes {
 public:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  /// The results of one op on one device, from one position in the order to another, both included.
  struct Span {
    DeviceId device;
    uint32_t begin = 0, end = 0;
    bool again = false;  ///< of the second computation
    uint32_t copies = 1; ///< micro-batches in flight that keep such values, with this one
  };
  struct Read {
    uint32_t position = 0;
    DeviceId device;
  };

  /// Of `order.ops`. Views have no bytes and no position of their own: who reads one reads its source.
  /// `inFlight`: of a pipeline's micro-batches; null: none.
  /// `limits`: bytes of each device, or `unlimited`.
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  Lifetimes(const Placement& placement, const StepOrder& order, const SideTable<DeviceId, int64_t>& limits,
            const InFlight* inFlight = nullptr);

  size_t length() const { return order_.ops.size(); }
  uint32_t positionOf(OpId op) const { return position_[op]; }
  /// The value whose bytes a value lies in: of a view, its source.
  ValueId sourceOf(ValueId value) const { return source_[value]; }
  /// Whether they are one, or devices of one stage of a pipeline.
  bool areOfOneStage(DeviceId a, DeviceId b) const {
    return a == b || (inFlight_ != nullptr && inFlight_->stage[a] != InFlight::noStage &&
                      inFlight_->stage[a] == inFlight_->stage[b]);
  }
  /// Of a source: 0 where it has none within a step, such as a parameter.
  int64_t bytesOf(ValueId source) const { return bytes_[source]; }

  /// Reads behind position `lastEarly` are of a second computation of the op.
  void repeat(OpId op, uint32_t lastEarly) {
    isStale_[op] = isStale_[op] || lastEarly_[op] != lastEarly;
    lastEarly_[op] = lastEarly;
  }
  void doNotRepeat(OpId op) { repeat(op, none); }
  bool isRepeated(OpId op) const { return lastEarly_[op] != none; }
  uint32_t lastEarly(OpId op) const { return lastEarly_[op]; }
  /// Whether a read at that position is of the second computation.
  bool readsAgain(OpId producer, uint32_t position) const {
    return againAt_[producer] != none && position > lastEarly_[producer];
  }
  /// The position before which the op is computed a second time; `none`: nobody reads that. These and the
  /// following are of the last call of `evaluate`.
  uint32_t againAt(OpId op) const { return againAt_[op]; }
  void evaluate(); ///< in the time of the ops whose repetition, or whose readers', changed
  llvm::ArrayRef<Span> spansOf(ValueId source) const { return spans_[source]; }
  /// Of all results of an op, those of second computations included; in no order.
  template <class Visit>
  void forEachRead(OpId op, Visit visit) const {
    for (const ValueId result : graph_[op].results()) {
      for (const auto* reads : {&reads_[result], &readsAgain_[result]}) {
        for (const Read& read : *reads) {
          visit(read);
        }
      }
    }
  }
  /// The devices that have results of an op: its own, and those of its readers.
  llvm::SmallVector<DeviceId, 4> devicesOf(OpId op) const;
  /// Bytes alive, by position; empty for a device without a limit.
  const std::vector<int64_t>& profile(DeviceId device) const { return profile_[device]; }

 private:
  void findSources();
  void findReads();
  void findReturns(const InFlight& inFlight);
  uint32_t copiesOf(OpId producer, const Span& span) const;
  void update(OpId op);
  uint32_t nextAgainAt(OpId op) const;
  void moveReads(OpId op, uint32_t againAt);
  void addSpans(OpId op, ValueId source);
  void addSpan(ValueId source, Span span);
  void change(ValueId source, const Span& span, int64_t sign);

  const Placement& placement_;
  const Graph& graph_;
  const StepOrder& order_;
  SideTable<OpId, uint32_t> position_, lastEarly_, againAt_;
  SideTable<OpId, bool> isStale_; // whether the spans of its results are of an earlier evaluation
  SideTable<ValueId, ValueId> source_;
  SideTable<ValueId, int64_t> bytes_;
  SideTable<ValueId, std::vector<Read>> reads_, readsAgain_;
  SideTable<ValueId, llvm::SmallVector<Span, 2>> spans_;
  SideTable<DeviceId, std::vector<int64_t>> profile_, changes_; // bytes, and their difference to those before
  SideTable<DeviceId, bool> hasChanged_;
  const InFlight* inFlight_;
  SideTable<OpId, uint32_t> batch_;                          // `none`: of no micro-batch
  std::map<std::pair<uint32_t, DeviceId>, uint32_t> return_; // by micro-batch: the first op of its return
};

} // namespace dfc
