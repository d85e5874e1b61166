#include "compiler/cost/calibrated_cost_model.h"

#include "compiler/cost/peak_seconds.h"
#include "ir/graph/graph.h"
#include "ir/machine/machine_faults.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dfc {
namespace {

OpCost workOf(const Graph& graph, OpId op) {
  return costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op));
}

/// The signature with the number of dimensions in place of the dimensions.
std::string familyOf(const Graph& graph, OpId op, const std::string& signature) {
  std::string family(nameOf(graph[op].kind()));
  for (const TensorType& type : graph.operandTypesOf(op)) {
    family += ' ';
    family += name(type.element);
    family += std::to_string(type.shape.rank());
  }
  return family + signature.substr(signature.find(')')); // the attributes
}

/// How far two amounts are apart, in powers of two; infinite between something and nothing.
double apart(double a, double b) {
  return a == b ? 0 : a > 0 && b > 0 ? std::abs(std::log2(a / b)) : std::numeric_limits<double>::infinity();
}

} // namespace

CalibratedCostModel::CalibratedCostModel(std::vector<Calibration> tables, const CostModel& fallback)
    : fallback_(fallback) {
  for (Calibration& table : tables) {
    Calibration& kept = tables_.try_emplace(table.device, Calibration{table.device, {}}).first->second;
    kept.keep(std::move(table.ops));
    kept.keepCopies(std::move(table.copies));
  }
  for (const auto& [device, table] : tables_) {
    families_.emplace(device, familiesOf(table));
    knowsMemory_ = knowsMemory_ || std::any_of(table.ops.begin(), table.ops.end(),
                                               [](const CalibratedOp& op) { return op.fromMemory > 0; });
  }
}

CalibratedCostModel::Families CalibratedCostModel::familiesOf(const Calibration& table) {
  Families families;
  for (const CalibratedOp& measured : table.ops) {
    if (auto lone = opOfSignature(measured.signature)) {
      const std::string family = familyOf(lone->graph, lone->op, measured.signature);
      const OpCost work = workOf(lone->graph, lone->op);
      const double fromMemory = measured.fromMemory > 0 ? measured.fromMemory : measured.seconds;
      families[family].push_back({*std::move(lone), measured.seconds, fromMemory, work.flops, work.bytes});
    }
  }
  return families;
}

double CalibratedCostModel::opSeconds(const Graph& graph, OpId op, const Machine& machine,
                                      DeviceId device) const {
  if (!isTimed(graph[op].kind())) {
    return fallback_.opSeconds(graph, op, machine, device);
  }
  return hasTable(machine.devices[device])
             ? secondsOf(graph, op, machine, device)
             : fallback_.opSeconds(graph, op, machine, device) * factorOfMeasured(graph, op, machine);
}

double CalibratedCostModel::fromMemorySeconds(const Graph& graph, OpId op, const Machine& machine,
                                              DeviceId device) const {
  return isTimed(graph[op].kind()) && hasTable(machine.devices[device])
             ? secondsOf(graph, op, machine, device, Operands::InMemory)
             : opSeconds(graph, op, machine, device);
}

double CalibratedCostModel::generatedSeconds(const Graph& graph, OpId op, const Machine& machine,
                                             DeviceId device) const {
  const double seconds = opSeconds(graph, op, machine, device);
  return seconds == fallback_.opSeconds(graph, op, machine, device)
             ? fallback_.generatedSeconds(graph, op, machine, device)
             : seconds;
}

double CalibratedCostModel::factorOfMeasured(const Graph& graph, OpId op, const Machine& machine) const {
  double largest = 0;
  std::string_view before; // devices of one model mostly follow one another
  for (const DeviceId device : machine.devices.ids()) {
    const std::string_view model = machine.devices[device].model;
    if (hasTable(machine.devices[device]) && std::exchange(before, model) != model) {
      const double factor =
          secondsOf(graph, op, machine, device) / fallback_.opSeconds(graph, op, machine, device);
      largest = std::isfinite(factor) ? std::max(largest, factor) : largest;
    }
  }
  return largest > 0 ? largest : 1;
}

bool CalibratedCostModel::isMeasured(const Graph& graph, OpId op, const Machine& machine,
                                     DeviceId device) const {
  return isTimed(graph[op].kind()) && hasTable(machine.devices[device]) &&
         measuredSeconds(graph, op, machine, device).has_value();
}

double CalibratedCostModel::secondsOf(const Graph& graph, OpId op, const Machine& machine, DeviceId device,
                                      Operands operands) const {
  const std::optional<double> measured = measuredSeconds(graph, op, machine, device, operands);
  return measured ? *measured : fallback_.opSeconds(graph, op, machine, device);
}

/// Of the op itself, else carried over from the nearest op of its family. None: the table has no such op.
std::optional<double> CalibratedCostModel::measuredSeconds(const Graph& graph, OpId op,
                                                           const Machine& machine, DeviceId device,
                                                           Operands operands) const {
  const auto table = tables_.find(machine.devices[device].model);
  const std::string signature = signatureOf(graph, op);
  if (const CalibratedOp* measured = table->second.find(signature)) {
    return operands == Operands::InMemory && measured->fromMemory > 0 ? measured->fromMemory
                                                                      : measured->seconds;
  }
  const Row* row = nearest(families_.find(table->first)->second, graph, op, signature);
  if (row == nullptr) {
    return std::nullopt;
  }
  const double here = fallback_.opSeconds(graph, op, machine, device);
  const double there = fallback_.opSeconds(row->lone.graph, row->lone.op, machine, device);
  const double neighbour = operands == Operands::InMemory ? row->fromMemory : row->seconds;
  const double seconds = neighbour * here / there;
  return there > 0 && here > 0 && std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

const Calibration* CalibratedCostModel::tableOf(const DeviceRow& device) const {
  const auto table = tables_.find(device.model);
  return table == tables_.end() ? nullptr : &table->second;
}

bool CalibratedCostModel::measuredAllCopies(const Machine& machine) const {
  return std::all_of(machine.routes.begin(), machine.routes.end(), [&](const Route& route) {
    const Calibration* table = tableOf(machine.devices[route.from]);
    return table != nullptr && table->copySeconds(machine.devices[route.to].model, 1).has_value();
  });
}

double CalibratedCostModel::transferSeconds(const Machine& machine, const Route& route, int64_t bytes) const {
  return measuredAllCopies(machine)
             ? std::min(
                   *tableOf(machine.devices[route.from])->copySeconds(machine.devices[route.to].model, bytes),
                   mostSeconds)
             : fallback_.transferSeconds(machine, route, bytes);
}

double CalibratedCostModel::utilisation(const Graph& graph, OpId op, const Machine& machine,
                                        DeviceId device) const {
  const bool anyTable = std::any_of(machine.devices.begin(), machine.devices.end(),
                                    [&](const DeviceRow& row) { return hasTable(row); });
  if (!anyTable || graph[op].kind() == OpKind::Custom) { // whose seconds say nothing of limits
    return fallback_.utilisation(graph, op, machine, device);
  }
  const double work =
      fallback_.opSeconds(graph, op, machine, device) * fallback_.utilisation(graph, op, machine, device);
  const double seconds = opSeconds(graph, op, machine, device);
  return seconds > 0 && std::isfinite(work) ? std::min(1.0, work / seconds) : 0;
}

// Of an uncalibrated device too: its ops have the ratio of a calibrated one, or 1.
double CalibratedCostModel::leastOfPeak(const Machine& machine, DeviceId device) const {
  double ratio = 1;
  for (const DeviceId other : machine.devices.ids()) {
    const auto families = families_.find(machine.devices[other].model);
    if (families == families_.end()) {
      continue;
    }
    for (const auto& [family, rows] : families->second) {
      for (const Row& row : rows) {
        const double there = fallback_.opSeconds(row.lone.graph, row.lone.op, machine, other);
        if (there > 0 && peakSeconds(row.lone.graph, row.lone.op, machine.devices[other]) > 0) {
          ratio = std::min(ratio, std::min(row.seconds, row.fromMemory) / there);
        }
      }
    }
  }
  return ratio * fallback_.leastOfPeak(machine, device);
}

const CalibratedCostModel::Row* CalibratedCostModel::nearest(const Families& families, const Graph& graph,
                                                             OpId op, const std::string& signature) {
  const auto family = families.find(familyOf(graph, op, signature));
  if (family == families.end()) {
    return nullptr;
  }
  const OpCost work = workOf(graph, op);
  const double limit = std::log2(farthest);
  const Row* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Row& row : family->second) {
    const double flops = apart(work.flops, row.flops);
    const double bytes = apart(work.bytes, row.bytes);
    const double distance = std::hypot(flops, bytes);
    if (flops <= limit && bytes <= limit && distance < least) {
      best = &row;
      least = distance;
    }
  }
  return best;
}

} // namespace dfc
