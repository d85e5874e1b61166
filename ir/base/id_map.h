// Ids as keys of LLVM's DenseMap and DenseSet. Apart from ids.h, which public headers include.
#pragma once

#include "ir/base/ids.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

template <class Tag>
struct llvm::DenseMapInfo<dfc::Id<Tag>> {
  static dfc::Id<Tag> getEmptyKey() { return dfc::Id<Tag>(); }
  static dfc::Id<Tag> getTombstoneKey() { return dfc::Id<Tag>(std::numeric_limits<uint32_t>::max() - 1); }
  static unsigned getHashValue(dfc::Id<Tag> id) { return id.index() * 37U; }
  static bool isEqual(dfc::Id<Tag> a, dfc::Id<Tag> b) { return a == b; }
};
