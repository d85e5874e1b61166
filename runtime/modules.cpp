#include "runtime/modules.h"

#include "runtime/executable_folder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <vector>

namespace dfc {
namespace {

namespace files = std::filesystem;

std::mutex preferredMutex;
std::string preferredFolder; // guarded by preferredMutex

// The folder of the file that this code was linked into: the program, or libdfc.so.
files::path ownFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&ownFolder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  const files::path file = files::canonical(info.dli_fname, error); // a program gives the words of its call
  return error ? files::path() : file.parent_path();
}

std::vector<files::path> foldersOfModules() {
  std::vector<files::path> folders;
  {
    const std::lock_guard lock(preferredMutex);
    if (!preferredFolder.empty()) {
      folders.emplace_back(preferredFolder);
    }
  }
  for (const files::path& folder : {ownFolder(), executableFolder()}) {
    if (folder.empty()) {
      continue;
    }
    for (const files::path& candidate : {folder, folder / "dfc", folder / "../lib/dfc"}) {
      const files::path plain = candidate.lexically_normal();
      if (std::find(folders.begin(), folders.end(), plain) == folders.end()) {
        folders.push_back(plain);
      }
    }
  }
  return folders;
}

std::vector<std::string> namesOf(const std::vector<files::path>& paths) {
  std::vector<std::string> names(paths.size());
  std::transform(paths.begin(), paths.end(), names.begin(),
                 [](const files::path& path) { return path.string(); });
  return names;
}

} // namespace

void preferModulesIn(const std::string& folder) {
  const std::lock_guard lock(preferredMutex);
  preferredFolder = folder;
}

FoundModule findModule(const char* file, const char* symbol) {
  FoundModule found;
  std::vector<files::path> paths;
  for (const files::path& folder : foldersOfModules()) {
    std::error_code error;
    if (files::exists(folder / file, error)) {
      paths.push_back(folder / file);
    }
  }
  found.present = !paths.empty();
  paths.emplace_back(file); // by the loader's own search
  for (const files::path& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    found.present = found.present || library != nullptr;
    found.symbol = library == nullptr ? nullptr : dlsym(library, symbol);
    if (found.symbol != nullptr) {
      return found;
    }
    const char* reason = dlerror();
    found.reasons += fmt::format("\n  {}", reason != nullptr ? reason : path.c_str());
  }
  if (!found.present) {
    found.reasons = fmt::format("\n  no {} in {}", file, fmt::join(namesOf(foldersOfModules()), ", "));
  }
  return found;
}

} // namespace dfc
