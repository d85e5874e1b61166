// Quantities as people read them: three significant digits and a unit. One helper for every printed form,
// picture and message, so that a size looks the same wherever it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dfc {

/// "0 B", "512 B", "1.20 KB", "35.0 MB", "141 GB": powers of 1000.
std::string humanBytes(int64_t bytes);

/// Two sizes with as many digits as tell them apart: "16.0 GB" and "15.9 GB", "16.000001 GB" and
/// "16 GB".
std::pair<std::string, std::string> humanBytesApart(int64_t a, int64_t b);

/// "0 s", "350 ns", "35.0 µs", "1.20 ms", "2.50 s": always three significant digits; minutes stay seconds.
std::string humanSeconds(double seconds);

/// "900 B/s", "25.0 GB/s".
std::string humanRate(double bytesPerSecond);

/// "12.8 MFLOP"
std::string humanFlops(double flops);

/// "1 step", "2 steps", "2 fetches"; `noun` is not empty
std::string counted(size_t count, std::string_view noun);

} // namespace dfc
