#include "ir/base/assert.h"

namespace dfc {

void failAssertion(const char* condition, const char* file, int line, const std::string& context) {
  throw InternalError("internal error: " + std::string(condition) + " (" + file + ":" + std::to_string(line) +
                      "): " + context + "; this is a bug in dfc, please report it");
}

} // namespace dfc
