// What the tests of `dfc-bench` share: rows of a results file, and scripts that play peers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace dfc::test {

/// The rows of the newest run in a results file that `who` made (ours, unless said), by key.
std::map<std::string, nlohmann::json> rowsOf(const std::string& path, const std::string& who = "dfc");

/// A script that answers each key with 2 seconds, and with 1 as another peer; or does what `instead` says.
std::string peerScript(const std::string& instead = "");

/// Whether such a script can be run.
bool pythonIsHere();

} // namespace dfc::test
