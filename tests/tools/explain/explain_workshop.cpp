#include "tests/tools/explain/explain_workshop.h"

#include "runtime/executable_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace dfc::test {

const std::string mlp = dfc::shippedFile("samples/02_train_mlp/mlp.dfg").string();

std::string machineOf(int gpus) {
  Json machine{{"name", "pod"},
               {"devices", Json::array()},
               {"links", Json::array()},
               {"routes", Json::array()},
               {"default_comm", {{"latency", 1e-5}, {"bandwidth", 5e10}}}};
  machine["devices"].push_back(
      {{"id", "cpu0"}, {"class", "cpu"}, {"flops", 1e12}, {"memoryBandwidth", 1e11}});
  for (int i = 0; i < gpus; ++i) {
    machine["devices"].push_back({{"id", "gpu" + std::to_string(i)},
                                  {"class", "gpu"},
                                  {"flops", 1e13},
                                  {"memoryBandwidth", 1e12},
                                  {"mem", 80000000000},
                                  {"launch", 2e-6}});
    machine["links"].push_back({{"id", "in" + std::to_string(i)}, {"latency", 1e-6}, {"bandwidth", 4e11}});
  }
  for (int from = 0; from < gpus; ++from) {
    for (int to = from / 8 * 8; to < std::min(gpus, from / 8 * 8 + 8); ++to) {
      if (from != to) {
        machine["routes"].push_back({{"from", "gpu" + std::to_string(from)},
                                     {"to", "gpu" + std::to_string(to)},
                                     {"links", Json::array({"in" + std::to_string(to)})}});
      }
    }
  }
  return machine.dump();
}

Json explained(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"explain"};
  all.insert(all.end(), words.begin(), words.end());
  all.push_back("--json");
  const Outcome outcome = runDfc(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

std::string textOf(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"explain"};
  all.insert(all.end(), words.begin(), words.end());
  const Outcome outcome = runDfc(all);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

Json rowOf(const Json& rows, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Json& row) { return row[key] == value; });
  INFO(rows.dump());
  REQUIRE(found != rows.end());
  return *found;
}

std::vector<std::string> changesOf(const Json& said) {
  std::vector<std::string> changes;
  for (const Json& row : said["changes"]) {
    changes.push_back(row["change"]);
  }
  return changes;
}

std::string changedMachine(const Workshop& shop, const std::function<void(Json&)>& change) {
  Json machine = Json::parse(std::ifstream(machineFile("cpu-2gpu")));
  change(machine);
  return shop.write("changed.json", machine.dump());
}

std::string freeLinks(const Workshop& shop) {
  return changedMachine(shop, [](Json& machine) {
    for (Json& link : machine["links"]) {
      link["latency"] = 0;
      link.erase("bandwidth");
    }
  });
}

std::string threeToOne(const Workshop& shop) {
  return shop.write("three-to-one.json", R"({"name": "three-to-one",
 "devices": [{"id": "cpu0", "class": "cpu", "flops": 1e6},
             {"id": "gpu0", "class": "gpu", "flops": 3e12},
             {"id": "gpu1", "class": "gpu", "flops": 1e12}],
 "links": [{"id": "bus", "slots": 0, "bandwidth": 1e13}],
 "routes": [{"from": "cpu0", "to": "gpu0", "links": ["bus"]}, {"from": "gpu0", "to": "cpu0", "links": ["bus"]},
            {"from": "cpu0", "to": "gpu1", "links": ["bus"]}, {"from": "gpu1", "to": "cpu0", "links": ["bus"]},
            {"from": "gpu0", "to": "gpu1", "links": ["bus"]}, {"from": "gpu1", "to": "gpu0", "links": ["bus"]}]}
)");
}

std::string twoProducts(const Workshop& shop) {
  return shop.write("two.dfg", R"(graph two {
  input x : f32[1024, 1024]
  parameter w1 : f32[1024, 1024] = glorot(seed=1)
  parameter w2 : f32[1024, 3072] = glorot(seed=2)
  scope "first" { h = matmul(x, w1) }
  scope "second" { y = matmul(h, w2) }
  fetch y
}
)");
}

std::string wide(const Workshop& shop, int columns) {
  return shop.write("wide.dfg", fmt::format(R"(graph wide {{
  input x : f32[8192, 4096]
  parameter w : f32[4096, {}] = glorot(seed=1)
  loss = reduceMean(matmul(x, w))
  dw = gradients(loss, w)
  wnext = assign(w, sub(w, mul(dw, 0.1)))
  fetch loss
}}
)",
                                            columns));
}

} // namespace dfc::test
