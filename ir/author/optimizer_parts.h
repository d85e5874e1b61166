// What the update rules share: pairs of parameters and gradients, state beside a parameter, numbers that may
// be values of the graph.
#pragma once

#include "ir/author/optimizers.h"

#include <functional>

namespace dfc {

/// The builder of the first tensor that has one; null for none.
Builder* builderOf(const std::vector<Tensor>& tensors);

/// The name that the author gave a parameter.
std::string nameOfParameter(Tensor parameter);

/// What an update rule gives for one parameter: its next value.
using NextValue = std::function<Tensor(Tensor parameter, Tensor gradient)>;

/// Runs the rule over all pairs and assigns; a pair that does not match is reported and left out.
std::vector<Tensor> updateAll(std::string_view rule, const std::vector<Tensor>& parameters,
                              const std::vector<Tensor>& gradients, std::source_location where, Tensor onlyIf,
                              const NextValue& nextValue);

/// The next value, or the one before where a condition is there and does not hold.
Tensor keptUnless(Tensor onlyIf, Tensor next, Tensor before);

/// Optimiser state beside a parameter: "w.momentum".
Tensor stateBeside(Tensor parameter, std::string_view what, const TensorType& type);

/// Assigns the state's next value where `onlyIf` holds; gives that value.
Tensor assignedState(Tensor state, Tensor next, Tensor onlyIf);

Tensor castTo(Tensor tensor, ElementType element);

/// A number as it is, a scalar of the graph in this type.
Operand scalarIn(const Operand& value, ElementType element);

/// The element type of an optimiser's state: a 16-bit float would lose small second moments.
ElementType stateElement(ElementType element);

/// Whether `value` is a number or a float scalar of the graph; reports it where it is not.
bool isRate(Builder* builder, std::string_view rule, const Operand& value, std::source_location where);

/// The weight decay of this parameter: 0 where a pattern of `noDecay` matches its name.
double decayOf(Tensor parameter, double weightDecay, const std::vector<std::string>& noDecay);

} // namespace dfc
