// See executable_alignment.h. Vectors of 32-bit numbers, tables and strings need no more than the verifier
// asks.
#include "ir/plan/file/executable_alignment.h"

#include <algorithm>
#include <cstdint>

namespace dfc {
namespace {

template <class T>
bool aligned(const flatbuffers::Vector<T>* elements) {
  return elements == nullptr || elements->size() == 0 ||
         reinterpret_cast<uintptr_t>(elements->Data()) % sizeof(int64_t) == 0;
}

bool attributesAligned(const file::Op& op) {
  return op.attributes() == nullptr ||
         std::all_of(op.attributes()->begin(), op.attributes()->end(),
                     [](const file::Attribute* attribute) { return aligned(attribute->ints()); });
}

bool launchAligned(const file::Launch& launch) {
  const file::Product* product = launch.product();
  return aligned(launch.pointers()) && aligned(launch.reads()) && aligned(launch.writes()) &&
         (product == nullptr || (aligned(product->a()->dims()) && aligned(product->b()->dims()) &&
                                 aligned(product->result()->dims()))) &&
         std::all_of(launch.spare()->begin(), launch.spare()->end(), [](const file::Launch* spare) {
           return spare->spare()->size() == 0 && launchAligned(*spare);
         });
}

} // namespace

bool elementsAligned(const file::Plan& plan) {
  return aligned(plan.slots()) && aligned(plan.arena_bytes()) && aligned(plan.resident_bytes()) &&
         aligned(plan.lower_bound()) && aligned(plan.launches()->workspace_bytes()) &&
         std::all_of(plan.launches()->rows()->begin(), plan.launches()->rows()->end(),
                     [](const file::Launch* launch) { return launchAligned(*launch); }) &&
         std::all_of(plan.ops()->begin(), plan.ops()->end(),
                     [](const file::Op* op) { return attributesAligned(*op); }) &&
         std::all_of(plan.values()->begin(), plan.values()->end(),
                     [](const file::Value* value) { return aligned(value->dims()); });
}

} // namespace dfc
