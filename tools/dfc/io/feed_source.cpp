// Where the data of a feed come from: NumPy files, IDX files, installed data sets.
#include "runtime/data/fashion_mnist.h"
#include "runtime/files/idx.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "tools/dfc/console.h"
#include "tools/dfc/io/feeds.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace dfc::tool {
namespace {

constexpr std::string_view fashion = "fashion-mnist/";

Result<Literal> fromDataSet(const std::string& source) {
  const std::vector<std::string> parts(fashionMnistParts.begin(), fashionMnistParts.end());
  const std::string part = source.substr(fashion.size());
  if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
    return unknownName("part of fashion-mnist", part, parts);
  }
  return readFashionMnistBytes(part);
}

Result<Literal> fromArchive(const std::string& path, const std::string& wanted, bool chosen) {
  const auto arrays = readNpz(path);
  if (!arrays) {
    return arrays.errors();
  }
  if (const auto found = arrays->find(wanted); found != arrays->end()) {
    return found->second;
  }
  if (!chosen && arrays->size() == 1) {
    return arrays->begin()->second;
  }
  std::vector<std::string> names;
  names.reserve(arrays->size());
  for (const auto& [name, array] : *arrays) {
    names.push_back(name);
  }
  Diagnostic error = unknownName("array", wanted, names);
  error.where.file = path;
  return error;
}

} // namespace

std::optional<double> numberOfSource(const std::string& source) {
  double number = 0;
  const char* end = source.data() + source.size();
  const auto [stop, failure] = std::from_chars(source.data(), end, number);
  return failure == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::string fileOfSource(const std::string& source) {
  if (source.starts_with(fashion) || numberOfSource(source)) {
    return "";
  }
  const size_t member = source.find(".npz:");
  return member == std::string::npos ? source : source.substr(0, member + 4);
}

bool holdsByteRows(const std::string& source) {
  return source.starts_with(fashion) ||
         (source.ends_with(".gz") && source.find(".npz:") == std::string::npos);
}

Result<Literal> readFeedSource(const std::string& source, const std::string& input) {
  if (source.starts_with(fashion)) {
    return fromDataSet(source);
  }
  if (const size_t at = source.find(".npz:"); at != std::string::npos) {
    return fromArchive(source.substr(0, at + 4), source.substr(at + 5), /*chosen=*/true);
  }
  if (source.ends_with(".npz")) {
    return fromArchive(source, input, /*chosen=*/false);
  }
  if (source.ends_with(".npy")) {
    return readNpy(source);
  }
  if (source.ends_with(".gz")) {
    return readIdx(source);
  }
  std::error_code ignored;
  return Diagnostic{Severity::Error,
                    {source},
                    std::filesystem::is_directory(source, ignored) ? "is a folder, not a file"
                                                                   : "is no kind of feed that dfc reads",
                    "give FILE.npy, FILE.npz, FILE.npz:MEMBER, an IDX file (.gz), "
                    "fashion-mnist/{train,test}/{images,labels}, or a number for a scalar input"};
}

} // namespace dfc::tool
