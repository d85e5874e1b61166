#include "samples/data/lesson.h"

#include "ir/author/text/print.h"
#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "ir/graph/rules/precision.h"
#include "runtime/executable_folder.h"
#include "tools/library/host_machine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace dfc::lesson {
namespace {

bool allHeld = true;

} // namespace

void giveUp(const Diagnostics& errors) {
  std::fputs(render(errors).c_str(), stderr);
  std::exit(1);
}

void check(bool holds, const std::string& what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what.c_str());
  allHeld = allHeld && holds;
}

int verdict() { return allHeld ? 0 : 1; }

std::string shipped(const std::string& path) { return shippedFile("samples/" + path).string(); }

std::string machineFile(const std::string& name) { return shipped("machines/" + name + ".json"); }

void runTool(const std::string& arguments) {
  std::printf("$ dfc %s\n", arguments.c_str());
  std::fflush(stdout);
  const auto tool = executableFolder() / "dfc";
  if (std::system(("'" + tool.string() + "' " + arguments).c_str()) != 0) {
    giveUp({errorWithoutPlace("dfc " + arguments + " failed",
                              "build the target dfc; its own message is above")});
  }
}

Machine machineNamed(const std::string& word) {
  if (word == "host") {
    return estimatedHost();
  }
  for (const std::string& path : {word, machineFile(word)}) {
    if (std::filesystem::exists(path)) {
      return orGiveUp(readMachine(path));
    }
  }
  giveUp({errorWithoutPlace("there is no machine file '" + word + "'",
                            "name one of samples/machines (cpu, cpu-2gpu, …), 'host', or a file; dfc machine "
                            "-o here.json writes one of this host, GPUs and all")});
}

std::shared_ptr<const Executable> compileFor(const Graph& graph, const Machine& machine,
                                             const CompileOptions& options) {
  return std::make_shared<const Executable>(orGiveUp(compile(graph, machine, RooflineCostModel(), options)));
}

std::shared_ptr<const Executable> compileAndPrint(Result<Graph> graph, const Machine& machine,
                                                  const CompileOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto plan = compileFor(orGiveUp(std::move(graph)), machine, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("compiled in %s: %s", humanSeconds(seconds.count()).c_str(), planText(*plan).c_str());
  std::fflush(stdout);
  return plan;
}

void saveGraph(const Graph& graph, const std::string& file) {
  if (!file.empty()) {
    orGiveUp(writeFileAtomically(file, printGraph(graph)));
    std::printf("wrote %s\n", file.c_str());
  }
}

Precision precisionNamed(const std::string& word) {
  const auto found = std::find(precisionNames.begin(), precisionNames.end(), word);
  return static_cast<Precision>(found - precisionNames.begin());
}

std::string planText(const Executable& plan) {
  std::string text = "plan '" + plan.graph().name() + "' for '" + plan.machine().name +
                     "': " + counted(plan.schedule().steps.size(), "step") + " and " +
                     counted(plan.placed().transfers.size(), "transfer") + ", predicted " +
                     humanSeconds(plan.predictedSeconds()) + ", no schedule can be shorter than " +
                     humanSeconds(plan.lowerBoundSeconds()) + "\n";
  for (const DeviceId device : plan.machine().devices.ids()) {
    const DeviceRow& row = plan.machine().devices[device];
    if (const int64_t bytes = plan.memory().arenaBytes[device]; bytes > 0) {
      text += row.name + ": " + humanBytes(bytes) + " of memory" +
              (row.memoryBytes == 0 ? "" : " of " + humanBytes(row.memoryBytes)) + "\n";
    }
  }
  return text;
}

std::unique_ptr<Session> open(std::shared_ptr<const Executable> plan, const SessionOptions& options) {
  return orGiveUp(Session::open(std::move(plan), options));
}

std::unique_ptr<Session> openWith(const NamedLiterals& trained,
                                  const std::shared_ptr<const Executable>& plan) {
  auto session = open(plan);
  NamedLiterals weights;
  for (const Session::Parameter& parameter : session->parameters()) {
    if (!parameter.assigned) {
      weights.emplace(parameter.name, trained.at(parameter.name));
    }
  }
  orGiveUp(session->setState(weights));
  return session;
}

void write(const std::string& folder, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(folder);
  const std::string path = (std::filesystem::path(folder) / name).string();
  orGiveUp(writeFileAtomically(path, text));
  std::printf("wrote %s\n", path.c_str());
}

} // namespace dfc::lesson
