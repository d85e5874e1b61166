// DFC_ASSERT: for our own bugs only, never for bad input. It throws InternalError with the place and the
// context, so that a tool can report it as ours and a test can see it; it stays on in release builds.
#pragma once

#include "ir/base/visibility.h"

#include <stdexcept>
#include <string>

namespace DFC_PUBLIC dfc {

/// A broken promise inside dfc itself. `what()` names the condition, the file and line, and the context.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError; called by the macros below.
[[noreturn]] void failAssertion(const char* condition, const char* file, int line,
                                const std::string& context);

} // namespace dfc

/// Throws InternalError, with `context`, where `condition` does not hold.
#define DFC_ASSERT(condition, context)                                                                       \
  ((condition) ? void(0) : ::dfc::failAssertion(#condition, __FILE__, __LINE__, (context)))
/// Throws InternalError: this place is never reached.
#define DFC_UNREACHABLE(context) ::dfc::failAssertion("unreachable", __FILE__, __LINE__, (context))
