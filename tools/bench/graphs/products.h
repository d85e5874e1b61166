// Many products of one matrix by itself, as the book's `run(x)`. Compile without the pass share_common_ops,
// which would leave one product.
#pragma once

#include "ir/author/builder.h"

namespace dfc::bench {

struct ProductsSpec {
  std::vector<std::string> devices; ///< each with its own matrix
  int64_t size = 4000;              ///< rows and columns, f32
  int count = 50;                   ///< products on each device
  /// Whether the products are fetched; else each is assigned to a parameter of its device.
  bool toHost = false;
};

Result<Graph> products(const ProductsSpec& spec);

/// `count` matrices of `size` x `size` that are on the device already, copied to the host; no computation.
Result<Graph> copiesToHost(const std::string& device, int64_t size, int count);

} // namespace dfc::bench
