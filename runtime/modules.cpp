#include "runtime/modules.h"

#include "runtime/executable_folder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
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

void addFolder(std::vector<files::path>& folders, const files::path& folder) {
  files::path plain = folder.lexically_normal();
  if (!plain.has_filename()) {
    plain = plain.parent_path(); // "lib/" and "lib" are one
  }
  if (std::find(folders.begin(), folders.end(), plain) == folders.end()) {
    folders.push_back(std::move(plain));
  }
}

// Where the loader looks for what this code opens: LD_LIBRARY_PATH, run paths, the system's folders.
void addFoldersOfLoader(std::vector<files::path>& folders) {
  Dl_info own{};
  void* handle = dladdr(reinterpret_cast<void*>(&ownFolder), &own) != 0
                     ? dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                     : nullptr;
  handle = handle != nullptr ? handle : dlopen(nullptr, RTLD_NOW); // a program has its words, not its file
  Dl_serinfo size{};
  if (handle == nullptr || dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) {
    return;
  }
  std::vector<std::max_align_t> storage(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* list = reinterpret_cast<Dl_serinfo*>(storage.data());
  *list = size;
  if (dlinfo(handle, RTLD_DI_SERINFO, list) == 0) {
    for (unsigned i = 0; i < list->dls_cnt; ++i) {
      addFolder(folders, list->dls_serpath[i].dls_name);
    }
  }
  dlclose(handle);
}

std::vector<files::path> foldersOfModules() {
  std::vector<files::path> folders;
  {
    const std::lock_guard lock(preferredMutex);
    if (!preferredFolder.empty()) {
      addFolder(folders, preferredFolder);
    }
  }
  for (const files::path& folder : {ownFolder(), executableFolder()}) {
    if (!folder.empty()) {
      for (const files::path& candidate : {folder, folder / "dfc", folder / "../lib/dfc"}) {
        addFolder(folders, candidate);
      }
    }
  }
  addFoldersOfLoader(folders);
  return folders;
}

// An install keeps its modules in PREFIX/lib/dfc, a build folder beside its programs.
files::path homeOf(const std::vector<files::path>& folders) {
  std::error_code error;
  const auto installed = std::find_if(folders.rbegin(), folders.rend(), [&](const files::path& folder) {
    return folder.filename() == "dfc" && folder.parent_path().filename().string().starts_with("lib") &&
           files::is_directory(folder, error);
  });
  return installed != folders.rend() ? *installed : folders.empty() ? files::path() : folders.front();
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
  const std::vector<files::path> folders = foldersOfModules();
  std::vector<files::path> paths;
  for (const files::path& folder : folders) {
    std::error_code error;
    if (files::exists(folder / file, error)) {
      paths.push_back(folder / file);
    }
  }
  found.present = !paths.empty();
  if (paths.empty()) {
    paths.emplace_back(file); // by the loader's own search: its cache may know more
  }
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
    found.home = homeOf(folders).string();
    found.reasons = fmt::format("\n  there is no {} in {}", file, fmt::join(namesOf(folders), ", "));
  }
  return found;
}

} // namespace dfc
