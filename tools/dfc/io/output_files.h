// The files that a command is going to write, looked at before any long work: a folder that is not there, a
// path that is a folder, an ending that means another format, a file that the command itself reads.
#pragma once

#include "ir/base/diagnostic.h"

#include <string>
#include <vector>

namespace dfc::tool {

class OutputFiles {
 public:
  /// A path that the command reads; "" and what is no file are passed over.
  /// `replacedBy`: the option whose output may be this very file, since it is read to the end before.
  void reads(const std::string& path, const std::string& replacedBy = "");
  /// A path that it writes, "" for none. `endings`: those that it may have (".npy"), empty for any; two
  /// outputs with the same path are an error unless `mayShare`, which both must say.
  void writes(const std::string& option, const std::string& path, std::vector<std::string> endings = {},
              bool mayShare = false);
  /// All that is wrong, at most one error a path. Tries to create a file in each folder, and takes it away.
  Diagnostics check() const;

 private:
  struct Output {
    std::string option, path;
    std::vector<std::string> endings;
    bool mayShare = false;
  };
  std::optional<Diagnostic> fault(size_t index) const;
  std::optional<Diagnostic> clash(size_t index) const;
  struct Input {
    std::string path, replacedBy;
  };
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

} // namespace dfc::tool
