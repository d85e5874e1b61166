// Whether the 8-byte elements of a plan's vectors lie where they may be read. FlatBuffers' verifier asks only
// for the alignment of a vector's size (4 bytes); a damaged file may put 8-byte elements at an odd multiple
// of four.
#pragma once

#include "ir/plan/file/executable_schema.h"

namespace dfc {

/// Assumes a plan that FlatBuffers' verifier accepted, in a buffer that is itself aligned to 8 bytes.
bool elementsAligned(const file::Plan& plan);

} // namespace dfc
