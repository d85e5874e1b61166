// One ONNX node test run by dfc: mapped, compiled for one CPU, run, and held against the expected outputs.
#pragma once

#include <filesystem>
#include <string>

namespace dfc::test {

struct NodeOutcome {
  enum class Kind : uint8_t { Passes, OutOfScope, Fails };
  Kind kind = Kind::Fails;
  std::string why; ///< the reason; of one that passes why only within ONNX's own tolerance, "" for nearly all
};

/// `folder`: model.onnx and test_data_set_0, …, all of which must pass.
NodeOutcome runNodeTest(const std::filesystem::path& folder);

/// "passes", "passes within 1e-3: …", "out of scope: …", "FAILS: …"
std::string spoken(const NodeOutcome& outcome);

} // namespace dfc::test
