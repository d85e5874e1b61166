// See typed_body.h.
#include "tests/support/typed_body.h"

namespace dfc::test {

std::string withType(std::string body, ElementType type) {
  for (size_t at = body.find('T'); at != std::string::npos; at = body.find('T', at)) {
    body.replace(at, 1, name(type));
  }
  return body;
}

} // namespace dfc::test
