// The text of a task file as events of a parser, straight into arrays: files of millions of rows are read
// without a tree of JSON values in between. For tasks_file.cpp only.
#pragma once

#include "compiler/tasks/file/task_machine.h"

#include <llvm/ADT/StringMap.h>

namespace dfc {

inline constexpr uint32_t noIndex = static_cast<uint32_t>(-1);
inline constexpr size_t mostTasksFaults = 50; ///< that are told of a file

/// A complaint about the value at a JSON path, or about its name, or about a member that is missing there.
struct TasksFault {
  enum class About { Value, Key, Missing } about;
  std::string path, message, hint; ///< message: of a missing member, its name
};

struct RawEdge {
  uint32_t from = noIndex, to = noIndex; ///< names
  uint32_t tensor = noIndex;             ///< of the tensor names
  double bytes = 0;
};

/// Task ids are interned: a name is an index, whether a task of that id comes or not.
struct RawTasks {
  std::string name;
  std::vector<uint32_t> rowOfName;     ///< by name: its task's row, or noIndex
  std::vector<std::string> textOfName; ///< by name, as JSON writes it
  std::vector<std::string> tensors;    ///< by tensor name, as JSON writes it
  std::vector<uint32_t> nameOfRow;     ///< by task, in the order of the file
  std::vector<double> seconds;         ///< a row of devices a task; infinite where it may not run
  std::vector<RawEdge> edges;
  std::vector<TasksFault> faults; ///< not all where there are many
  bool readable = false;          ///< false where the text is no JSON
};

RawTasks readRawTasks(std::string_view text, const TaskMachine& machine);

} // namespace dfc
