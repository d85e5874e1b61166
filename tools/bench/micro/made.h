// made(): what a case needs before it can begin, or an exception that says why it is not there.
#pragma once

#include "ir/base/diagnostic.h"

#include <stdexcept>

namespace dfc::bench {

template <class T>
T made(Result<T> result) {
  if (!result) {
    throw std::runtime_error(render(result.errors()));
  }
  return *std::move(result);
}

} // namespace dfc::bench
