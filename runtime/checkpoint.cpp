// A session's state to and from safetensors.
#include "runtime/checkpoint.h"

#include "runtime/files/safetensors.h"

#include <fmt/format.h>

namespace dfc {
namespace {

Diagnostics missingFrom(const NamedLiterals& state, const NamedLiterals& file, const std::string& path) {
  Diagnostics errors;
  for (const auto& entry : state) {
    if (file.find(entry.first) == file.end()) {
      errors.push_back(
          errorWithoutPlace(fmt::format("'{}' has no value for parameter '{}'", path, entry.first),
                            "use a file that was saved from this graph"));
    }
  }
  return errors;
}

} // namespace

Status saveState(Session& session, const std::string& path) {
  return writeSafetensors(path, session.state());
}

Status loadState(Session& session, const std::string& path) {
  const Result<NamedLiterals> file = readSafetensors(path);
  if (!file.ok()) {
    return file.errors();
  }
  if (Diagnostics missing = missingFrom(session.state(), *file, path); !missing.empty()) {
    return missing;
  }
  Status set = session.setState(*file);
  if (set.ok()) {
    return set;
  }
  Diagnostics errors = set.errors();
  for (Diagnostic& error : errors) {
    error.where.file = path;
  }
  return errors;
}

} // namespace dfc
