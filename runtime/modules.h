// Modules: parts of the runtime that stand on a vendor's library (oneDNN, CUDA) and are opened with dlopen
// when first used, so that a program runs where those libraries are not.
//
// A module is looked for, in this order: in the folder that a session was opened with
// (SessionOptions::moduleFolder); beside the file that holds this library (the program, where it is linked
// statically), in `dfc/` there and in ../lib/dfc from there; likewise from the running program; and where the
// loader looks for any library (a run path, which dfc's CMake package and pkg-config file give to the
// program; LD_LIBRARY_PATH).
#pragma once

#include "runtime/errors.h"

#include <string>

namespace dfc {

/// A module that cannot be opened. Session::open makes it an error of its Result.
class ModuleError : public MachineError {
 public:
  ModuleError(const std::string& message, std::string wayOut)
      : MachineError(message + "\n" + wayOut), message_(message), hint_(std::move(wayOut)) {}
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string message_, hint_;
};

/// Looks in this folder before all others from now on, for modules that are not open yet. Thread-safe.
void preferModulesIn(const std::string& folder);

/// What a search for a module found.
struct FoundModule {
  void* symbol = nullptr; ///< of a module that stays open as long as the process; null when none was found
  bool present = false;   ///< whether there was such a file at all
  std::string reasons;    ///< why none was opened: a line for each file, or the folders without one
  std::string home;       ///< the folder of this install where the file belongs, where it is missing
};

/// Opens `file` ("libdfc_onednn.so") and finds `symbol` in it. Thread-safe.
FoundModule findModule(const char* file, const char* symbol);

} // namespace dfc
