// printLaunches: see print.h. A block a queue, a line a launch.
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"
#include "ir/plan/print/print.h"

#include <fmt/format.h>

namespace dfc {
namespace {

class LaunchPrinter {
 public:
  LaunchPrinter(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                const Machine& machine)
      : launches_(launches), graph_(placed.graph), schedule_(schedule), machine_(machine) {}

  std::string print() && {
    out_ = fmt::format("launches of {} on {}\n", text::written(graph_.name()), machine_.name);
    QueueId queue;
    uint32_t number = 0;
    for (const LaunchRow& row : launches_.launches) {
      if (row.queue != queue) {
        queue = row.queue;
        number = 0;
        out_ += fmt::format("\n{}: workspace {}\n", schedule_.nameOf(queue, machine_),
                            humanBytes(launches_.workspaceBytes[queue]));
      }
      out_ += fmt::format("  {:>4}  {:>8}  {}\n", number++, humanSeconds(row.seconds), lineOf(row));
      for (const LaunchRow& spare : row.spare) {
        out_ += fmt::format("                  else {}\n", lineOf(spare));
      }
    }
    for (const PeerRead& read : launches_.peers.reads) {
      out_ += fmt::format("\n{} reads {} in the peer's memory", opName(schedule_.steps[read.reader].op),
                          opName(schedule_.steps[read.transfer].op));
    }
    return std::move(out_ += launches_.peers.reads.empty() ? "" : "\n");
  }

 private:
  std::string opName(OpId op) const { return text::written(graph_.nameOf(op)); }

  std::string lineOf(const LaunchRow& row) const {
    std::string line;
    for (const OpId op : row.ops) {
      line += (line.empty() ? "" : ", ") + opName(op);
    }
    line += ": " + kindOf(row) + " (";
    for (const LaunchPointer& pointer : row.pointers) {
      line += (line.back() == '(' ? "" : ", ") + placeOf(pointer);
    }
    return line + ")";
  }

  static std::string kindOf(const LaunchRow& row) {
    switch (row.kind) {
    case LaunchKind::Kernel:
      return fmt::format("kernel {}, {} blocks of {}", row.kernel, uint64_t{row.grid[0]} * row.grid[1],
                         row.threads);
    case LaunchKind::Product: return "product" + epilogueOf(*row.product);
    case LaunchKind::Convolution: return "convolution";
    case LaunchKind::Custom: return "custom kernel";
    }
    DFC_UNREACHABLE("kind of a launch");
  }

  static std::string epilogueOf(const ProductCall& call) {
    std::string text = call.tf32 ? " in tf32" : "";
    text += call.alpha != 1 ? fmt::format(" * {}", call.alpha) : "";
    text += call.bias ? " + bias" : call.addend ? " + addend" : "";
    switch (call.activation) {
    case Activation::None: break;
    case Activation::Relu: text += ", relu"; break;
    case Activation::Gelu: text += ", gelu"; break;
    }
    return text + (call.choice.empty() ? "" : " by " + call.choice);
  }

  std::string placeOf(const LaunchPointer& pointer) const {
    return pointer.inWorkspace()
               ? fmt::format("workspace+{}", pointer.offset)
               : fmt::format("{}+{}", machine_.devices[pointer.device].name, pointer.offset);
  }

  const LaunchPlan& launches_;
  const Graph& graph_;
  const Schedule& schedule_;
  const Machine& machine_;
  std::string out_;
};

} // namespace

std::string printLaunches(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                          const Machine& machine) {
  return LaunchPrinter(launches, placed, schedule, machine).print();
}

} // namespace dfc
