// From a graph to a session in one call, for programs that plan and run in one process.
#pragma once

#include "compiler/compile.h"
#include "compiler/cost/cost_model.h"
#include "ir/base/visibility.h"
#include "ir/machine/machine.h"
#include "runtime/session.h"

#include <memory>

namespace DFC_PUBLIC dfc {

/// Compiles `graph` for `machine` with the roofline cost model, and opens the plan. The mistakes of both, and
/// the warnings of the plan. Throws MachineError as Session::open does.
Result<std::unique_ptr<Session>> open(const Graph& graph, const Machine& machine,
                                      const CompileOptions& compileOptions = {},
                                      const SessionOptions& sessionOptions = {});

/// The same with another cost model.
Result<std::unique_ptr<Session>> open(const Graph& graph, const Machine& machine, const CostModel& cost,
                                      const CompileOptions& compileOptions = {},
                                      const SessionOptions& sessionOptions = {});

} // namespace dfc
