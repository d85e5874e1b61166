// microBatches: a graph that computes its step in parts of the batch, one after the other: inputs are cut
// along their first axis, ops follow as their split rules allow, and what the parts give to the whole, such
// as gradients, is added up as it comes. The update runs once. Less memory for the values of a step (gradient
// accumulation); and parts that several devices compute at different layers are a pipeline (Huang et al.
// 2019, "GPipe").
#pragma once

#include "compiler/split/pipeline/batch_choices.h"
#include "ir/graph/graph.h"

#include <optional>

namespace dfc {

/// `count` parts, of equal length where the batch divides. Pins stay. Sums over the batch are taken part by
/// part, in order, those of 16-bit types in f32. The ops come part by part, so that an order of the ids needs
/// the memory of one part. Empty where no input has `count` elements along its first axis.
/// `made`: how many of the micro-batches are put into the graph, for simulation. With fewer than `count`, the
/// graph does not compute the step's results; empty then, too, if the micro-batches have unequal lengths.
std::optional<Graph> microBatches(const Graph& graph, size_t count, std::optional<size_t> made = {});

/// The same for choices that are made. `graph`: theirs.
std::optional<Graph> microBatches(const Graph& graph, const BatchChoices& choices, size_t made);

} // namespace dfc
