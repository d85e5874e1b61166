#include "tools/dfc/onnx_source.h"

#include "tools/dfc/all_errors.h"
#include "tools/dfc/planning.h"
#include "tools/library/onnx.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace dfc::tool {

bool isOnnxFile(const std::string& path) { return std::filesystem::path(path).extension() == ".onnx"; }

Result<Graph> readOnnx(const std::string& path, const std::vector<std::string>& dims) {
  OnnxOptions options;
  options.weightFile = std::filesystem::path(path).filename().string();
  Diagnostics errors;
  for (const std::string& text : dims) {
    const auto pair = splitPair(text, "--dim", "NAME=LENGTH, for example batch=8");
    int64_t length = 0;
    if (!pair) {
      add(errors, pair.errors());
      continue;
    }
    const char* end = pair->second.data() + pair->second.size();
    const auto [stop, fault] = std::from_chars(pair->second.data(), end, length);
    if (fault != std::errc() || stop != end || length < 0) {
      errors.push_back(errorWithoutPlace(fmt::format("--dim {}: '{}' is no length", text, pair->second),
                                         "write a whole number that is not below 0: --dim batch=8"));
    } else if (!options.dims.emplace(pair->first, length).second) {
      errors.push_back(errorWithoutPlace(fmt::format("--dim {} binds '{}' again", text, pair->first),
                                         "leave one of them out"));
    }
  }
  return errors.empty() ? importOnnx(path, options) : errors;
}

} // namespace dfc::tool
