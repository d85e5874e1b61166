// The kinds of ops and their names in graph files, from the rows of ops.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dfc {

enum class OpKind : uint8_t {
#define DFC_OP(Type, text) Type,
#include "ir/graph/ops.def"
#undef DFC_OP
};

inline constexpr std::array opNames = std::to_array<std::string_view>({
#define DFC_OP(Type, text) text,
#include "ir/graph/ops.def"
#undef DFC_OP
});

inline constexpr size_t opKindCount = opNames.size();

inline std::string_view nameOf(OpKind kind) { return opNames[static_cast<size_t>(kind)]; }

} // namespace dfc
