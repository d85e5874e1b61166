// Plans in which GPUs use values that their peers compute, for the tests of peer reads.
#pragma once

#include "compiler/lower/peer_choice.h"
#include "ir/author/collectives.h"
#include "ir/graph/graph.h"
#include "tests/conformance/require_plan.h"
#include "tests/support/tiny_plan.h"

namespace dfc::test {

using Plan = std::shared_ptr<const Executable>;

/// Every device reaches the memory of every other, the host's too.
bool everywhere(DeviceId reader, DeviceId owner);

std::string nameOf(const Executable& plan, StepId step);
/// "y@gpu0 by z, …"
std::string written(const Executable& plan, llvm::ArrayRef<PeerRead> reads);
StepId stepNamed(const Executable& plan, std::string_view name);

/// A value "made" on gpu1 from state, and what `use` makes on gpu0 of it and of a parameter there, both f32
/// of this shape.
Plan exchangePlan(Shape shape, llvm::function_ref<void(Builder& g, Tensor made, Tensor w)> use);

/// Of these, the plan in which "made" is taken from the parameter: by "next", which becomes its value.
Plan updatePlan(Shape shape = {64});

/// The MLP on two H200s, gradients exchanged.
Plan exchangingNet(int64_t batch);
/// The same with gradients summed in another form, on two H200s or so many of eight.
Plan reducingNet(int64_t batch, AllReduce form, size_t gpus);

/// Of about so many ops, each that computes on a GPU of a small machine drawn for it. Two plans of three have
/// many ops whose kernels stream.
Plan scatteredPlan(uint64_t seed, size_t ops, int64_t mostElements, uint32_t gpus = 3);

} // namespace dfc::test
