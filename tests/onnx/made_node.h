// A model of one ONNX node that a test builds in code: operands and expected results as numbers.
#pragma once

#include "tests/onnx/node_outcome.h"

#include <optional>

namespace dfc::test {

struct MadeNode {
  std::string op;
  int64_t opset = 18;
  std::map<std::string, OnnxAttribute> attributes;
  std::vector<std::optional<Literal>> operands; ///< called x0, x1, …; none: left out
  std::vector<Literal> wanted = {};             ///< the results; none for a node that is out of scope
  std::string domain = {};                      ///< none: ONNX's own
};

/// What `spoken` says of its outcome: "passes", "out of scope: …", "FAILS: …".
std::string outcomeOf(const MadeNode& node);

Literal literal(ElementType element, const Shape& shape, const std::vector<double>& values);
Literal floats(const Shape& shape, const std::vector<double>& values);
Literal whole(const std::vector<double>& values); ///< i64 of rank 1

OnnxAttribute integerAttribute(int64_t value);
OnnxAttribute realAttribute(double value);
OnnxAttribute textAttribute(const std::string& value);
OnnxAttribute listAttribute(const std::vector<int64_t>& values);

} // namespace dfc::test
