#include "tools/dfc/console.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

void write(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

// Names come from files, so they may hold any bytes; what is no UTF-8 is shown as U+FFFD.
std::string dump(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json jsonOf(const Diagnostic& diagnostic) {
  Json row{{"severity", diagnostic.severity == Severity::Error ? "error" : "warning"},
           {"message", diagnostic.message}};
  if (!diagnostic.where.file.empty()) {
    row["file"] = diagnostic.where.file;
  }
  if (diagnostic.where.line != 0) {
    row["line"] = diagnostic.where.line;
    row["column"] = diagnostic.where.column;
  }
  if (!diagnostic.note.empty()) {
    row["note"] = diagnostic.note;
  }
  if (!diagnostic.hint.empty()) {
    row["hint"] = diagnostic.hint;
  }
  return row;
}

Json listOf(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    list.push_back(jsonOf(diagnostic));
  }
  return list;
}

const char* kindOf(Exit status) {
  switch (status) {
  case Exit::Fine: return "none";
  case Exit::UserError: return "user";
  case Exit::MachineFailure: return "machine";
  case Exit::Bug: return "bug";
  case Exit::Interrupted: return "interruption";
  }
  DFC_UNREACHABLE("exit status");
}

/// The text, where `control(out, point)` appends what stands for a control character, by its code point:
/// below U+0020, U+007F, and U+0080 to U+009F, which UTF-8 has in two bytes.
template <class Control>
std::string withControls(std::string_view text, Control control) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      control(out, next);
      ++at;
    } else if (byte < 0x20 || byte == 0x7F) {
      control(out, byte);
    } else {
      out += text[at];
    }
  }
  return out;
}

/// On one line, with control characters as a graph file writes them.
std::string oneLine(std::string_view text) {
  return withControls(text, [](std::string& out, unsigned char point) {
    if (point == '\n' || point == '\t') {
      out += point == '\n' ? "\\n" : "\\t";
    } else {
      fmt::format_to(std::back_inserter(out), "{}\\x{:02x}", point < 0x80 ? "" : "\\xc2", point);
    }
  });
}

/// A diagnostic in print: a line each for place, message and hint.
std::string shownErrors(Diagnostics errors) {
  for (Diagnostic& error : errors) {
    error.where.file = oneLine(error.where.file);
    error.message = oneLine(error.message);
    error.note = oneLine(error.note);
    error.hint = oneLine(error.hint);
  }
  return visible(render(errors));
}

} // namespace

std::string visible(std::string_view text) {
  return withControls(text, [](std::string& out, unsigned char point) {
    if (point == '\n' || point == '\t') {
      out += static_cast<char>(point);
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", point);
    }
  });
}

void Console::writeOut(std::string_view text) {
  errno = 0;
  write(out_, text);
  if ((std::fflush(out_) != 0 || std::ferror(out_) != 0) && outError_ == 0) {
    outError_ = errno;
  }
}

void Console::print(std::string_view text) {
  if (!json_) {
    writeOut(visible(text));
  }
}

void Console::note(const std::string& line) {
  if (json_) {
    notes_.push_back(line);
  } else {
    write(err_, visible(line) + "\n");
  }
}

void Console::warn(const Diagnostics& warnings) {
  if (json_) {
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  } else if (!warnings.empty()) {
    write(err_, shownErrors(warnings));
  }
}

Exit Console::finish(const std::string& object) {
  if (json_) {
    Json whole{{"status", "ok"}, {"exitStatus", static_cast<int>(Exit::Fine)}};
    whole.update(Json::parse(object));
    whole["notes"] = notes_;
    whole["warnings"] = listOf(warnings_);
    writeOut(dump(whole));
  }
  if (outError_ == EPIPE) { // as `head` does, whose user wants no more
    return Exit::MachineFailure;
  }
  if (std::fflush(out_) != 0 || std::ferror(out_) != 0) {
    return fail(Exit::MachineFailure,
                {errorWithoutPlace("standard output could not be written", "is the disk full?")});
  }
  return Exit::Fine;
}

Exit Console::fail(Exit status, const Diagnostics& errors) {
  std::fflush(out_);
  if (json_) {
    Json whole{{"status", "failed"},
               {"exitStatus", static_cast<int>(status)},
               {"fault", kindOf(status)},
               {"errors", listOf(errors)}};
    if (!notes_.empty()) {
      whole["notes"] = notes_;
    }
    write(err_, dump(whole));
  } else {
    write(err_, status == Exit::UserError ? shownErrors(errors) : visible(render(errors)));
  }
  return status;
}

Diagnostic unknownName(const std::string& what, const std::string& word,
                       const std::vector<std::string>& known) {
  const auto nearest = nearestName(word, known);
  const std::string list = fmt::format("{}", fmt::join(known, ", "));
  return errorWithoutPlace(fmt::format("there is no {} '{}'", what, word),
                           nearest ? fmt::format("did you mean '{}'? There are: {}", *nearest, list)
                                   : fmt::format("there are: {}", list));
}

} // namespace dfc::tool
