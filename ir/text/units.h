// Sizes and times as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace dfc {

std::string humanBytes(int64_t bytes);    ///< "512 B", "1.2 KB", "3.4 MB", "5.6 GB"; powers of 1000
std::string humanSeconds(double seconds); ///< "0 s", "350 ns", "35.0 µs", "1.23 ms", "4.56 s"

} // namespace dfc
