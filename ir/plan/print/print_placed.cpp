// printPlaced: see print.h. One op a line, in the order of the graph, the device first, so that a column can
// be read down; text beyond the graph file stands behind '#'.
#include "ir/author/text/print_op.h"
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"
#include "ir/plan/print/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc {
namespace {

class PlacedPrinter {
 public:
  PlacedPrinter(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), graph_(placed.graph), machine_(machine), ops_(placed.graph) {
    for (const DeviceRow& device : machine.devices) {
      width_ = std::max(width_, device.name.size());
    }
  }

  std::string print() && {
    out_ = fmt::format("placed {} on {}\n", text::written(graph_.name()), machine_.name);
    printTotals();
    out_ += '\n';
    for (const OpId op : graph_.ops()) {
      printOp(op);
    }
    printOrderings();
    for (const Fetch& fetch : graph_.fetches()) {
      out_ += fmt::format("fetch {} = {}\n", text::written(graph_.text(fetch.name)),
                          text::written(graph_.nameOf(fetch.value)));
    }
    return std::move(out_);
  }

 private:
  std::string_view deviceName(DeviceId device) const { return machine_.devices[device].name; }

  void printTotals() {
    SideTable<DeviceId, size_t> counts(machine_.devices.size(), 0);
    int64_t moved = 0;
    for (const OpId op : graph_.ops()) {
      ++counts[placed_.device[op]];
      const auto transfer = placed_.transfers.find(op);
      moved += transfer == placed_.transfers.end() ? 0 : transfer->second.bytes;
    }
    out_ += fmt::format("{}:", counted(graph_.opCount(), "op"));
    for (const DeviceId device : counts.ids()) {
      out_ += fmt::format("{} {} on {}", device.index() == 0 ? "" : ",", counts[device], deviceName(device));
    }
    out_ += fmt::format("\n{} of {}, {}, {}\n", counted(placed_.transfers.size(), "transfer"),
                        humanBytes(moved), counted(placed_.replicas.size(), "replica"),
                        counted(placed_.orderings.size(), "ordering"));
  }

  void printOp(OpId op) {
    out_ += fmt::format("{:{}}  ", deviceName(placed_.device[op]), width_);
    ops_.append(out_, op);
    std::vector<std::string> notes;
    if (!graph_.scopeOf(op).empty()) {
      notes.push_back(fmt::format("in {}", text::written(graph_.scopeOf(op))));
    }
    if (const auto found = placed_.transfers.find(op); found != placed_.transfers.end()) {
      notes.push_back(describe(found->second));
    }
    if (const auto found = placed_.replicas.find(op); found != placed_.replicas.end()) {
      notes.push_back(fmt::format("replica of {}", text::written(graph_.nameOf(found->second))));
    }
    out_ += notes.empty() ? "\n" : fmt::format("  # {}\n", fmt::join(notes, "; "));
  }

  std::string describe(const TransferRow& transfer) const {
    std::vector<std::string_view> links;
    for (const LinkId link : transfer.links) {
      links.push_back(machine_.links[link].name);
    }
    return fmt::format("{} from {} to {}{}{}", humanBytes(transfer.bytes), deviceName(transfer.from),
                       deviceName(transfer.to), links.empty() ? "" : " over ", fmt::join(links, ", "));
  }

  void printOrderings() {
    for (const Ordering& ordering : placed_.orderings) {
      out_ += fmt::format("order {} before {}\n", text::written(graph_.nameOf(ordering.before)),
                          text::written(graph_.nameOf(ordering.after)));
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  text::OpPrinter ops_;
  size_t width_ = 0;
  std::string out_;
};

} // namespace

std::string printPlaced(const PlacedGraph& placed, const Machine& machine) {
  return PlacedPrinter(placed, machine).print();
}

} // namespace dfc
