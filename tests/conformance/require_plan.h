// What several cases begin with: a graph written by hand, and the compiler's plan for it. Neither may fail; a
// case in which one does fails with all that is wrong.
#pragma once

#include "compiler/compile.h"
#include "ir/author/dsl.h"

#include <memory>

namespace dfc::test {

Graph requireGraph(Builder&& builder);

std::shared_ptr<const Executable> requirePlan(const Graph& graph, const Machine& machine,
                                              const CompileOptions& options = {});

} // namespace dfc::test
