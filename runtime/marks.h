// Marks: ranges that a profiler shows on the row of the thread that sets them: which op a host queue runs,
// what a launch does. A backend gives them where a profiler is attached (NVTX comes with CUDA's headers, so
// the cuda backend does); everywhere else there are none, and a range is one test of a null pointer.
#pragma once

#include "ir/plan/executable_parts.h"

namespace dfc {

class Marks {
 public:
  virtual ~Marks() = default;
  /// A text known to the profiler, by a handle that stays good; made before the work, as it may take a while.
  using Name = void*;
  virtual Name name(const std::string& text) = 0;
  /// Opens a range on the calling thread, inside those that are open there. `step` is shown beside the name.
  virtual void begin(Name name, uint64_t step) = 0;
  /// Closes the one that the calling thread opened last.
  virtual void end() = 0;
};

/// What an op is called in a profiler: its scope and its name, "fc1 forward: h0".
inline std::string markText(const Graph& graph, OpId op) {
  const std::string_view scope = graph.scopeOf(op);
  return std::string(scope) + (scope.empty() ? "" : ": ") + std::string(graph.nameOf(op));
}

/// A range as long as this object. Nothing where `marks` is null.
class Mark {
 public:
  Mark(Marks* marks, Marks::Name name, uint64_t step) : marks_(marks) {
    if (marks_ != nullptr) {
      marks_->begin(name, step);
    }
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() {
    if (marks_ != nullptr) {
      marks_->end();
    }
  }

 private:
  Marks* marks_;
};

} // namespace dfc
