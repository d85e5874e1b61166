#include "compiler/tasks/file/tasks_reader.h"

#include "compiler/tasks/file/durations.h"
#include "ir/base/json/json_fields.h"
#include "ir/base/json/json_text.h"
#include "ir/machine/machine_faults.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace dfc {
namespace {

using Json = nlohmann::json;

enum class In : uint8_t { File, Root, Tasks, Task, Durations, DurationsByName, Edges, Edge, Ignored };
enum class Field : uint8_t { Id, Dur, Pin, Src, Dst, Bytes, Tensor, None };

constexpr std::array fieldNames = {"id", "dur", "pin", "src", "dst", "bytes", "tensor"};

/// A value that is neither an object nor an array.
struct Scalar {
  enum class Type : uint8_t { Null, Boolean, Number, Text } type = Type::Null;
  double number = 0;
  bool whole = false;                ///< a number without a fraction
  const std::string* text = nullptr; ///< of a text; of a whole number, its digits
};
constexpr std::array scalarNames = {"null", "boolean", "number", "string"};

class TasksReader : public nlohmann::json_sax<Json> {
 public:
  explicit TasksReader(const TaskMachine& machine)
      : durations_(machine), deviceCount_(machine.devices.size()) {}

  RawTasks take() { return std::move(raw_); }

  bool null() override { return scalar({}); }
  bool boolean(bool) override { return scalar({.type = Scalar::Type::Boolean}); }
  bool number_integer(Json::number_integer_t value) override { return whole(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return whole(value); }
  bool number_float(Json::number_float_t value, const std::string&) override {
    return scalar({.type = Scalar::Type::Number, .number = value});
  }
  bool string(std::string& text) override { return scalar({.type = Scalar::Type::Text, .text = &text}); }
  bool binary(Json::binary_t&) override { return true; }

  bool key(std::string& name) override {
    key_ = name;
    switch (in()) {
    case In::Root: enterSection(); break;
    case In::Task: enterField({"id", "dur", "pin"}); break;
    case In::Edge: enterField({"src", "dst", "bytes", "tensor", "data"}); break;
    default: break;
    }
    return true;
  }

  bool start_object(size_t) override {
    const In here = in();
    if (here == In::File) {
      stack_.push_back(In::Root);
    } else if (here == In::Tasks || here == In::Edges) {
      beginRow();
      stack_.push_back(here == In::Tasks ? In::Task : In::Edge);
    } else if (here == In::Task && field_ == Field::Dur) {
      stack_.push_back(In::DurationsByName);
    } else {
      enterIgnored("an object");
    }
    return true;
  }

  bool end_object() override {
    const In here = in();
    stack_.pop_back();
    if (here == In::Task) {
      endTask();
    } else if (here == In::Edge) {
      endEdge();
    } else if (here == In::DurationsByName) {
      durations_.finishNames();
    }
    return true;
  }

  bool start_array(size_t) override {
    const In here = in();
    if (here == In::Root && section_ != In::Ignored) {
      stack_.push_back(section_);
    } else if (here == In::Task && field_ == Field::Dur) {
      stack_.push_back(In::Durations);
      given_ = 0;
    } else {
      enterIgnored("an array");
    }
    return true;
  }

  bool end_array() override {
    if (in() == In::Durations && given_ != deviceCount_) {
      fault(fmt::format("tasks[{}].dur", rowIndex_),
            fmt::format("{} durations for {} devices", given_, deviceCount_),
            "write one for each device of the machine, null where the task cannot run");
    }
    stack_.pop_back();
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  void complete() {
    raw_.readable = true;
    for (const In section : {In::Tasks, In::Edges}) {
      if (!seen_[static_cast<size_t>(section)]) {
        fault("", section == In::Tasks ? "tasks" : "edges", "a task file has \"tasks\" and \"edges\"",
              TasksFault::About::Missing);
      }
    }
  }

 private:
  In in() const { return stack_.back(); }

  void fault(std::string path, std::string message, std::string hint = {},
             TasksFault::About about = TasksFault::About::Value) {
    if (raw_.faults.size() < mostTasksFaults) {
      raw_.faults.push_back({about, std::move(path), std::move(message), std::move(hint)});
    }
  }

  std::string path() const {
    switch (in()) {
    case In::File: return "";
    case In::Root: return key_;
    case In::Tasks: return fmt::format("tasks[{}]", rowIndex_ + 1);
    case In::Edges: return fmt::format("edges[{}]", rowIndex_ + 1);
    case In::Task: return fmt::format("tasks[{}].{}", rowIndex_, key_);
    case In::Edge: return fmt::format("edges[{}].{}", rowIndex_, key_);
    case In::Durations: return fmt::format("tasks[{}].dur[{}]", rowIndex_, given_);
    case In::DurationsByName: return fmt::format("tasks[{}].dur.{}", rowIndex_, key_);
    case In::Ignored: break;
    }
    return key_;
  }

  void enterIgnored(const char* what) {
    const bool wanted = in() == In::Ignored || (in() == In::Root && section_ == In::Ignored) ||
                        ((in() == In::Task || in() == In::Edge) && field_ == Field::None);
    if (!wanted) {
      wrongType(what);
      in() == In::Tasks || in() == In::Edges ? static_cast<void>(++rowIndex_) : static_cast<void>(given_++);
    }
    stack_.push_back(In::Ignored);
  }

  void wrongType(const char* what) { fault(path(), fmt::format("{} where {} belongs", what, wantedHere())); }

  const char* wantedHere() const {
    switch (in()) {
    case In::File: return "an object with \"tasks\" and \"edges\"";
    case In::Root: return "an array";
    case In::Tasks:
    case In::Edges: return "an object";
    case In::Task:
    case In::Edge:
      return field_ == Field::Dur      ? "an array or an object of numbers"
             : field_ == Field::Bytes  ? "a number"
             : field_ == Field::Pin    ? "a device's name"
             : field_ == Field::Tensor ? "a text"
                                       : "a text or a whole number";
    default: return "a number or null";
    }
  }

  void enterSection() {
    section_ = key_ == "tasks" ? In::Tasks : key_ == "edges" ? In::Edges : In::Ignored;
    rowIndex_ = noIndex;
    if (section_ != In::Ignored) {
      if (seen_[static_cast<size_t>(section_)]) {
        fault(key_, "is there already", "keep one of the two", TasksFault::About::Key);
      }
      seen_[static_cast<size_t>(section_)] = true;
      return;
    }
    static const std::vector<std::string> known = {"name",  "source",  "model",    "comment",
                                                   "notes", "machine", "expected", "processors",
                                                   "comm",  "tasks",   "edges"};
    if (std::find(known.begin(), known.end(), key_) == known.end()) {
      fault(key_, "no such key", JsonFields::hintFor(key_, known), TasksFault::About::Key);
    }
  }

  void enterField(std::initializer_list<const char*> allowed) {
    field_ = Field::None;
    for (const char* name : allowed) {
      if (key_ == name) {
        const auto* const found = std::find_if(fieldNames.begin(), fieldNames.end(),
                                               [&](std::string_view field) { return field == key_; });
        field_ = found == fieldNames.end() ? Field::Bytes : static_cast<Field>(found - fieldNames.begin());
      }
    }
    if (field_ == Field::None) {
      fault(path(), "no such key", JsonFields::hintFor(key_, {allowed.begin(), allowed.end()}),
            TasksFault::About::Key);
      return;
    }
    if ((fields_ >> static_cast<unsigned>(field_) & 1U) != 0) {
      fault(path(), "is there already", "keep one of the two", TasksFault::About::Key);
    }
    fields_ |= 1U << static_cast<unsigned>(field_);
  }

  void beginRow() {
    ++rowIndex_;
    fields_ = 0;
    edge_ = {};
    pin_ = noIndex;
    taskName_ = noIndex;
    durations_.clear();
  }

  void requireFields(const char* section, std::initializer_list<Field> required) {
    for (const Field field : required) {
      if ((fields_ >> static_cast<unsigned>(field) & 1U) == 0) {
        fault(fmt::format("{}[{}]", section, rowIndex_), fieldNames[static_cast<size_t>(field)], "",
              TasksFault::About::Missing);
      }
    }
  }

  void endTask() {
    requireFields("tasks", {Field::Id, Field::Dur});
    if (pin_ != noIndex) {
      durations_.keepOnly(pin_);
    }
    const bool hasDurations = (fields_ >> static_cast<unsigned>(Field::Dur) & 1U) != 0;
    if (hasDurations && raw_.faults.empty() && !durations_.runsSomewhere()) {
      fault(fmt::format("tasks[{}].{}", rowIndex_, pin_ == noIndex ? "dur" : "pin"),
            "the task can run nowhere",
            "give it a duration on a device of the machine, and pin it to such a device only");
    }
    raw_.seconds.insert(raw_.seconds.end(), durations_.row().begin(), durations_.row().end());
    raw_.nameOfRow.push_back(taskName_);
    if (taskName_ == noIndex) {
      return;
    }
    if (raw_.rowOfName[taskName_] != noIndex) {
      fault(fmt::format("tasks[{}].id", rowIndex_),
            fmt::format("tasks[{}] has this id already", raw_.rowOfName[taskName_]));
    }
    raw_.rowOfName[taskName_] = static_cast<uint32_t>(raw_.nameOfRow.size() - 1);
  }

  void endEdge() {
    requireFields("edges", {Field::Src, Field::Dst, Field::Bytes});
    raw_.edges.push_back(edge_);
  }

  template <class Integer>
  bool whole(Integer value) {
    digits_.clear();
    fmt::format_to(std::back_inserter(digits_), "{}", value);
    return scalar({Scalar::Type::Number, static_cast<double>(value), true, &digits_});
  }

  bool scalar(const Scalar& value) {
    switch (in()) {
    case In::Task: readTaskField(value); break;
    case In::Edge: readEdgeField(value); break;
    case In::Durations: readDuration(value, given_); break;
    case In::DurationsByName: readDurationByName(value); break;
    case In::Root:
      if (key_ == "name" && value.type == Scalar::Type::Text) {
        raw_.name = *value.text;
      } else if (section_ != In::Ignored) {
        wrongType(scalarNames[static_cast<size_t>(value.type)]);
      }
      break;
    case In::Ignored: break;
    default: wrongType(scalarNames[static_cast<size_t>(value.type)]); ++rowIndex_;
    }
    return true;
  }

  void readTaskField(const Scalar& value) {
    if (field_ == Field::Id) {
      taskName_ = nameOf(value);
    } else if (field_ == Field::Pin && value.type == Scalar::Type::Text) {
      const auto device = durations_.devices().find(*value.text);
      if (device != durations_.devices().end()) {
        pin_ = device->second;
      } else {
        fault(path(), fmt::format("no device is called '{}'", *value.text),
              JsonFields::hintFor(*value.text,
                                  {durations_.names().begin(),
                                   durations_.names().begin() + static_cast<ptrdiff_t>(deviceCount_)}));
      }
    } else if (field_ != Field::None && !(field_ == Field::Pin && value.type == Scalar::Type::Null)) {
      wrongType(scalarNames[static_cast<size_t>(value.type)]);
    }
  }

  void readEdgeField(const Scalar& value) {
    if (field_ == Field::Src || field_ == Field::Dst) {
      (field_ == Field::Src ? edge_.from : edge_.to) = nameOf(value);
    } else if (field_ == Field::Bytes) {
      checkNumber(value, "bytes", edge_.bytes);
    } else if (field_ == Field::Tensor && value.type == Scalar::Type::Text) {
      const auto [known, isNew] =
          tensorOf_.try_emplace(*value.text, static_cast<uint32_t>(raw_.tensors.size()));
      if (isNew) {
        raw_.tensors.push_back(jsonQuoted(*value.text));
      }
      edge_.tensor = known->second;
    } else if (field_ != Field::None && !(field_ == Field::Tensor && value.type == Scalar::Type::Null)) {
      wrongType(scalarNames[static_cast<size_t>(value.type)]);
    }
  }

  uint32_t nameOf(const Scalar& value) {
    const bool isText = value.type == Scalar::Type::Text;
    if (!isText && !value.whole) {
      wrongType(scalarNames[static_cast<size_t>(value.type)]);
      return noIndex;
    }
    lookedUp_.assign(1, isText ? '"' : '#'); // 7 and "7" are different ids
    lookedUp_ += *value.text;
    const auto [known, isNew] = names_.try_emplace(lookedUp_, static_cast<uint32_t>(raw_.rowOfName.size()));
    if (isNew) {
      raw_.rowOfName.push_back(noIndex);
      raw_.textOfName.push_back(isText ? jsonQuoted(*value.text) : *value.text);
    }
    return known->second;
  }

  bool checkNumber(const Scalar& value, const char* unit, double& out) {
    if (value.type != Scalar::Type::Number) {
      wrongType(scalarNames[static_cast<size_t>(value.type)]);
      return false;
    }
    if (!(value.number >= 0 && value.number <= mostSeconds)) {
      fault(path(), fmt::format("{} is {}", value.number, value.number < 0 ? "negative" : "larger than 1e30"),
            fmt::format("write 0 or more {}", unit));
      return false;
    }
    out = value.number;
    return true;
  }

  void readDuration(const Scalar& value, size_t device) {
    double seconds = infiniteSeconds;
    if (value.type != Scalar::Type::Null) {
      checkNumber(value, "seconds, or null where the task cannot run", seconds);
    }
    durations_.set(device, seconds);
    ++given_;
  }

  void readDurationByName(const Scalar& value) {
    double seconds = infiniteSeconds;
    if (value.type != Scalar::Type::Null) {
      checkNumber(value, "seconds, or null where the task cannot run", seconds);
    }
    if (durations_.has(key_)) {
      fault(path(), "is there already", "keep one of the two", TasksFault::About::Key);
    } else if (!durations_.set(key_, seconds)) {
      fault(path(), fmt::format("no device or class is called '{}'", key_),
            JsonFields::hintFor(key_, durations_.names()), TasksFault::About::Key);
    }
  }

  RawTasks raw_;
  std::vector<In> stack_{In::File};
  std::array<bool, 16> seen_{};
  In section_ = In::Ignored;
  Field field_ = Field::None;
  std::string key_, digits_, lookedUp_;
  uint32_t rowIndex_ = noIndex, fields_ = 0;
  // The row that is being read.
  RawEdge edge_;
  uint32_t taskName_ = noIndex, pin_ = noIndex;
  size_t given_ = 0; // durations in an array
  Durations durations_;
  size_t deviceCount_;
  llvm::StringMap<uint32_t> names_, tensorOf_;
};

} // namespace

RawTasks readRawTasks(std::string_view text, const TaskMachine& machine) {
  TasksReader reader(machine);
  if (text.find('\0') == std::string_view::npos && Json::sax_parse(text, &reader)) {
    reader.complete();
  }
  return reader.take();
}

} // namespace dfc
