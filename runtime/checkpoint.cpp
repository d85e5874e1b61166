// A session's state to and from safetensors.
#include "runtime/checkpoint.h"

#include "runtime/files/safetensors.h"

namespace dfc {

Status saveState(Session& session, const std::string& path) {
  return writeSafetensors(path, session.state());
}

Status loadState(Session& session, const std::string& path) {
  const Result<NamedLiterals> file = readSafetensors(path);
  if (!file.ok()) {
    return file.errors();
  }
  Diagnostics errors = session.checkWholeState(*file);
  if (errors.empty()) {
    return session.setState(*file);
  }
  for (Diagnostic& error : errors) {
    error.where.file = path;
  }
  return errors;
}

} // namespace dfc
