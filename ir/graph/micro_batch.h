// The scope of a micro-batch: ops that compute a part of the batch are in one of their own, around the
// author's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dfc {

/// "batch 3/h.1" of part 3 and scope "h.1".
std::string microBatchScope(size_t part, std::string_view scope);
/// The part of such a scope; none for another.
std::optional<uint32_t> microBatchOf(std::string_view scope);

} // namespace dfc
