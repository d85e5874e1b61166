#include "tools/dfc/run/custom_libraries.h"

#include "runtime/custom/custom_library.h"
#include "tools/dfc/all_errors.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace dfc::tool {

void addCustomOption(CLI::App& verb, std::vector<std::string>& libraries) {
  verb.add_option("--custom", libraries,
                  "a shared library with functions that custom ops call (its interface: dfc_custom.h)")
      ->type_name("LIBRARY.so")
      ->allow_extra_args(false);
}

CustomFunctions customFunctionsOf(const std::vector<std::string>& libraries, Diagnostics& errors) {
  CustomFunctions functions;
  for (const std::string& file : libraries) {
    auto more = openCustomLibrary(file);
    add(errors, more.errors());
    for (auto& [name, function] : more ? *more : CustomFunctions()) {
      if (!functions.emplace(name, std::move(function)).second) {
        errors.push_back(errorWithoutPlace(
            fmt::format("--custom {}: an earlier library has a function '{}', too", file, name),
            "leave one of the libraries out, or rename a function"));
      }
    }
  }
  return functions;
}

} // namespace dfc::tool
