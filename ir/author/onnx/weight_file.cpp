// Initialisers by name, out of a model's file.
#include "ir/author/onnx/import.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

Diagnostic fault(const std::string& path, const std::string& what) {
  return {
      Severity::Error, {path}, what, "the file is damaged, or not the one that the graph was imported from"};
}

} // namespace

WeightFile::WeightFile(OnnxModel model)
    : model_(std::make_shared<OnnxModel>(std::move(model))), external_(model_->path) {
  for (const OnnxTensor& tensor : model_->graph.initializers) {
    tensors_.emplace(tensor.name, &tensor);
  }
}

Result<WeightFile> WeightFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) {
    return file.errors();
  }
  try {
    return WeightFile(parseModel(*file, path));
  } catch (const BadFile& reason) {
    return fault(path, fmt::format("is no ONNX model: {}", reason.what()));
  }
}

Result<Literal> WeightFile::read(const std::string& name) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    const auto near = nearestName(name, names());
    return Diagnostic{Severity::Error,
                      {model_->path},
                      fmt::format("has no initialiser named '{}'", name),
                      near ? fmt::format("did you mean '{}'?", *near) : "import the model again"};
  }
  try {
    return literalOf(*found->second, external_);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& reason) {
    return fault(model_->path, reason.what());
  }
}

std::vector<std::string> WeightFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) {
    names.push_back(name);
  }
  return names;
}

} // namespace dfc::onnx
