#include "tools/bench/experiments/traced.h"

#include "ir/base/atomic_file.h"

#include <filesystem>

namespace dfc::bench {

Trace tracedSteps(const Prepared& act, int steps) {
  for (int i = 0; i < 2; ++i) {
    act.step();
  }
  act.session->waitAll();
  act.session->takeTrace();
  for (int i = 0; i < steps; ++i) {
    act.step();
  }
  act.session->waitAll();
  return act.session->takeTrace();
}

Status keepTrace(const Stage& stage, const std::string& name, const Prepared& act, const Trace& measured,
                 Row& row) {
  if (stage.traces().empty()) {
    return success();
  }
  std::error_code ignored; // writing says what is wrong with the folder
  std::filesystem::create_directories(stage.traces(), ignored);
  const std::string path = (std::filesystem::path(stage.traces()) / (name + ".trace.json")).string();
  const Trace predicted = predictedTrace(*act.plan);
  row.notes.push_back("wrote " + path);
  return writeFileAtomically(path, chromeTrace({&predicted, &measured}, *act.plan));
}

} // namespace dfc::bench
