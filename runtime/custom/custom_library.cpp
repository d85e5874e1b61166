// From the C interface to functions: types and addresses are passed on, bytes are not copied.
#include "runtime/custom/custom_library.h"

#include "runtime/custom/dfc_custom.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace dfc {
namespace {

static_assert(static_cast<int>(ElementType::F32) == DFC_F32 &&
              static_cast<int>(ElementType::F64) == DFC_F64 &&
              static_cast<int>(ElementType::F16) == DFC_F16 &&
              static_cast<int>(ElementType::BF16) == DFC_BF16 &&
              static_cast<int>(ElementType::I32) == DFC_I32 &&
              static_cast<int>(ElementType::I64) == DFC_I64 && static_cast<int>(ElementType::U8) == DFC_U8 &&
              static_cast<int>(ElementType::Bool) == DFC_BOOL);

using Tensors = llvm::SmallVector<dfc_tensor, 4>;

dfc_tensor tensorOf(const TensorType& type, void* data) {
  return {data,
          type.shape.dims().data(),
          static_cast<int32_t>(type.shape.rank()),
          static_cast<int32_t>(type.element),
          type.shape.elements(),
          type.bytes()};
}

dfc_call callOf(const char* op, const Tensors& operands, const Tensors& results) {
  return {op, operands.data(), results.data(), static_cast<int32_t>(operands.size()),
          static_cast<int32_t>(results.size())};
}

void runFunction(dfc_run run, const CustomCall& call) {
  Tensors operands, results;
  for (size_t i = 0; i < call.types().operands.size();
       ++i) { // C has no const that is passed through a struct
    operands.push_back(
        tensorOf(call.types().operands[i], const_cast<std::byte*>(call.operandBytes(i).data())));
  }
  for (size_t i = 0; i < call.types().results.size(); ++i) {
    results.push_back(tensorOf(call.types().results[i], call.resultBytes(i).data()));
  }
  const std::string op(call.op());
  const dfc_call given = callOf(op.c_str(), operands, results);
  if (const char* error = run(&given); error != nullptr) {
    throw std::runtime_error(error);
  }
}

std::string checkTypes(dfc_run check, const CustomTypes& types) {
  Tensors operands, results;
  for (const TensorType& type : types.operands) {
    operands.push_back(tensorOf(type, nullptr));
  }
  for (const TensorType& type : types.results) {
    results.push_back(tensorOf(type, nullptr));
  }
  const dfc_call given = callOf("", operands, results);
  const char* error = check(&given);
  return error != nullptr ? error : "";
}

CustomFunction functionOf(const dfc_function& row) {
  CustomFunction function([run = row.run](const CustomCall& call) { runFunction(run, call); });
  if (row.check != nullptr) {
    function.check = [check = row.check](const CustomTypes& types) { return checkTypes(check, types); };
  }
  return function;
}

Diagnostic cannotOpen(const std::string& file, std::string_view why) {
  return errorWithoutPlace(fmt::format("cannot open '{}' as a library of custom functions: {}", file, why),
                           "it is a shared library that exports dfc_custom_library: see <dfc/dfc_custom.h>");
}

Result<CustomFunctions> functionsOf(const std::string& file, const dfc_library* library) {
  if (library == nullptr || library->version != DFC_CUSTOM_VERSION) {
    return cannotOpen(file, library == nullptr
                                ? "dfc_custom_library gives nothing"
                                : fmt::format("it is of version {} of the interface, and this is {}",
                                              library->version, DFC_CUSTOM_VERSION));
  }
  CustomFunctions functions;
  for (uint32_t i = 0; i < library->functionCount; ++i) {
    const dfc_function& row = library->functions[i];
    const bool sound = row.name != nullptr && *row.name != '\0' && row.run != nullptr;
    if (!sound || !functions.emplace(row.name, functionOf(row)).second) {
      return cannotOpen(file, sound ? fmt::format("it has two functions '{}'", row.name)
                                    : fmt::format("its function {} lacks a name or an address", i));
    }
  }
  return functions;
}

/// A path to the file where there is one, so that the loader does not search for it.
std::string pathOf(const std::string& file) {
  std::error_code error;
  const bool here = std::filesystem::is_regular_file(file, error);
  return here ? std::filesystem::absolute(file, error).string() : file;
}

} // namespace

Result<CustomFunctions> openCustomLibrary(const std::string& file) {
  void* handle = file.empty() ? nullptr : dlopen(pathOf(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return cannotOpen(file, file.empty() ? "it has no name" : dlerror());
  }
  auto* const symbol = dlsym(handle, "dfc_custom_library");
  if (symbol == nullptr) {
    dlclose(handle);
    return cannotOpen(file, "it does not export dfc_custom_library");
  }
  return functionsOf(file, reinterpret_cast<decltype(&dfc_custom_library)>(symbol)());
}

} // namespace dfc
