#include "ir/plan/file/executable_launches.h"

#include <fmt/format.h>

#include <limits>

namespace dfc {
namespace {

constexpr uint32_t workspace = std::numeric_limits<uint32_t>::max();

template <class T>
using Offset = flatbuffers::Offset<T>;

class LaunchWriter {
 public:
  LaunchWriter(flatbuffers::FlatBufferBuilder& builder, FileStrings& strings)
      : builder_(builder), strings_(strings) {}

  Offset<file::Launches> write(const LaunchPlan& plan) {
    std::vector<int64_t> bytes;
    for (const QueueId queue : plan.workspaceBytes.ids()) {
      bytes.push_back(plan.workspaceBytes[queue]);
    }
    std::vector<file::PeerRead> reads;
    for (const PeerRead& read : plan.peers.reads) {
      reads.emplace_back(read.transfer.index(), read.reader.index(), read.operand);
    }
    std::vector<Offset<file::StepList>> waits;
    for (const StepId step : plan.peers.waits.ids()) {
      waits.push_back(file::CreateStepList(builder_, numbers(plan.peers.waits[step])));
    }
    const auto rows = writeRows(plan.launches);
    const auto kernels = builder_.CreateVectorOfStrings(plan.kernels);
    const auto prelude = builder_.CreateString(plan.prelude);
    const auto workspaceBytes = builder_.CreateVector(bytes);
    const auto peerReads = builder_.CreateVectorOfStructs(reads);
    return file::CreateLaunches(builder_, prelude, kernels, rows, workspaceBytes, peerReads,
                                builder_.CreateVector(waits));
  }

 private:
  Offset<flatbuffers::Vector<Offset<file::Launch>>> writeRows(const std::vector<LaunchRow>& rows) {
    std::vector<Offset<file::Launch>> written;
    written.reserve(rows.size());
    for (const LaunchRow& row : rows) {
      written.push_back(writeRow(row));
    }
    return builder_.CreateVector(written);
  }

  Offset<file::Launch> writeRow(const LaunchRow& row) {
    std::vector<file::Pointer> pointers;
    for (const LaunchPointer& pointer : row.pointers) {
      pointers.emplace_back(deviceOf(pointer), pointer.offset);
    }
    const auto product = row.product ? writeProduct(*row.product) : Offset<file::Product>();
    const auto ops = numbers(row.ops);
    const auto spare = writeRows(row.spare);
    const auto reads = writeRanges(row.reads), writes = writeRanges(row.writes);
    const auto places = builder_.CreateVectorOfStructs(pointers);
    return file::CreateLaunch(builder_, row.queue.index(), row.at.index(), ops,
                              static_cast<uint8_t>(row.kind), row.kernel, row.grid[0], row.grid[1],
                              row.threads, row.dynamicSharedBytes, row.pointersByValue, product, places,
                              reads, writes, spare, row.seconds);
  }

  Offset<file::Product> writeProduct(const ProductCall& call) {
    const auto a = tensor(call.a), b = tensor(call.b), result = tensor(call.result);
    return file::CreateProduct(builder_, a, b, result, call.transposeA, call.transposeB, call.tf32,
                               call.alpha, call.bias, call.addend, static_cast<uint8_t>(call.activation),
                               strings_.indexOf(call.choice));
  }

  Offset<file::Tensor> tensor(const TensorType& type) {
    const auto dims = builder_.CreateVector(type.shape.dims().data(), type.shape.rank());
    return file::CreateTensor(builder_, strings_.indexOf(name(type.element)), dims);
  }

  Offset<flatbuffers::Vector<const file::Range*>> writeRanges(llvm::ArrayRef<LaunchRange> ranges) {
    std::vector<file::Range> written;
    for (const LaunchRange& range : ranges) {
      written.emplace_back(deviceOf(range.begin), range.op.index(), range.kernel, range.begin.offset,
                           range.bytes);
    }
    return builder_.CreateVectorOfStructs(written);
  }

  static uint32_t deviceOf(const LaunchPointer& pointer) {
    return pointer.inWorkspace() ? workspace : pointer.device.index();
  }

  template <class Ids>
  Offset<flatbuffers::Vector<uint32_t>> numbers(const Ids& list) {
    std::vector<uint32_t> indices;
    for (const auto id : list) {
      indices.push_back(id.index());
    }
    return builder_.CreateVector(indices);
  }

  flatbuffers::FlatBufferBuilder& builder_;
  FileStrings& strings_;
};

class LaunchReader {
 public:
  LaunchReader(const FileTexts& strings, Diagnostics& errors) : strings_(strings), errors_(errors) {}

  LaunchPlan read(const file::Launches& launches, const Schedule& schedule) {
    LaunchPlan plan;
    plan.prelude = launches.prelude()->str();
    for (const flatbuffers::String* kernel : *launches.kernels()) {
      plan.kernels.push_back(kernel->str());
    }
    plan.launches = readRows(*launches.rows(), true);
    plan.workspaceBytes.resize(launches.workspace_bytes()->size());
    for (const QueueId queue : plan.workspaceBytes.ids()) {
      plan.workspaceBytes[queue] = launches.workspace_bytes()->Get(queue.index());
    }
    for (const file::PeerRead* read : *launches.peer_reads()) {
      plan.peers.reads.push_back({StepId(read->transfer()), StepId(read->reader()), read->operand()});
    }
    readWaits(launches, schedule, plan.peers);
    return plan;
  }

 private:
  void fail(std::string message) { errors_.push_back(errorWithoutPlace(std::move(message))); }

  void readWaits(const file::Launches& launches, const Schedule& schedule, PeerReads& peers) {
    const size_t steps = schedule.steps.size(), count = launches.waits()->size();
    if (peers.reads.empty() ? count != 0 : count != steps) {
      fail(fmt::format("waits with peer reads of {} steps, of {}", count, steps));
      return;
    }
    peers.waits.resize(count);
    for (const StepId step : peers.waits.ids()) {
      for (const uint32_t wait : *launches.waits()->Get(step.index())->steps()) {
        if (wait >= steps) {
          fail(fmt::format("step {} waits for step {} of {}", step.index(), wait, steps));
          return;
        }
        peers.waits[step].emplace_back(wait);
      }
    }
  }

  // Spare launches have none themselves, so that a file cannot nest them without end.
  std::vector<LaunchRow> readRows(const flatbuffers::Vector<Offset<file::Launch>>& rows, bool maySpare) {
    std::vector<LaunchRow> read;
    read.reserve(rows.size());
    for (const file::Launch* row : rows) {
      if (!maySpare && row->spare()->size() > 0) {
        fail("a spare launch with spare launches");
        return read;
      }
      read.push_back(readRow(*row));
    }
    return read;
  }

  LaunchRow readRow(const file::Launch& from) {
    LaunchRow row;
    row.queue = QueueId(from.queue());
    row.at = OpId(from.at());
    for (const uint32_t op : *from.ops()) {
      row.ops.emplace_back(op);
    }
    row.kind = static_cast<LaunchKind>(from.kind());
    row.kernel = from.kernel();
    row.grid = {from.blocks_x(), from.blocks_y()};
    row.threads = from.threads();
    row.dynamicSharedBytes = from.shared_bytes();
    row.pointersByValue = from.pointers_by_value();
    if (from.product() != nullptr) {
      row.product = readProduct(*from.product());
    }
    for (const file::Pointer* pointer : *from.pointers()) {
      row.pointers.push_back(pointerOf(pointer->device(), pointer->offset()));
    }
    readRanges(*from.reads(), row.reads);
    readRanges(*from.writes(), row.writes);
    row.spare = readRows(*from.spare(), false);
    row.seconds = from.seconds();
    return row;
  }

  ProductCall readProduct(const file::Product& from) {
    ProductCall call;
    call.a = tensor(*from.a()), call.b = tensor(*from.b()), call.result = tensor(*from.result());
    call.transposeA = from.transpose_a(), call.transposeB = from.transpose_b();
    call.tf32 = from.tf32();
    call.alpha = from.alpha();
    call.bias = from.bias(), call.addend = from.addend();
    if (from.activation() > static_cast<uint8_t>(Activation::Gelu)) {
      fail(fmt::format("activation {} of a product", from.activation()));
    }
    call.activation = static_cast<Activation>(from.activation());
    const auto choice = textAt(strings_, from.choice());
    if (!choice) {
      fail(fmt::format("string {} of {}", from.choice(), strings_.size()));
    }
    call.choice = choice.value_or("");
    return call;
  }

  TensorType tensor(const file::Tensor& from) {
    const auto type = typeFrom(textAt(strings_, from.element()), from.dims());
    if (!type) {
      fail("a product of a type that does not exist");
    }
    return type.value_or(TensorType());
  }

  static LaunchPointer pointerOf(uint32_t device, int64_t offset) {
    return {device == workspace ? DeviceId() : DeviceId(device), offset};
  }

  static void readRanges(const flatbuffers::Vector<const file::Range*>& from,
                         llvm::SmallVectorImpl<LaunchRange>& to) {
    for (const file::Range* range : from) {
      to.push_back(
          {pointerOf(range->device(), range->offset()), range->bytes(), OpId(range->op()), range->kernel()});
    }
  }

  const FileTexts& strings_;
  Diagnostics& errors_;
};

} // namespace

Offset<file::Launches> writeLaunchPlan(const LaunchPlan& plan, flatbuffers::FlatBufferBuilder& builder,
                                       FileStrings& strings) {
  return LaunchWriter(builder, strings).write(plan);
}

LaunchPlan readLaunchPlan(const file::Launches& launches, const FileTexts& strings, const Schedule& schedule,
                          Diagnostics& errors) {
  return LaunchReader(strings, errors).read(launches, schedule);
}

} // namespace dfc
