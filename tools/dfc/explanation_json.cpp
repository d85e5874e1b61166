#include "tools/dfc/explanation_json.h"

#include <nlohmann/json.hpp>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

Json orNull(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

/// An array of what `object` makes of each row.
template <class Row>
Json each(const std::vector<Row>& rows, Json (*object)(const Row&)) {
  Json all = Json::array();
  for (const Row& row : rows) {
    all.push_back(object(row));
  }
  return all;
}

Json device(const ExplainedDevice& row) {
  return {{"name", row.name},
          {"share", row.share},
          {"memoryBytes", row.memoryBytes},
          {"residentBytes", row.residentBytes},
          {"capacityBytes", row.capacityBytes}};
}

Json way(const ExplainedWay& row) {
  return {{"how", row.how}, {"ops", row.ops}, {"share", row.share}, {"mostly", row.mostly}};
}

Json scope(const ExplainedScope& row) {
  return {{"scope", row.scope}, {"count", row.count}, {"share", row.share}, {"ways", each(row.ways, way)}};
}

Json parameters(const ExplainedParameters& row) {
  return {{"names", row.names},
          {"count", row.count},
          {"type", row.type},
          {"layout", row.layout},
          {"bytesPerDevice", row.bytesPerDevice}};
}

Json traffic(const ExplainedTraffic& row) {
  return {{"kind", row.kind},           {"collectives", row.collectives},
          {"transfers", row.transfers}, {"bytesPerDevice", row.bytesPerDevice},
          {"link", row.link},           {"linkSeconds", row.linkSeconds},
          {"hidden", row.hidden},       {"prefetched", row.prefetched},
          {"peerReads", row.peerReads}};
}

Json candidate(const ExplainedCandidate& row) {
  return {{"kind", nameOf(row.kind)}, {"description", row.description}, {"seconds", row.seconds},
          {"fits", row.fits},         {"chosen", row.chosen},           {"split", row.isSplit()},
          {"verdict", row.verdict},   {"linkPrice", row.linkPrice},     {"notable", row.notable}};
}

Json change(const ExplainedChange& row) {
  return {{"change", row.change}, {"predictedSeconds", orNull(row.seconds)}, {"placement", row.placement}};
}

} // namespace

std::string explanationJson(const Explanation& said) {
  const Json object{{"graph", said.graph},
                    {"machine", said.machine},
                    {"placement", said.placement},
                    {"split", said.isSplit},
                    {"stages", said.grid.stages},
                    {"devicesOfGroup", said.grid.width},
                    {"simulatedDevices", said.simulated},
                    {"machineDevices", said.machineDevices},
                    {"devices", each(said.devices, device)},
                    {"bandwidth", said.bandwidth},
                    {"latencySeconds", said.latencySeconds},
                    {"predictedSeconds", said.seconds},
                    {"lowerBoundSeconds", said.bound},
                    {"plannedSeconds", orNull(said.plannedSeconds)},
                    {"boundOfSplitsSeconds", orNull(said.boundOfSplits)},
                    {"firstStepSeconds", said.aloneSeconds},
                    {"oneDeviceSeconds", orNull(said.oneDeviceSeconds)},
                    {"oneDeviceFits", said.oneDeviceFits},
                    {"idealSeconds", orNull(said.idealSeconds())},
                    {"efficiency", orNull(said.efficiency())},
                    {"scopes", each(said.scopes, scope)},
                    {"scopesInGroups", each(said.scopesInGroups, scope)},
                    {"parameters", each(said.parameters, parameters)},
                    {"copies", each(said.traffic, traffic)},
                    {"considered", each(said.candidates, candidate)},
                    {"changes", each(said.changes, change)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace dfc::tool
