// Training steps of model families, written for one device: what the planning of many devices is measured
// with. Each is a builder with sizes that give eight GPUs plenty of work, and small ones for tests.
#pragma once

#include "tools/bench/graphs/families/family_model.h"

#include <llvm/ADT/ArrayRef.h>

#include <string_view>

namespace dfc::bench {

struct ModelFamily {
  std::string_view name; ///< "llama"
  Result<Graph> (*build)(const FamilySizes&);
  FamilySizes full, small;
};

llvm::ArrayRef<ModelFamily> modelFamilies();

} // namespace dfc::bench
