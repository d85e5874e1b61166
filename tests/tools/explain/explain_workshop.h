// Graphs, machines and readers of reports for tests of `dfc explain`.
#pragma once

#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>

namespace dfc::test {

using Json = nlohmann::json;

/// The graph file of lesson 2.
extern const std::string mlp;
/// A host and so many GPUs in hosts of eight, by links that every copy has for itself.
std::string machineOf(int gpus);
Json explained(const std::vector<std::string>& words);
std::string textOf(const std::vector<std::string>& words);
/// The row whose `key` is `value`.
Json rowOf(const Json& rows, const std::string& key, const std::string& value);
std::vector<std::string> changesOf(const Json& said);
/// cpu-2gpu with these links changed.
std::string changedMachine(const Workshop& shop, const std::function<void(Json&)>& change);
/// Its links take no time.
std::string freeLinks(const Workshop& shop);
/// A device with three times the rate of another. Nothing but products takes time on them.
std::string threeToOne(const Workshop& shop);
/// The second product takes three times as long as the first.
std::string twoProducts(const Workshop& shop);
/// Products so large that a split is quicker than one device.
std::string wide(const Workshop& shop, int columns = 4096);

} // namespace dfc::test
