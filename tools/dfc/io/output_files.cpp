#include "tools/dfc/io/output_files.h"

#include "ir/base/atomic_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace dfc::tool {
namespace {

namespace files = std::filesystem;

Diagnostic bad(const std::string& path, std::string message, std::string hint) {
  return {Severity::Error, {path}, std::move(message), std::move(hint)};
}

/// Whether both name one file, there or yet to be written.
bool sameFile(const std::string& a, const std::string& b) {
  std::error_code none;
  const bool there = files::equivalent(a, b, none);
  if (!none) {
    return there;
  }
  std::error_code failed;
  const files::path first = files::weakly_canonical(files::absolute(fileBehindLinks(a)), failed),
                    second = files::weakly_canonical(files::absolute(fileBehindLinks(b)), failed);
  return failed ? a == b : first == second;
}

/// A device or a pipe is written straight, again and again: /dev/null, /dev/stdout.
bool isSpecial(const std::string& path) {
  std::error_code ignored;
  const auto kind = files::status(path, ignored).type();
  return kind == files::file_type::character || kind == files::file_type::fifo ||
         kind == files::file_type::socket || kind == files::file_type::block;
}

std::optional<Diagnostic> placeFault(const std::string& path) {
  std::error_code ignored;
  if (files::is_directory(path, ignored) || path.ends_with('/')) {
    return bad(path, "is a folder, not a file to write", "name a file in it");
  }
  const files::path folder = files::path(path).parent_path();
  if (!folder.empty() && !files::is_directory(folder, ignored)) {
    return files::exists(folder, ignored)
               ? bad(path, fmt::format("'{}' is no folder", folder.string()), "name another place")
               : bad(path, "its folder does not exist", "make the folder first");
  }
  // Permissions alone would not tell: a file system may be read-only or make no files at all.
  if (const int code = tryWriting(path); code != 0) {
    return bad(path, fmt::format("cannot be written: {}", std::generic_category().message(code)),
               "check the folder, its permissions and the space left");
  }
  return std::nullopt;
}

std::optional<Diagnostic> endingFault(const std::string& path, const std::vector<std::string>& endings) {
  const bool fits = endings.empty() || std::any_of(endings.begin(), endings.end(), [&](const auto& ending) {
                      return path.ends_with(ending);
                    });
  if (fits) {
    return std::nullopt;
  }
  if (endings.size() == 1) {
    return bad(path, fmt::format("is no {} file, and no other kind is written here", endings[0]),
               fmt::format("name it {}", files::path(path).replace_extension(endings[0]).string()));
  }
  return bad(path, fmt::format("is neither {}", fmt::join(endings, " nor ")),
             "end the name with one of them");
}

} // namespace

void OutputFiles::reads(const std::string& path, const std::string& replacedBy) {
  std::error_code ignored;
  if (files::is_regular_file(path, ignored)) {
    inputs_.push_back({path, replacedBy});
  }
}

void OutputFiles::writes(const std::string& option, const std::string& path, std::vector<std::string> endings,
                         bool mayShare) {
  if (!path.empty()) {
    outputs_.push_back({option, path, std::move(endings), mayShare});
  }
}

Diagnostics OutputFiles::check() const {
  Diagnostics errors;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (auto found = fault(i)) {
      errors.push_back(*std::move(found));
    }
  }
  return errors;
}

std::optional<Diagnostic> OutputFiles::fault(size_t index) const {
  const Output& output = outputs_[index];
  if (isSpecial(output.path)) { // which has no ending; where only one is right, none is needed
    return output.endings.size() > 1 ? endingFault(output.path, output.endings) : std::nullopt;
  }
  if (auto place = placeFault(output.path)) {
    return place;
  }
  auto other = clash(index);
  return other ? other : endingFault(output.path, output.endings);
}

std::optional<Diagnostic> OutputFiles::clash(size_t index) const {
  const Output& output = outputs_[index];
  for (const Input& input : inputs_) {
    if (input.replacedBy != output.option && sameFile(output.path, input.path)) {
      return bad(output.path, fmt::format("{} would overwrite a file that this command reads", output.option),
                 "write to another file");
    }
  }
  for (size_t i = 0; i < index; ++i) {
    const Output& other = outputs_[i];
    if (!(output.mayShare && other.mayShare) && sameFile(output.path, other.path)) {
      return bad(output.path, fmt::format("{} and {} would write the same file", other.option, output.option),
                 "give each a file of its own");
    }
  }
  return std::nullopt;
}

} // namespace dfc::tool
