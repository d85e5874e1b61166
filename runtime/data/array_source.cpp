// The kind of a file is told by the end of its name.
#include "runtime/data/array_source.h"

#include "ir/base/atomic_file.h"
#include "runtime/data/batches.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/files/csv.h"
#include "runtime/files/idx.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

namespace dfc {
namespace {

constexpr std::string_view fashion = "fashion-mnist/";
constexpr uint64_t largestText = uint64_t(1) << 36;

/// A word's parts: "x.npz" and "MEMBER".
struct Parts {
  std::string file, member;
  bool chosen = false; ///< whether there is a member
  bool is(std::string_view ending) const { return file.ends_with(ending); }
  bool isIdx() const { return is(".gz") || is(".idx") || is("-ubyte"); }
};

Parts partsOf(const std::string& source) {
  for (const std::string ending : {".npz:", ".safetensors:", ".csv:", ".txt:"}) {
    if (const size_t at = source.find(ending); at != std::string::npos) {
      const size_t end = at + ending.size() - 1;
      return {source.substr(0, end), source.substr(end + 1), true};
    }
  }
  return {source, "", false};
}

Diagnostic noSuch(const std::string& file, std::string_view what, const std::string& word,
                  const std::vector<std::string>& known) {
  const auto near = nearestName(word, known);
  return {Severity::Error,
          {file},
          fmt::format("there is no {} '{}'", what, word),
          near ? fmt::format("did you mean '{}'? There are: {}", *near, fmt::join(known, ", "))
               : fmt::format("there are: {}", fmt::join(known, ", "))};
}

Result<Literal> fromDataSet(const std::string& source) {
  const std::vector<std::string> parts(fashionMnistParts.begin(), fashionMnistParts.end());
  const std::string part = source.substr(fashion.size());
  if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
    return noSuch("", "part of fashion-mnist", part, parts);
  }
  return readFashionMnistBytes(part);
}

Result<Literal> memberOf(const Result<NamedLiterals>& arrays, const Parts& parts,
                         const std::string& preferred) {
  if (!arrays) {
    return arrays.errors();
  }
  const std::string& wanted = parts.chosen ? parts.member : preferred;
  if (const auto found = arrays->find(wanted); found != arrays->end()) {
    return found->second;
  }
  if (!parts.chosen && arrays->size() == 1) {
    return arrays->begin()->second;
  }
  std::vector<std::string> names;
  names.reserve(arrays->size());
  for (const auto& [name, array] : *arrays) {
    names.push_back(name);
  }
  return noSuch(parts.file, "array", wanted, names);
}

std::vector<std::string> namesIn(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// Columns side by side.
Literal joinedColumns(const CsvTable& table) {
  const auto width = static_cast<int64_t>(table.columns.size());
  const bool whole = std::all_of(table.columns.begin(), table.columns.end(), [](const CsvColumn& column) {
    return column.values.type().element == ElementType::I64;
  });
  Literal all({whole ? ElementType::I64 : ElementType::F64, {table.rows, width}});
  for (int64_t column = 0; column < width; ++column) {
    const Literal& values = table.columns[static_cast<size_t>(column)].values;
    for (int64_t row = 0; row < table.rows; ++row) {
      if (whole) { // a double would lose digits
        all.mutableData<int64_t>()[static_cast<size_t>(row * width + column)] =
            values.data<int64_t>()[static_cast<size_t>(row)];
      } else {
        all.set(row * width + column, values.at(row));
      }
    }
  }
  return all;
}

Result<Literal> fromCsv(const Parts& parts) {
  CsvOptions options;
  for (const std::string& name : parts.chosen ? namesIn(parts.member) : std::vector<std::string>()) {
    const bool words = name.starts_with('#');
    options.columns.push_back(name.substr(words ? 1 : 0));
    if (words) {
      options.words.push_back(options.columns.back());
    }
  }
  const auto table = readCsv(parts.file, options);
  if (!table) {
    return table.errors();
  }
  return parts.chosen && table->columns.size() == 1 ? table->columns[0].values : joinedColumns(*table);
}

Result<Literal> fromText(const Parts& parts) {
  const auto text = readFile(parts.file, largestText);
  if (!text) {
    return text.errors();
  }
  auto length = static_cast<int64_t>(text->size());
  if (parts.chosen) {
    const char* end = parts.member.data() + parts.member.size();
    const auto [stop, failure] = std::from_chars(parts.member.data(), end, length);
    if (failure != std::errc() || stop != end || length < 1) {
      return Diagnostic{Severity::Error,
                        {parts.file},
                        fmt::format("rows of '{}' bytes", parts.member),
                        "give their length behind the colon: FILE.txt:64"};
    }
  }
  const int64_t rows = length == 0 ? 0 : static_cast<int64_t>(text->size()) / length;
  Literal bytes({ElementType::U8, parts.chosen ? Shape{rows, length} : Shape{length}});
  std::copy_n(text->begin(), bytes.bytes().size(), bytes.mutableBytes().begin());
  return bytes;
}

/// Whether the element type holds the number, up to a float's rounding.
bool holds(ElementType element, double number) {
  Literal one({element, {}});
  one.set(0, number);
  return isFloat(element) ? std::isfinite(one.at(0)) == std::isfinite(number) : one.at(0) == number;
}

} // namespace

std::string fileOfArray(const std::string& source) {
  return source.starts_with(fashion) ? "" : partsOf(source).file;
}

bool holdsByteRows(const std::string& source) {
  const Parts parts = partsOf(source);
  return source.starts_with(fashion) || parts.isIdx() || parts.is(".txt");
}

bool holdsTextNumbers(const std::string& source) { return partsOf(source).is(".csv"); }

Result<Literal> numbersAs(ElementType element, const Literal& numbers, const std::string& source) {
  if (element == numbers.type().element) {
    return numbers;
  }
  Literal result({element, numbers.type().shape});
  for (int64_t i = 0; i < numbers.type().shape.elements(); ++i) {
    const double number = numbers.at(i);
    if (!holds(element, number)) {
      return Diagnostic{Severity::Error,
                        {source},
                        fmt::format("element {} is {}, which {} cannot hold", i, number, name(element)),
                        "choose other columns, or an input of another element type"};
    }
    result.set(i, number);
  }
  return result;
}

Result<Literal> readArray(const std::string& source, const std::string& preferred) {
  const Parts parts = partsOf(source);
  if (source.starts_with(fashion)) {
    return fromDataSet(source);
  }
  if (parts.is(".npz")) {
    return memberOf(readNpz(parts.file), parts, preferred);
  }
  if (parts.is(".safetensors")) {
    return memberOf(readSafetensors(parts.file), parts, preferred);
  }
  if (parts.is(".npy")) {
    return readNpy(source);
  }
  if (parts.is(".csv")) {
    return fromCsv(parts);
  }
  if (parts.is(".txt")) {
    return fromText(parts);
  }
  if (parts.isIdx()) {
    return readIdx(source);
  }
  std::error_code ignored;
  return Diagnostic{
      Severity::Error,
      {source},
      std::filesystem::is_directory(source, ignored) ? "is a folder, not a file"
                                                     : "is no kind of feed that dfc reads",
      "give FILE.npy, FILE.npz, FILE.npz:MEMBER, FILE.safetensors:NAME, FILE.csv, FILE.csv:COLUMN,…, "
      "FILE.txt:LENGTH, an IDX file (.gz), fashion-mnist/{train,test}/{images,labels}, or a number "
      "for a scalar input"};
}

} // namespace dfc
