// stagesOf: the stage of a pipeline that each op of a step belongs to. Forward ops, those that fetched
// results depend on, are cut in their order into runs of equal seconds, where few bytes cross; a backward op
// belongs to the stage of the forward ops whose values it reads, and an update to that of its parameter. A
// parameter that is read at several places keeps its readers, and what follows them, in one stage.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/graph/graph.h"

namespace dfc {

/// `device`: whose seconds count. Stages 0 to `count` - 1; fewer are used where ops are few.
SideTable<OpId, uint32_t> stagesOf(const Graph& graph, uint32_t count, const Machine& machine,
                                   const CostModel& cost, DeviceId device);

} // namespace dfc
