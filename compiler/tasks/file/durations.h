// Durations: those of one task of a file, given in the order of the devices, or by names of devices and
// classes.
#pragma once

#include "compiler/tasks/file/task_machine.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringMap.h>

namespace dfc {

class Durations {
 public:
  explicit Durations(const TaskMachine& machine);

  void clear(); ///< a task that can run nowhere
  /// Of the device of that number; further ones are dropped.
  void set(size_t device, double seconds);
  /// Of a device, or of all of a class, whatever the order of the calls: a duration by device takes
  /// precedence over one by class. False if there is no such name.
  bool set(const std::string& name, double seconds);
  bool has(const std::string& name) const; ///< whether the task at hand has one by this name
  void finishNames();                      ///< after the last name
  void keepOnly(size_t device);            ///< a pin
  bool runsSomewhere() const;

  llvm::ArrayRef<double> row() const { return row_; } ///< seconds by device, infinite where it cannot run
  const std::vector<std::string>& names() const { return names_; } ///< of devices, then of other classes
  const llvm::StringMap<uint32_t>& devices() const { return deviceOf_; }

 private:
  std::vector<std::string> names_;
  llvm::StringMap<uint32_t> deviceOf_, kindOf_;
  std::vector<uint32_t> kindOfDevice_;
  std::vector<double> row_, byKind_;
  std::vector<std::pair<uint32_t, double>> byDevice_; // of the task at hand
  std::vector<std::string> given_;                    // names, of the task at hand
};

} // namespace dfc
