// `dfc run --predict`: all rows of the feeds once, and the files of what becomes of each.
#pragma once

#include "tools/dfc/run/run_setting.h"

namespace dfc::tool {

/// What --predict does not go with, as it has its own number of steps and trains nothing.
Diagnostics predictionFaults(const RunArguments& arguments);

Exit runPrediction(Setting& setting, Console& console);

} // namespace dfc::tool
