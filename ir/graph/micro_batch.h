// Scopes of micro-batches: the ops of a micro-batch are in an outer scope "batch N" around the author's
// scopes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dfc {

/// "batch 3/h.1" for micro-batch 3 and scope "h.1".
std::string microBatchScope(size_t number, std::string_view scope);
/// The number of the micro-batch of a scope; none for a scope of another form.
std::optional<uint32_t> microBatchOf(std::string_view scope);
/// The author's scope: "h.1" for "batch 3/h.1"; a scope of another form as it is.
std::string_view scopeInMicroBatch(std::string_view scope);

} // namespace dfc
