// ONNX's control flow where it is known before anything runs: a branch is taken, a loop is unrolled.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

#include <limits>

namespace dfc::onnx {
namespace {

bool holds(NodeCall& call, Tensor condition) {
  const Literal value = call.literalOf(condition);
  if (value.type().element != ElementType::Bool || value.type().shape.elements() != 1) {
    call.refuse(fmt::format("a condition of type {}", toString(value.type())));
  }
  return value.at(0) != 0;
}

NodeResults branch(NodeCall& call) {
  const bool first = holds(call, call.operand(0));
  call.ignore(first ? "else_branch" : "then_branch");
  return call.scope().inlined(call.body(first ? "then_branch" : "else_branch"), {}, call.opset());
}

// Values of each turn along a new axis in front.
Tensor stacked(const std::vector<Tensor>& turns, int64_t axis) {
  std::vector<Tensor> parts;
  for (const Tensor turn : turns) {
    Dims dims = dimsOf(turn);
    dims.insert(dims.begin() + axis, 1);
    parts.push_back(reshape(turn, dims));
  }
  return concat(parts, axis);
}

NodeResults loop(NodeCall& call) {
  const OnnxGraph& body = call.body("body");
  const int64_t most = call.has(0) ? call.wholeNumber(0) : std::numeric_limits<int64_t>::max();
  Tensor condition = call.has(1) ? call.operand(1) : call.constant(Literal::scalar(true));
  std::vector<Tensor> carried;
  for (size_t i = 2; i < call.operands(); ++i) {
    carried.push_back(call.operand(i));
  }
  if (body.outputs.size() < carried.size() + 1) {
    call.refuse("a body of too few outputs");
  }
  std::vector<std::vector<Tensor>> scanned(body.outputs.size() - carried.size() - 1);
  for (int64_t turn = 0; turn < most && holds(call, condition); ++turn) {
    call.spend(1);
    std::vector<Tensor> inputs{call.constant(Literal::scalar(turn)), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Tensor> outputs = call.scope().inlined(body, inputs, call.opset());
    condition = outputs[0];
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<int64_t>(carried.size()));
    for (size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(outputs[1 + carried.size() + i]);
    }
  }
  NodeResults results = carried;
  for (const std::vector<Tensor>& turns : scanned) {
    if (turns.empty()) {
      call.refuse("no turn, which leaves the shape of what it collects open");
    }
    results.push_back(stacked(turns, 0));
  }
  return results;
}

Tensor sliceAt(Tensor a, size_t axis, int64_t index) {
  Dims starts(a.shape().rank(), 0), ends = dimsOf(a), dims = ends;
  starts[axis] = index;
  ends[axis] = index + 1;
  dims.erase(dims.begin() + static_cast<int64_t>(axis));
  return reshape(slice(a, starts, ends), dims);
}

/// What a Scan says of its inputs or outputs, a number for each.
Dims perPort(NodeCall& call, const std::string& name, size_t count) {
  const Dims given = call.integers(name, Dims(count, 0));
  if (given.size() != count) {
    call.refuse(fmt::format("{} numbers in '{}' instead of {}", given.size(), name, count));
  }
  return given;
}

NodeResults scan(NodeCall& call) {
  if (call.opset() < 9) {
    call.refuse("the operands of opset 8");
  }
  const OnnxGraph& body = call.body("body");
  const int64_t inputs = call.positive("num_scan_inputs", 0);
  const auto given = static_cast<int64_t>(call.operands());
  if (inputs > given || body.outputs.size() < static_cast<size_t>(given - inputs)) {
    call.refuse(fmt::format("num_scan_inputs = {}", inputs));
  }
  const auto states = static_cast<size_t>(given - inputs);
  std::vector<Tensor> carried, over;
  for (size_t i = 0; i < call.operands(); ++i) {
    (i < states ? carried : over).push_back(call.operand(i));
  }
  const Dims axes = perPort(call, "scan_input_axes", over.size());
  const Dims backwards = perPort(call, "scan_input_directions", over.size());
  const size_t collected = body.outputs.size() - states;
  const Dims madeAxes = perPort(call, "scan_output_axes", collected);
  const Dims madeBackwards = perPort(call, "scan_output_directions", collected);
  const auto lengthOf = [&](size_t i) {
    return over[i].shape()[call.normal(axes[i], over[i].shape().rank())];
  };
  const int64_t turns = lengthOf(0);
  std::vector<std::vector<Tensor>> made(collected);
  for (int64_t turn = 0; turn < turns; ++turn) {
    call.spend(1);
    std::vector<Tensor> fed = carried;
    for (size_t i = 0; i < over.size(); ++i) {
      if (lengthOf(i) != turns) {
        call.refuse(fmt::format("scan inputs of {} and {} turns", turns, lengthOf(i)));
      }
      fed.push_back(sliceAt(over[i], call.normal(axes[i], over[i].shape().rank()),
                            backwards[i] != 0 ? turns - 1 - turn : turn));
    }
    const std::vector<Tensor> outputs = call.scope().inlined(body, fed, call.opset());
    carried.assign(outputs.begin(), outputs.begin() + static_cast<int64_t>(states));
    for (size_t i = 0; i < collected; ++i) {
      made[i].insert(madeBackwards[i] != 0 ? made[i].begin() : made[i].end(), outputs[states + i]);
    }
  }
  NodeResults results = carried;
  for (size_t i = 0; i < collected; ++i) {
    if (made[i].empty()) {
      call.refuse("no turn, which leaves the shape of what it collects open");
    }
    const size_t rank = made[i][0].shape().rank() + 1;
    results.push_back(stacked(made[i], static_cast<int64_t>(call.normal(madeAxes[i], rank))));
  }
  return results;
}

} // namespace

MappingTable controlMappings() { return {{"If", branch}, {"Loop", loop}, {"Scan", scan}}; }

} // namespace dfc::onnx
