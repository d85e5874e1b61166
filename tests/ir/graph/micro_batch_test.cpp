// Scopes of micro-batches.
#include "ir/graph/micro_batch.h"
#include "tests/support/catch.h"

namespace dfc::test {

TEST_CASE("the scope of a micro-batch gives its part, and no other scope does") {
  for (const size_t part : {0, 3, 127}) {
    CHECK(microBatchOf(microBatchScope(part, "")) == part);
    CHECK(microBatchOf(microBatchScope(part, "h.1/attn")) == part);
  }
  CHECK(microBatchScope(3, "h.1") == "batch 3/h.1");
  for (const char* own : {"", "h.1", "h.1/attn", "batch x/h.1"}) {
    INFO(own);
    CHECK(scopeInMicroBatch(microBatchScope(3, own)) == own);
    CHECK(scopeInMicroBatch(own) == own);
  }
  for (const char* other : {"", "batch", "batch ", "batch x", "batch 3x", "batch3", "h/batch 3", "batch -1",
                            "batch 99999999999", "batch 4000000000"}) {
    INFO(other);
    CHECK(!microBatchOf(other).has_value());
  }
}

} // namespace dfc::test
