// Bytes to a sealed plan. The file is never trusted: the envelope and the FlatBuffer are verified first,
// every index is checked before it is used, the graph is built anew op by op with its types recomputed, and
// the result is sealed, which runs every verifier. Nothing is allocated by a number that the file merely
// claims.
#include "ir/base/atomic_file.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/file/executable_alignment.h"
#include "ir/plan/file/executable_format.h"
#include "ir/plan/file/executable_graph.h"
#include "ir/plan/file/executable_launches.h"
#include "ir/verify/verify.h"

#include <fmt/format.h>

#include <filesystem>

namespace dfc {
namespace {

constexpr uint64_t largestPlanFile = uint64_t{1} << 36;
constexpr size_t mostErrorsShown = 20;
constexpr const char* notOurs = "the plan was not made by this dfc; compile the graph again";

Result<Executable> parsePlan(std::span<const std::byte> bytes, const std::string& fileName,
                             bool isPreparation);

/// Rebuilds the stages from a verified buffer. `fail` records why it cannot go on.
class PlanReader {
 public:
  PlanReader(const file::Plan& plan, std::span<const std::byte> constants, std::string fileName,
             bool isPreparation)
      : plan_(plan), constants_(constants), fileName_(std::move(fileName)), isPreparation_(isPreparation) {}

  Result<Executable> read() {
    Machine machine = readMachineText();
    if (plan_.preparation_bytes() > constants_.size()) {
      fail("its preparation is longer than the file");
      return located(std::move(errors_));
    }
    const auto preparation = constants_.last(plan_.preparation_bytes());
    Result<Graph> graph = readPlanGraph(plan_, constants_.first(constants_.size() - preparation.size()));
    if (!graph.ok()) {
      errors_.insert(errors_.end(), graph.errors().begin(), graph.errors().end());
    }
    if (errors_.empty()) {
      placed_.graph = *std::move(graph);
      readPlaced();
      readSchedule();
      readMemory();
    }
    if (errors_.empty()) {
      launches_ = readLaunchPlan(*plan_.launches(), *plan_.strings(), schedule_, errors_);
    }
    if (!errors_.empty()) {
      return located(std::move(errors_));
    }
    Result<Executable> sealed =
        Executable::seal(std::move(placed_), std::move(schedule_), std::move(memory_), std::move(launches_),
                         std::move(machine), plan_.policy()->str());
    if (!sealed.ok()) {
      return located(sealed.errors());
    }
    Diagnostics errors = verifyPrediction(sealed->placed(), sealed->schedule(), sealed->machine());
    if (!errors.empty()) {
      return located(std::move(errors));
    }
    return preparation.empty() ? std::move(sealed) : withPreparation(*std::move(sealed), preparation);
  }

 private:
  Result<Executable> withPreparation(Executable plan, std::span<const std::byte> bytes) const {
    auto preparation = isPreparation_ ? Result<Executable>(errorWithoutPlace("a preparation has another"))
                                      : parsePlan(bytes, fileName_, /*isPreparation=*/true);
    if (!preparation.ok()) {
      return isPreparation_ ? located(preparation.errors()) : preparation.errors();
    }
    auto both = plan.preparedBy(*std::move(preparation));
    return both.ok() ? std::move(both) : Result<Executable>(located(both.errors()));
  }

  void fail(std::string message) { errors_.push_back(errorWithoutPlace(std::move(message))); }

  /// Errors of a file are about the file, wherever the ops in it were once written.
  Diagnostics located(Diagnostics errors) const {
    const size_t left = errors.size() > mostErrorsShown ? errors.size() - mostErrorsShown : 0;
    errors.resize(errors.size() - left);
    for (Diagnostic& error : errors) {
      error = {Severity::Error, {fileName_, 0, 0}, "damaged: " + error.message, notOurs};
    }
    if (left > 0) {
      errors.push_back({Severity::Error, {fileName_, 0, 0}, fmt::format("and {} more", left)});
    }
    return errors;
  }

  Machine readMachineText() {
    Result<Machine> machine = parseMachine(plan_.machine()->string_view(), fileName_);
    if (!machine.ok()) {
      for (const Diagnostic& error : machine.errors()) {
        fail(fmt::format("its machine: {}", error.message));
      }
      return {};
    }
    return *std::move(machine);
  }

  bool isOp(uint32_t index) const { return index < placed_.graph.opCount(); }

  void readPlaced() {
    placed_.device.resize(plan_.device()->size());
    for (const OpId op : placed_.device.ids()) {
      placed_.device[op] = DeviceId(plan_.device()->Get(op.index()));
    }
    for (const file::Transfer* row : *plan_.transfers()) {
      TransferRow transfer{DeviceId(row->from()), DeviceId(row->to()), {}, row->bytes()};
      appendIds(row->links(), transfer.links);
      if (!isOp(row->op()) || !placed_.transfers.try_emplace(OpId(row->op()), std::move(transfer)).second) {
        fail(fmt::format("a route for op {}, which does not exist or has one", row->op()));
      }
    }
    for (const file::OpPair* pair : *plan_.replicas()) {
      if (!isOp(pair->first()) || !isOp(pair->second()) ||
          !placed_.replicas.try_emplace(OpId(pair->first()), OpId(pair->second())).second) {
        fail(fmt::format("op {} as the replica of op {}", pair->first(), pair->second()));
      }
    }
    for (const file::OpPair* pair : *plan_.orderings()) {
      placed_.orderings.push_back({OpId(pair->first()), OpId(pair->second())});
    }
  }

  template <class List>
  static void appendIds(const flatbuffers::Vector<uint32_t>* from, List& to) {
    for (uint32_t i = 0; from != nullptr && i < from->size(); ++i) {
      to.emplace_back(from->Get(i));
    }
  }

  void readSchedule() {
    for (const file::Queue* row : *plan_.queues()) {
      if (row->kind() > static_cast<uint8_t>(QueueKind::Peer)) {
        fail(fmt::format("a queue of kind {}", row->kind()));
        return;
      }
      QueueRow queue{DeviceId(row->device()), static_cast<QueueKind>(row->kind()), row->index(), {}};
      appendIds(row->steps(), queue.steps);
      schedule_.queues.add(std::move(queue));
    }
    schedule_.stepOf.resize(placed_.graph.opCount());
    for (const file::Step* row : *plan_.steps()) {
      readStep(*row);
    }
    schedule_.makespan = plan_.makespan();
    const file::Bounds& bounds = *plan_.bounds();
    schedule_.bounds = {bounds.critical_path(), bounds.busiest_queue(), bounds.busiest_link()};
    schedule_.steady = {plan_.steady()->seconds(), plan_.steady()->bound()};
  }

  void readStep(const file::Step& row) {
    StepRow step{OpId(row.op()), QueueId(row.queue()), row.position(), {}, row.start(),
                 row.end(),      row.utilisation(),    row.slowed()};
    appendIds(row.waits(), step.waits);
    const OpId op = step.op;
    const StepId made = schedule_.steps.add(std::move(step));
    if (isOp(op.index())) {
      schedule_.stepOf[op] = made;
    } else {
      fail(fmt::format("step {} runs op {}, which does not exist", made.index(), op.index()));
    }
  }

  void readMemory() {
    memory_.slots.resize(plan_.slots()->size());
    for (const ValueId value : memory_.slots.ids()) {
      const file::Slot& slot = *plan_.slots()->Get(value.index());
      memory_.slots[value] = {DeviceId(slot.device()), slot.offset(), slot.bytes()};
    }
    readSizes(*plan_.arena_bytes(), memory_.arenaBytes);
    readSizes(*plan_.resident_bytes(), memory_.residentBytes);
    readSizes(*plan_.lower_bound(), memory_.lowerBound);
  }

  static void readSizes(const flatbuffers::Vector<int64_t>& from, SideTable<DeviceId, int64_t>& to) {
    to.resize(from.size());
    for (const DeviceId device : to.ids()) {
      to[device] = from.Get(device.index());
    }
  }

  const file::Plan& plan_;
  std::span<const std::byte> constants_;
  std::string fileName_;
  bool isPreparation_;
  Diagnostics errors_;
  PlacedGraph placed_;
  Schedule schedule_;
  MemoryPlan memory_;
  LaunchPlan launches_;
};

/// FlatBuffers reads its scalars in place, so they must lie as aligned in memory as they do in the buffer.
std::span<const std::byte> alignedCopy(std::span<const std::byte> bytes, std::vector<uint64_t>& storage) {
  storage.resize((bytes.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  const auto copy = std::as_writable_bytes(std::span(storage)).first(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  return copy;
}

Result<Executable> parsePlan(std::span<const std::byte> bytes, const std::string& fileName,
                             bool isPreparation) {
  const Result<PlanParts> parts = unwrapPlan(bytes, fileName);
  if (!parts.ok()) {
    return parts.errors();
  }
  constexpr int deepest = 8;
  const Diagnostic malformed{
      Severity::Error, {fileName, 0, 0}, "damaged: its contents do not follow the plan format", notOurs};
  // FlatBuffers addresses 31 bits; below four bytes there is not even a root.
  if (parts->plan.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || parts->plan.size() < 8) {
    return malformed;
  }
  std::vector<uint64_t> storage;
  const auto plan = alignedCopy(parts->plan, storage);
  const auto* buffer = reinterpret_cast<const uint8_t*>(plan.data());
  flatbuffers::Verifier verifier(buffer, plan.size(), deepest,
                                 static_cast<flatbuffers::uoffset_t>(plan.size())); // no file has more tables
  if (!file::VerifyPlanBuffer(verifier) || !elementsAligned(*file::GetPlan(buffer))) {
    return malformed;
  }
  return PlanReader(*file::GetPlan(buffer), parts->constants, fileName, isPreparation).read();
}

} // namespace

Result<Executable> Executable::parse(std::span<const std::byte> bytes, const std::string& fileName) {
  return parsePlan(bytes, fileName, /*isPreparation=*/false);
}

Result<Executable> Executable::load(const std::string& path) {
  std::error_code notAFile;
  const uint64_t size = std::filesystem::file_size(path, notAFile); // of a pipe it shows when all was read
  const std::string head = peekFile(path, planHeaderBytes);
  if (!notAFile && head.size() == std::min<uint64_t>(size, planHeaderBytes)) {
    if (auto fault = planHeaderFault(std::as_bytes(std::span(head)), size, path)) {
      return *std::move(fault);
    }
  }
  const Result<std::vector<std::byte>> bytes = readFile(path, largestPlanFile);
  if (!bytes.ok()) {
    return bytes.errors();
  }
  try {
    return parse(*bytes, path);
  } catch (const std::bad_alloc&) {
    throw NoMemoryForFile(path);
  }
}

} // namespace dfc
