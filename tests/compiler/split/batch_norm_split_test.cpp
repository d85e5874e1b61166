// Batch norms in parts: what is made of the sums of all parts.
#include "compiler/run_passes.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/graph/graph.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"

namespace dfc::test {

TEST_CASE("batch norms in parts: statistics and gradients are one small op each, of views of the sums") {
  const Machine machine = hostsOf(2, 2);
  const Graph graph = rewritten(parsed(R"(graph norm {
    input x : f32[64, 32, 8, 8]
    parameter scale : f32[32] = constant(1)
    parameter bias : f32[32] = zeros()
    y, mean, variance = batchNormTraining(x, scale, bias)
    dscale, dbias = gradients(reduceMean(y * y), scale, bias)
    assign(scale, scale - 0.1 * dscale)
    assign(bias, bias - 0.1 * dbias)
    fetch mean
    fetch variance
  })"),
                                machine);
  const auto fused = runPasses(PassPhase::Fuse, unfoldBatchNorms(graph), machine, CompileOptions());
  REQUIRE(fused.ok());
  CHECK(fused->opsOf(OpKind::BatchNormSums).size() == 2);
  CHECK(fused->opsOf(OpKind::Slice).empty());
  CHECK_FALSE(fused->opsOf(OpKind::Subview).empty());
  size_t ofChannels = 0;
  for (const OpId op : fused->ops()) {
    const OpKind kind = (*fused)[op].kind();
    const bool computes =
        kind == OpKind::Fused || classOf(kind) == OpClass::Elementwise || classOf(kind) == OpClass::Reduction;
    ofChannels += computes && fused->typeOf((*fused)[op].firstResult) == f32({32}) ? 1 : 0;
  }
  CHECK(ofChannels == 4); // mean, variance and two updates
}

} // namespace dfc::test
