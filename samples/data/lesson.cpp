#include "samples/data/lesson.h"

#include "compiler/compile.h"
#include "ir/base/atomic_file.h"
#include "runtime/executable_folder.h"

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

std::shared_ptr<const Executable> compileFor(const Graph& graph, const Machine& machine) {
  return std::make_shared<const Executable>(orGiveUp(compile(graph, machine, RooflineCostModel())));
}

std::unique_ptr<Session> open(std::shared_ptr<const Executable> plan, const SessionOptions& options) {
  return orGiveUp(Session::open(std::move(plan), options));
}

void write(const std::string& folder, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(folder);
  const std::string path = (std::filesystem::path(folder) / name).string();
  orGiveUp(writeFileAtomically(path, text));
  std::printf("wrote %s\n", path.c_str());
}

} // namespace dfc::lesson
