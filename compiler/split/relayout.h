// Relayout: appends the ops that bring what a reader wants of a split value to the reader's device: slices
// where the elements are, concatenations and sums where they are wanted. Copies between devices follow from
// where these ops are pinned (compiler/transfer). Sums are taken in the order of the mesh, so their bits do
// not depend on the schedule. A sum that all devices want whole is made in the form that the mesh's links
// make the quickest: exchange, recursive doubling, or reduce-scatter and all-gather (Thakur, Rabenseifner and
// Gropp 2005, "Optimization of Collective Communication Operations in MPICH").
#pragma once

#include "compiler/split/mesh.h"
#include "compiler/split/movement.h"
#include "compiler/split/split_value.h"

#include <limits>
#include <map>
#include <tuple>

namespace dfc {

class Relayout {
 public:
  /// `splitAgain`: each device of the mesh stands for a group, over which its ops are split afterwards.
  Relayout(GraphBuilder& builder, const Mesh& mesh, const Machine& machine, bool splitAgain = false)
      : builder_(builder), mesh_(mesh), machine_(machine), splitAgain_(splitAgain) {}

  /// `old`: the value's id in the unsplit graph, by which what was made before is found again. `like`: whose
  /// scope and place the new ops take. `byAll`: every device of the mesh wants the same.
  ValueId bring(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device, bool byAll,
                const InternedProvenance& like);
  /// Says that a small partial sum will be wanted whole by all devices. What was offered before the first of
  /// them is brought is summed as one tensor, a bucket (Li et al. 2020, "PyTorch Distributed"): a transfer
  /// for each would wait for the link's latency.
  void offer(ValueId old, const SplitValue& value);
  /// Part `part` of a value. On a mirrored mesh the parts of mirrors are made on demand, as copies of the
  /// first; those of a parameter are parameters.
  ValueId partOf(const SplitValue& value, size_t part, const InternedProvenance& like);
  /// Device `part`'s share of a partial sum: of a value that is none, device 0's is the value.
  ValueId share(ValueId old, const SplitValue& value, size_t part, const InternedProvenance& like);

  /// Assigns the mirrored parts of parameters, copies of what their first parts are assigned. To be called
  /// last.
  void assignMirrors();

  /// An id for `old` of a value that the unsplit graph does not have.
  ValueId newId() { return ValueId(std::numeric_limits<uint32_t>::max() - ++newIds_); }

  /// Sets the current row (`Rows`): later ops are pinned to its devices in place of the mesh's, and values
  /// are brought there. The array must outlive the relayout.
  void pinTo(llvm::ArrayRef<DeviceId> row) { row_ = row; }
  llvm::ArrayRef<DeviceId> row() const { return row_; }
  /// The device of the current row at the position of this device of the mesh.
  DeviceId pinned(DeviceId device) const { return pinned(device, row_); }

  /// What was brought from one device to another so far.
  const std::vector<Movement>& movements() const { return movements_; }

  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const InternedProvenance& like,
              std::string_view name, DeviceId device);

 private:
  ValueId make(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device, bool byAll,
               const InternedProvenance& like);
  /// Sums the value asked for, which was offered, with others offered of its element type, as many as a
  /// bucket holds, and notes each as brought to every device.
  void sumBucket(ValueId asked, const TensorType& type, const InternedProvenance& like);
  ValueId fromPieces(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device,
                     MovementKind kind, const InternedProvenance& like);
  ValueId combined(ValueId old, const SplitValue& value, const Wanted& wanted, DeviceId device,
                   MovementKind kind, const InternedProvenance& like);
  /// The sum on every device by recursive doubling.
  const SplitValue& doubled(ValueId old, const SplitValue& value, const InternedProvenance& like);
  const SplitValue& scattered(ValueId old, const SplitValue& value, size_t axis,
                              const InternedProvenance& like);
  ValueId sliced(ValueId old, const SplitValue& value, size_t part, size_t axis, SplitRange range,
                 const InternedProvenance& like);
  ValueId resized(ValueId value, size_t axis, int64_t length, DeviceId device,
                  const InternedProvenance& like);
  ValueId mirrorOf(ValueId first, const SplitValue& value, size_t part, const InternedProvenance& like);
  ValueId reshaped(ValueId value, const Shape& shape, DeviceId device, const InternedProvenance& like);
  ValueId cast(ValueId value, ElementType to, DeviceId device, const InternedProvenance& like);
  std::string nameOf(ValueId part, std::string_view suffix) const;
  /// What is made once of a value of no micro-batch, such as a gathered weight, is of none either, even where
  /// the first that reads it is.
  InternedProvenance outsideMicroBatches(const SplitValue& value, const InternedProvenance& like) const;
  DeviceId pinned(DeviceId device, llvm::ArrayRef<DeviceId> row) const;
  /// Records a movement of `sent` from `from`, in the value's row, to `to`, in the current row, unless both
  /// are one device.
  void note(ValueId old, const SplitValue& value, DeviceId from, ValueId sent, DeviceId to,
            MovementKind kind);

  /// Value, pinned device, whether every device wants the same, and what. A sum that all want is not mixed
  /// with one that a device wants by itself: they may be made in other orders, and copies of state have to
  /// keep their bits.
  using Key = std::tuple<uint32_t, uint32_t, bool, bool, size_t, int64_t, int64_t>;
  GraphBuilder& builder_;
  const Mesh& mesh_;
  const Machine& machine_;
  bool splitAgain_;
  llvm::ArrayRef<DeviceId> row_; // empty: the mesh's devices
  std::map<Key, ValueId> made_;
  std::map<std::tuple<uint32_t, size_t, size_t, int64_t, int64_t>, ValueId> slices_;
  std::map<std::pair<uint32_t, size_t>, ValueId> mirrors_; // by the first part and the mirror's position
  struct MirroredParameter {
    ValueId first, mirror;
    SplitValue value;
    size_t part = 0;
    InternedProvenance like;
  };
  std::vector<MirroredParameter> mirroredParameters_;
  std::map<uint32_t, SplitValue> scattered_, doubled_; // by old value
  struct Offered {
    ValueId old;
    SplitValue value;
  };
  std::vector<Offered> offered_;
  uint32_t newIds_ = 0;
  std::vector<Movement> movements_;
  bool scattering_ = false; // a reduce-scatter is part of a sum on all devices
};

} // namespace dfc
