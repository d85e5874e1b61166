// A session's state to and from safetensors.
#include "runtime/checkpoint.h"

#include "runtime/files/safetensors.h"

#include <fmt/format.h>

namespace dfc {
namespace {

Diagnostics missingFrom(const NamedLiterals& file, const NamedLiterals& state) {
  Diagnostics errors;
  for (const auto& entry : state) {
    if (file.find(entry.first) == file.end()) {
      errors.push_back(errorWithoutPlace(fmt::format("there is no value for parameter '{}'", entry.first),
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
  Diagnostics errors = missingFrom(*file, session.state());
  const Diagnostics unfit = session.checkState(*file);
  errors.insert(errors.end(), unfit.begin(), unfit.end());
  if (errors.empty()) {
    return session.setState(*file);
  }
  for (Diagnostic& error : errors) {
    error.where.file = path;
  }
  return errors;
}

} // namespace dfc
