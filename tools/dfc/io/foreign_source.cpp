#include "tools/dfc/io/foreign_source.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace dfc::tool {
namespace {

struct ForeignKind {
  std::string_view ending, message, hint;
};

constexpr std::string_view holdsData = "holds data, no graph";
constexpr std::string_view feedIt =
    "name a graph file (.dfg) or an ONNX model; data goes to its inputs: --feed NAME=FILE";
constexpr std::string_view ofTorch = "is a file of PyTorch, no graph that dfc reads";
constexpr std::string_view exportIt = "export the model by torch.onnx.export, or its weights by "
                                      "safetensors.torch.save_file for --state";
constexpr std::string_view ofTensorFlow = "is a model of TensorFlow, none that dfc reads";
constexpr std::string_view convertIt = "turn it into an ONNX model, by tf2onnx";

constexpr ForeignKind kinds[] = {
    {".npy", holdsData, feedIt},
    {".npz", holdsData, feedIt},
    {".csv", holdsData, feedIt},
    {".gz", holdsData, feedIt},
    {".safetensors", "holds weights, no graph",
     "name the graph file (.dfg) or ONNX model that they belong to; weights go to its parameters: --state "
     "FILE"},
    {".json", "is JSON, no graph",
     "name a graph file (.dfg) or an ONNX model; machines go to -m, calibrations to --calibration, tasks to "
     "dfc "
     "schedule"},
    {".pt", ofTorch, exportIt},
    {".pth", ofTorch, exportIt},
    {".h5", ofTensorFlow, convertIt},
    {".keras", ofTensorFlow, convertIt},
    {".pb", ofTensorFlow, convertIt},
    {".tflite", ofTensorFlow, convertIt},
    {".py", "is a program of Python, no graph",
     "run it by python, with the package dfc (tools/python), or write a graph file"},
};

} // namespace

std::optional<Diagnostic> foreignSource(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto* found = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const ForeignKind& kind) { return kind.ending == ending; });
  std::error_code ignored;
  if (found == std::end(kinds) || !std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  return Diagnostic{Severity::Error, {path}, std::string(found->message), std::string(found->hint)};
}

} // namespace dfc::tool
