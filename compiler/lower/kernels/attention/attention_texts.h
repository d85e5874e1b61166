// The .cuh files of this folder, which CMake embeds (tools/cmake/dfc_embed.cmake).
#pragma once

#include <string_view>

namespace dfc::cuda {

extern const std::string_view tileMemoryText, tensorCoresText, plainProductsText, attentionScoresText,
    attentionForwardText, attentionGradientText, attentionQueryGradientText, attentionKeyGradientText,
    attentionChunksText, attentionSplitKeysText, attentionJoinKeysText;

} // namespace dfc::cuda
