#include "tests/tools/bench_rows.h"

#include "tests/support/golden.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace dfc::test {

using Json = nlohmann::json;

std::map<std::string, Json> rowsOf(const std::string& path, const std::string& program) {
  std::map<std::string, Json> rows;
  const Json results = Json::parse(readText(path));
  for (const Json& row : results.back()["rows"]) {
    if (row["program"] == program) {
      rows[row["key"]] = row;
    }
  }
  return rows;
}

std::string baselineScript(const std::string& instead) {
  return "import json, sys\n" + instead +
         "\nkeys = sys.argv[sys.argv.index('--keys') + 1]\nprint('a line that is no answer')\n"
         "for key in keys.split(','):\n"
         "  print(json.dumps({'key': key, 'program': 'slow', 'seconds': 2, 'least': 1.5, 'most': 3, "
         "'samples': "
         "7}))\n"
         "  print(json.dumps({'key': key, 'program': 'fast', 'seconds': 1, 'least': 1, 'most': 1, 'samples': "
         "7}))\n";
}

bool pythonIsHere() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }

} // namespace dfc::test
