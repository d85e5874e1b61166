// made(): the value of a Result that a case needs, or an exception with its errors.
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
