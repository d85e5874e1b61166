// Hockney's law: rate(length) = peak * length / (length + half), where `half` is n_1/2, the length at which
// half of the peak is reached (Hockney and Jesshope 1981, "Parallel Computers"). 1 / rate is linear in
// 1 / length, so the rates of two lengths give both figures.
#pragma once

#include <algorithm>

namespace dfc {

struct Hockney {
  double peak = 0; ///< of the rates' unit; for infinite length
  double half = 0; ///< of the lengths' unit; 0 where a short length is no slower
  double rate(double length) const { return peak * (length / (length + half)); } ///< length above 0
};

/// `half` is at least 0 and at most `large`: rates of which it would be more are noise. Assumes
/// 0 < small < large and rates above 0.
inline Hockney hockneyOf(double small, double rateOfSmall, double large, double rateOfLarge) {
  const double seconds = 1 / rateOfLarge;
  const double slope = (1 / rateOfSmall - seconds) / (1 / small - 1 / large); // half / peak
  const double kept = std::clamp(slope, 0.0, seconds * large / 2);
  const double peak = 1 / (seconds - kept / large);
  return {peak, kept * peak};
}

} // namespace dfc
