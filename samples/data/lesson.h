// Shared by the lessons: end with rendered errors, check results, compile for a machine file and open a
// session.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/executable_parts.h"
#include "runtime/session.h"

#include <memory>
#include <string>

namespace dfc::lesson {

/// Prints the errors and ends the program with status 1.
[[noreturn]] void giveUp(const Diagnostics& errors);

template <class T>
T orGiveUp(Result<T> result) {
  if (!result) {
    giveUp(result.errors());
  }
  return *std::move(result);
}

/// Prints "ok: what", or "FAILED: what" and remembers it for `verdict`.
void check(bool holds, const std::string& what);
/// The exit status of the lesson: 0 when every check held, else 1.
int verdict();

/// The path of a file of samples/.
std::string shipped(const std::string& path);
/// Runs the `dfc` beside this program with these arguments, shown first; ends the program where it fails.
void runTool(const std::string& arguments);

/// The path of samples/machines/<name>.json.
std::string machineFile(const std::string& name);

/// What the help of `machineNamed` shows as the kind of its word.
inline constexpr const char* machineWords = "FILE|NAME|host";
/// The machine file of this path, else the shipped one of this name; "host" is this computer as one cpu, with
/// estimated rates. Ends the program where there is none.
Machine machineNamed(const std::string& word);

/// Compiles for a machine with the roofline cost model.
std::shared_ptr<const Executable> compileFor(const Graph& graph, const Machine& machine,
                                             const CompileOptions& options = {});
/// The same of a graph that may have mistakes; prints the time that it took, and `planText`.
std::shared_ptr<const Executable> compileAndPrint(Result<Graph> graph, const Machine& machine,
                                                  const CompileOptions& options = {});
/// Writes the graph as a .dfg file and says so; nothing where `file` is empty.
void saveGraph(const Graph& graph, const std::string& file);
/// A word of the option --precision: "ieee", "tf32", "bf16" or "f16".
Precision precisionNamed(const std::string& word);
/// The plan's size, predicted time and memory: two lines or more, each ended.
std::string planText(const Executable& plan);
std::unique_ptr<Session> open(std::shared_ptr<const Executable> plan, const SessionOptions& options = {});
/// A session with the weights of `trained`: those parameters that the plan's steps do not assign. The others
/// keep what they start with.
std::unique_ptr<Session> openWith(const NamedLiterals& trained,
                                  const std::shared_ptr<const Executable>& plan);

/// Creates `folder` and writes `text` into `folder/name`.
void write(const std::string& folder, const std::string& name, const std::string& text);

} // namespace dfc::lesson
