// MatmulCall: a product of the launch plan with its addresses, as cuBLASLt is called for it.
#pragma once

#include "ir/plan/launch_plan.h"

namespace dfc::cuda {

struct MatmulCall : ProductCall {
  const std::byte* aData = nullptr;
  const std::byte* bData = nullptr;
  const std::byte* biasData = nullptr;   ///< where there is a bias
  const std::byte* addendData = nullptr; ///< where there is an addend; may be `out`
  std::byte* out = nullptr;
};

} // namespace dfc::cuda
