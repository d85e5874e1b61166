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

} // namespace

bool elementsAligned(const file::Plan& plan) {
  return aligned(plan.slots()) && aligned(plan.arena_bytes()) && aligned(plan.resident_bytes()) &&
         aligned(plan.lower_bound()) &&
         std::all_of(plan.ops()->begin(), plan.ops()->end(),
                     [](const file::Op* op) { return attributesAligned(*op); }) &&
         std::all_of(plan.values()->begin(), plan.values()->end(),
                     [](const file::Value* value) { return aligned(value->dims()); });
}

} // namespace dfc
