// A session's state to and from safetensors.
#include "runtime/checkpoint.h"

#include "runtime/files/safetensors.h"

namespace dfc {

Status saveState(Session& session, const std::string& path) {
  return writeSafetensors(path, session.state());
}

Status loadState(Session& session, const std::string& path) {
  const Result<NamedLiterals> values = readSafetensors(path);
  return values ? setWholeState(session, *values, path) : values.errors();
}

Status setWholeState(Session& session, const NamedLiterals& values, const std::string& file) {
  Diagnostics errors = session.checkWholeState(values);
  if (errors.empty()) {
    errors = session.setState(values).errors();
  }
  for (Diagnostic& error : errors) {
    error.where.file = file;
  }
  return errors.empty() ? success() : Status(std::move(errors));
}

} // namespace dfc
