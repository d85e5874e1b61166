// One ONNX node test run by dfc: mapped, compiled for one CPU, run, and held against the expected outputs.
#pragma once

#include "ir/author/onnx/model.h"

#include <filesystem>

namespace dfc::test {

using onnx::OnnxAttribute;
using onnx::OnnxModel;

struct NodeOutcome {
  enum class Kind : uint8_t { Passes, OutOfScope, Fails };
  Kind kind = Kind::Fails;
  std::string why; ///< the reason; of one that passes why only within ONNX's own tolerance, "" for nearly all
};

/// What is fed to a model and what it has to give, in the order of its inputs and outputs.
struct OnnxData {
  std::vector<Literal> inputs, outputs;
};

/// `tolerance`: the least one for floats, relative to the expected value.
NodeOutcome runOnnxModel(const OnnxModel& model, const OnnxData& data, double tolerance = 0);

/// `folder`: model.onnx and test_data_set_0, …, all of which must pass.
NodeOutcome runNodeTest(const std::filesystem::path& folder);

/// "passes", "passes within 1e-3: …", "out of scope: …", "FAILS: …"
std::string spoken(const NodeOutcome& outcome);

} // namespace dfc::test
