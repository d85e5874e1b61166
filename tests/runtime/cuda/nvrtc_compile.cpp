#include "tests/runtime/cuda/nvrtc_compile.h"

#include "compiler/lower/kernels/generated_kernel.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#ifdef DFC_TEST_NVRTC
#include <dlfcn.h>
#include <nvrtc.h>
#endif

namespace dfc::test {

std::string inNamespace(std::string kernel, size_t number) {
  for (size_t at = kernel.find(kernelName); at != std::string::npos; at = kernel.find(kernelName, at + 1)) {
    kernel.insert(at + kernelName.size(), fmt::format("_{}", number));
  }
  return fmt::format("namespace n{} {{\n{}}}\n", number, kernel);
}

#ifdef DFC_TEST_NVRTC
namespace {

// Null where the library is not on this machine.
void* nvrtcLibrary() {
  static void* const library = dlopen(DFC_TEST_NVRTC, RTLD_NOW | RTLD_LOCAL);
  return library;
}

template <class Function>
Function* nvrtcFunction(const char* name, Function* /*its type*/) {
  return reinterpret_cast<Function*>(dlsym(nvrtcLibrary(), name));
}
#define DFC_NVRTC(function) nvrtcFunction(#function, static_cast<decltype(&(function))>(nullptr))

nvrtcProgram newProgram(const std::string& source) {
  nvrtcProgram program = nullptr;
  REQUIRE(DFC_NVRTC(nvrtcCreateProgram)(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) ==
          NVRTC_SUCCESS);
  return program;
}

nvrtcResult compile(nvrtcProgram program, const std::string& architecture = "sm_90", bool resources = false) {
  const std::string target = "--gpu-architecture=" + architecture;
  const std::array options = {target.c_str(), "--fmad=false", "--std=c++17",
                              resources ? "--ptxas-options=-v" : "--std=c++17"};
  return DFC_NVRTC(nvrtcCompileProgram)(program, static_cast<int>(options.size()), options.data());
}

std::string logOf(nvrtcProgram program) {
  size_t size = 0;
  REQUIRE(DFC_NVRTC(nvrtcGetProgramLogSize)(program, &size) == NVRTC_SUCCESS);
  std::string log(size, '\0');
  REQUIRE(DFC_NVRTC(nvrtcGetProgramLog)(program, log.data()) == NVRTC_SUCCESS);
  log.erase(std::remove(log.begin(), log.end(), '\0'), log.end()); // terminators of its parts
  return log;
}

} // namespace

bool compilesHere() { return nvrtcLibrary() != nullptr; }

CompiledKernel compiledKernel(const std::string& source, const std::string& architecture) {
  nvrtcProgram program = newProgram(source);
  const nvrtcResult result = compile(program, architecture, true);
  std::istringstream log(logOf(program));
  CompiledKernel kernel;
  REQUIRE(DFC_NVRTC(nvrtcDestroyProgram)(&program) == NVRTC_SUCCESS);
  constexpr std::string_view spilled = " bytes spill stores";
  bool found = false;
  for (std::string line; std::getline(log, line);) {
    const size_t end = line.find(spilled);
    if (end != std::string::npos) { // "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
      found = true;
      kernel.spilledBytes = std::stoll(line.substr(line.rfind(' ', end - 1) + 1));
    } else if (line.find("ptxas info") == std::string::npos &&
               line.find_first_not_of(" \t") != std::string::npos) {
      kernel.warnings += line + "\n";
    }
  }
  if (result != NVRTC_SUCCESS || !found) {
    kernel.warnings += "not compiled\n";
  }
  return kernel;
}

std::string compileLog(const std::string& source) {
  nvrtcProgram program = newProgram(source);
  const nvrtcResult result = compile(program);
  const std::string log = logOf(program);
  REQUIRE(DFC_NVRTC(nvrtcDestroyProgram)(&program) == NVRTC_SUCCESS);
  return result == NVRTC_SUCCESS ? log : fmt::format("error {}: {}", static_cast<int>(result), log);
}

std::string compiledText(const std::string& source) {
  nvrtcProgram program = newProgram(source);
  REQUIRE(compile(program) == NVRTC_SUCCESS);
  size_t size = 0;
  REQUIRE(DFC_NVRTC(nvrtcGetPTXSize)(program, &size) == NVRTC_SUCCESS);
  std::string text(size, '\0');
  REQUIRE(DFC_NVRTC(nvrtcGetPTX)(program, text.data()) == NVRTC_SUCCESS);
  REQUIRE(DFC_NVRTC(nvrtcDestroyProgram)(&program) == NVRTC_SUCCESS);
  return text;
}
#else
bool compilesHere() { return false; }
std::string compiledText(const std::string& /*source*/) { return ""; }
std::string compileLog(const std::string& /*source*/) { return "no compiler"; }
CompiledKernel compiledKernel(const std::string& /*source*/, const std::string& /*architecture*/) {
  return {"no compiler"};
}
#endif

} // namespace dfc::test
