#include "ir/graph/rules/dropout_mask.h"

namespace dfc {

DropoutMask::DropoutMask(double rate, ElementType element)
    : threshold(static_cast<uint32_t>(rate * 0x1p32)), factor(1 / (1 - rate)) {
  if (element != ElementType::F64) {
    factor = static_cast<double>(static_cast<float>(factor));
  }
}

PhiloxCounter dropoutWords(uint64_t seed, uint64_t step, uint64_t block) {
  return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                 static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

} // namespace dfc
