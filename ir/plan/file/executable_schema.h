// The generated reader and writer of executable.fbs, with FlatBuffers' own assertions made ours: a plan
// larger than its format can hold is then an InternalError and not an abort. For ir/executable_*.cpp and
// their test.
#pragma once

#include "ir/base/assert.h"

#define FLATBUFFERS_ASSERT(condition) DFC_ASSERT(condition, "FlatBuffers")
#include "ir/plan/file/executable_generated.h"
