#include "runtime/custom/custom_kernel.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc {
namespace {

class CustomKernel final : public CpuKernel {
 public:
  CustomKernel(const Graph& graph, OpId op, CustomFunction function)
      : graph_(graph), op_(op), function_(std::move(function)) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    callCustom(function_, graph_, op_, operands, results);
  }

 private:
  const Graph& graph_;
  OpId op_;
  CustomFunction function_;
};

} // namespace

std::unique_ptr<CpuKernel> makeCustomKernel(const Graph& graph, OpId op, const CustomFunctions& functions) {
  const auto found = functions.find(graph[op].as<ops::Custom>().function);
  DFC_ASSERT(found != functions.end(), fmt::format("no function for {}", graph.nameOf(op)));
  return std::make_unique<CustomKernel>(graph, op, found->second);
}

} // namespace dfc
