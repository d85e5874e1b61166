#include "runtime/weights/file_initialiser.h"

#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace dfc {
namespace {

Diagnostic noTensor(const std::string& path, const std::string& name, const NamedLiterals& archive) {
  std::vector<std::string> names;
  for (const auto& entry : archive) {
    names.push_back(entry.first);
  }
  const auto near = nearestName(name, names);
  return errorWithoutPlace(fmt::format("'{}' has no tensor named '{}'", path, name),
                           near ? fmt::format("did you mean '{}'?", *near)
                                : fmt::format("it has: {}", fmt::join(names, ", ")));
}

} // namespace

Result<Literal> FileInitialiser::read(const std::string& file) {
  const size_t hash = file.rfind('#');
  const std::string path = pathOf(file.substr(0, hash));
  if (hash != std::string::npos && path.ends_with(".onnx")) {
    return weightOf(path, file.substr(hash + 1));
  }
  if (hash != std::string::npos) {
    return tensorOf(path, file.substr(hash + 1));
  }
  if (path.ends_with(".safetensors")) {
    return errorWithoutPlace(fmt::format("'{}' holds several tensors", file),
                             fmt::format("say which one: '{}#name'", file));
  }
  return arrayOf(path);
}

std::string FileInitialiser::pathOf(const std::string& file) const {
  return (std::filesystem::path(dataFolder_) / file)
      .lexically_normal()
      .string(); // an absolute file stays as it is
}

// Parts of a parameter, on many devices, start from one file.
Result<Literal> FileInitialiser::arrayOf(const std::string& path) {
  auto found = arrays_.find(path);
  if (found == arrays_.end()) {
    found = arrays_.emplace(path, readNpy(path)).first;
  }
  return found->second;
}

// The model stays mapped, and only the weights that are asked for are read.
Result<Literal> FileInitialiser::weightOf(const std::string& path, const std::string& name) {
  auto found = models_.find(path);
  if (found == models_.end()) {
    found = models_.emplace(path, onnx::WeightFile::open(path)).first;
  }
  return found->second.ok() ? found->second->read(name) : Result<Literal>(found->second.errors());
}

Result<Literal> FileInitialiser::tensorOf(const std::string& path, const std::string& name) {
  auto found = archives_.find(path);
  if (found == archives_.end()) {
    found = archives_.emplace(path, readSafetensors(path)).first;
  }
  const Result<NamedLiterals>& archive = found->second;
  if (!archive.ok()) {
    return archive.errors();
  }
  const auto tensor = archive->find(name);
  return tensor != archive->end() ? Result<Literal>(tensor->second) : noTensor(path, name, *archive);
}

} // namespace dfc
