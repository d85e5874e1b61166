#include "compiler/split/relayout_seconds.h"

#include "compiler/split/sum_form.h"

#include <cmath>

namespace dfc {
namespace {

/// What reaches a device, on average over the mesh: bytes as a multiple of the value's, and transfers, each
/// of which holds a link for its latency.
struct Traffic {
  double values = 0;
  double transfers = 0;
};

Traffic trafficOf(const Layout& from, const Layout& to, double k) {
  using Form = Layout::Form;
  const double others = (k - 1) / k;
  switch (to.form) {
  case Form::Partial: return {never, 0};
  case Form::OnOne: return {from.isPartial() ? others : others / k, others};
  case Form::OnAll: return {others, from.form == Form::OnOne ? others : k - 1};
  case Form::Cut: return {from.isPartial() ? others : others / k, from.form == Form::OnOne ? others : k - 1};
  }
  DFC_UNREACHABLE("a layout of another form");
}

} // namespace

double relayoutSeconds(const Layout& from, const Layout& to, const TensorType& type, const Mesh& mesh) {
  if (from == to) {
    return 0;
  }
  if (from.form == Layout::Form::OnAll) { // sliced there; the shares of a sum are the value and zeros
    return to.isPartial() && to.combine != SplitKind::Sum ? never : 0;
  }
  const auto seconds = [&](double bytes) { return mesh.bandwidth > 0 ? bytes / mesh.bandwidth : 0; };
  const auto bytes = static_cast<double>(type.bytes());
  if (from.isPartial() && to.form == Layout::Form::OnAll) {
    const auto k = static_cast<double>(mesh.size());
    return isSmall(type) ? seconds(bytes * std::log2(k)) // in a bucket with others
                         : cheapestSum(type.bytes(), true, mesh).seconds;
  }
  const Traffic traffic = trafficOf(from, to, static_cast<double>(mesh.size()));
  return std::isfinite(traffic.values)
             ? traffic.transfers * mesh.latencySeconds + seconds(traffic.values * bytes)
             : never;
}

} // namespace dfc
