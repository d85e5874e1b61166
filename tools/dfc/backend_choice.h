// `--backend KIND=NAME`: which backend a session takes for a kind of device.
#pragma once

#include "runtime/session.h"

namespace dfc::tool {

/// Reads one such option into `options`; what is wrong with it goes to `errors`.
void applyBackend(const std::string& text, SessionOptions& options, Diagnostics& errors);

} // namespace dfc::tool
