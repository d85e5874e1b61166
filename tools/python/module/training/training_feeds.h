// What a training is fed, as Python says it.
#pragma once

#include "runtime/training/trainer.h"
#include "tools/python/module/session/open_session.h"

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>

namespace dfc::python {

/// The feeds of each step or batch by its number.
struct NumberedFeeds {
  std::function<NamedLiterals(int64_t)> at = {};
  std::shared_ptr<Batches> data = {}; ///< that they are of; null: of other kinds
  int64_t count = 0;                  ///< after which they begin anew; 0: not known
  std::optional<uint64_t> seed = {};
};

/// Batches, whose columns take the inputs' element types; a function of the number; a list of feeds, which
/// begins anew; one dictionary, fed each time. None: no feeds. Raises TypeError and ValueError for all else:
/// what can be gone through once only, and a dictionary of whole data sets. `argument` is named in them.
NumberedFeeds numberedFeeds(const nanobind::object& feeds, const nanobind::object& session,
                            const char* argument);

} // namespace dfc::python
