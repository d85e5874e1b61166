// The launch plan in a plan file. For ir/executable_*.cpp only.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/file/executable_attributes.h"

namespace dfc {

flatbuffers::Offset<file::Launches>
writeLaunchPlan(const LaunchPlan& plan, flatbuffers::FlatBufferBuilder& builder, FileStrings& strings);

/// Of a verified buffer. The errors, without a place, go to `errors`; ids are checked by `verifyLaunchPlan`.
LaunchPlan readLaunchPlan(const file::Launches& launches, const FileTexts& strings, const Schedule& schedule,
                          Diagnostics& errors);

} // namespace dfc
