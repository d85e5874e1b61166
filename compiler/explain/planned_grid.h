// plannedGridSeconds: the predicted step of a plan over a grid, made by the stages of
// compiler/choose_placement, for comparison with the simulated step of compiler/quotient.
#pragma once

#include "compiler/compile.h"
#include "compiler/grids.h"

#include <optional>

namespace dfc {

/// The most devices of a grid that `dfc explain --grid` plans beside the simulation.
constexpr size_t mostDevicesOfPlannedGrid = 16;

/// Predicted seconds of a step among many. `written`: without pins, as for `compile`. `devices`: as many as
/// the grid has. Empty where the graph is not split over the grid, or its plan does not fit into memory.
std::optional<double> plannedGridSeconds(const Graph& written, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const CostModel& cost,
                                         const CompileOptions& options, const Grid& grid,
                                         size_t microBatches);

} // namespace dfc
