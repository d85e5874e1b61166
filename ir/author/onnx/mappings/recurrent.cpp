// ONNX's recurrent layers, unrolled: what the gates get from the input is one product for all steps, a step
// is a product with the state, gates, and the state that they give. Of sequences of several lengths a step
// behind the end of one keeps its state and gives zeros.
#include "ir/author/onnx/mappings/recurrent_layer.h"

#include <algorithm>

namespace dfc::onnx {
namespace {

/// The states after all steps, in the order of the steps, and the last ones.
struct Run {
  std::vector<Tensor> outputs, last;
};

// Runs a direction. `cell` gives the states behind a step from what the gates get from its input and from the
// states before; the first of them is the output.
template <class Cell>
Run runOf(const OneWay& way, std::vector<Tensor> states, Cell cell) {
  const Layer& layer = way.layer();
  Run run;
  for (int64_t turn = 0; turn < layer.steps(); ++turn) {
    layer.call().spend(64); // ops of a step, about
    const int64_t step = way.stepAt(turn);
    std::vector<Tensor> next = cell(way.fromInput(step), states);
    const Tensor runs = layer.runsAt(step);
    run.outputs.push_back(runs.valid() ? select(runs, next[0], 0) : next[0]);
    for (size_t i = 0; i < states.size(); ++i) {
      states[i] = runs.valid() ? select(runs, next[i], states[i]) : next[i];
    }
  }
  if (way.stepAt(0) != 0) {
    std::reverse(run.outputs.begin(), run.outputs.end());
  }
  run.last = states;
  return run;
}

// All outputs, [steps, directions, batch, hidden], and of each state the last, [directions, batch, hidden];
// the axis of the batch in front if the layout has it there.
NodeResults stacked(const Layer& layer, const std::vector<Run>& runs) {
  const int64_t batch = layer.batch(), hidden = layer.hidden();
  const bool front = layer.batchFirst();
  std::vector<Tensor> ofDirections;
  for (const Run& run : runs) {
    std::vector<Tensor> steps;
    for (const Tensor output : run.outputs) {
      steps.push_back(reshape(output, front ? Dims{batch, 1, 1, hidden} : Dims{1, 1, batch, hidden}));
    }
    ofDirections.push_back(concat(steps, front ? 1 : 0));
  }
  NodeResults results{concat(ofDirections, front ? 2 : 1)};
  for (size_t i = 0; i < runs[0].last.size(); ++i) {
    std::vector<Tensor> last;
    for (const Run& run : runs) {
      last.push_back(reshape(run.last[i], front ? Dims{batch, 1, hidden} : Dims{1, batch, hidden}));
    }
    results.push_back(concat(last, front ? 1 : 0));
  }
  return results;
}

NodeResults simple(NodeCall& call) {
  const Layer layer(call, 1, {"Tanh"});
  std::vector<Run> runs;
  for (int64_t i = 0; i < layer.directions(); ++i) {
    const OneWay d(layer, i, 1);
    runs.push_back(runOf(d, {d.firstState(5)}, [&](Tensor x, const std::vector<Tensor>& states) {
      return std::vector<Tensor>{d.activated(0, x + d.fromState(states[0]))};
    }));
  }
  return stacked(layer, runs);
}

// Gates update, reset, candidate.
Tensor gruStep(const OneWay& d, Tensor x, Tensor h, bool resetAfter) {
  const Tensor all = resetAfter ? d.fromState(h) : Tensor();
  const auto state = [&](int64_t i) { return resetAfter ? d.gate(all, i) : d.fromState(h, i); };
  const Tensor update = d.activated(0, d.gate(x, 0) + state(0)),
               reset = d.activated(0, d.gate(x, 1) + state(1));
  const Tensor past = resetAfter ? reset * state(2) : d.fromState(reset * h, 2);
  return (1 - update) * d.activated(1, d.gate(x, 2) + past) + update * h;
}

NodeResults gated(NodeCall& call) {
  const Layer layer(call, 3, {"Sigmoid", "Tanh"});
  const bool resetAfter = call.integer("linear_before_reset", 0) != 0;
  std::vector<Run> runs;
  for (int64_t i = 0; i < layer.directions(); ++i) {
    const OneWay d(layer, i, 3);
    runs.push_back(runOf(d, {d.firstState(5)}, [&](Tensor x, const std::vector<Tensor>& states) {
      return std::vector<Tensor>{gruStep(d, x, states[0], resetAfter)};
    }));
  }
  return stacked(layer, runs);
}

// Gates input, output, forget, candidate; their peepholes stand in the same order.
NodeResults longShort(NodeCall& call) {
  call.only("input_forget", 0);
  const Layer layer(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  std::vector<Run> runs;
  for (int64_t i = 0; i < layer.directions(); ++i) {
    const OneWay d(layer, i, 4);
    const bool peeps = call.has(7);
    const auto peeped = [&](Tensor sum, int64_t gate, Tensor cell) {
      return peeps ? sum + d.peephole(gate) * cell : sum;
    };
    runs.push_back(
        runOf(d, {d.firstState(5), d.firstState(6)}, [&](Tensor x, const std::vector<Tensor>& states) {
          const Tensor sums = x + d.fromState(states[0]), before = states[1];
          const Tensor input = d.activated(0, peeped(d.gate(sums, 0), 0, before));
          const Tensor forget = d.activated(0, peeped(d.gate(sums, 2), 2, before));
          const Tensor cell = forget * before + input * d.activated(1, d.gate(sums, 3));
          const Tensor output = d.activated(0, peeped(d.gate(sums, 1), 1, cell));
          return std::vector<Tensor>{output * layer.activated(i, 2, cell), cell};
        }));
  }
  return stacked(layer, runs);
}

} // namespace

MappingTable recurrentMappings() { return {{"GRU", gated}, {"LSTM", longShort}, {"RNN", simple}}; }

} // namespace dfc::onnx
