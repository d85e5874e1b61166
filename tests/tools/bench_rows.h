// Shared by the tests of `dfc-bench`: rows of a results file, and scripts as baselines.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace dfc::test {

/// The rows of `program` in the newest run of a results file, by key.
std::map<std::string, nlohmann::json> rowsOf(const std::string& path, const std::string& program = "dfc");

/// A script with a result of 2 seconds for each key, and of 1 second as another program; or runs the lines
/// `instead`.
std::string baselineScript(const std::string& instead = "");

/// Whether python3 is installed, which runs it.
bool pythonIsHere();

} // namespace dfc::test
