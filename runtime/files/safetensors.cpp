#include "runtime/files/safetensors.h"

#include "ir/base/atomic_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace dfc {
namespace {

constexpr uint64_t largestSafetensors = uint64_t(1)
                                        << 40; // far above any memory; a pipe without end stops here

using Json = nlohmann::json;

constexpr size_t lengthBytes = 8;
constexpr size_t longestHeader = 100'000'000; // the format's own limit
constexpr std::string_view metadataKey = "__metadata__";

struct Code {
  ElementType element;
  std::string_view name;
};
constexpr Code codes[] = {
    {ElementType::F32, "F32"},   {ElementType::F64, "F64"},   {ElementType::F16, "F16"},
    {ElementType::BF16, "BF16"}, {ElementType::I32, "I32"},   {ElementType::I64, "I64"},
    {ElementType::U8, "U8"},     {ElementType::Bool, "BOOL"},
};

std::string_view codeOf(ElementType element) {
  const auto* row = std::find_if(std::begin(codes), std::end(codes),
                                 [&](const Code& code) { return code.element == element; });
  DFC_ASSERT(row != std::end(codes), "an element type without a safetensors code");
  return row->name;
}

struct Entry {
  std::string name;
  TensorType type;
  uint64_t begin = 0, end = 0;
};

/// Collects what is wrong with one file.
class Complaints {
 public:
  explicit Complaints(const std::string& fileName) : fileName_(fileName) {}
  void add(std::string message, std::string hint = "the file is damaged: copy or save it again") {
    errors_.push_back({Severity::Error, {fileName_}, std::move(message), std::move(hint)});
  }
  void addFor(const std::string& tensor, const std::string& message) {
    add(fmt::format("tensor '{}': {}", tensor, message));
  }
  void addFor(const std::string& tensor, const std::string& message, std::string hint) {
    add(fmt::format("tensor '{}': {}", tensor, message), std::move(hint));
  }
  const Diagnostics& errors() const { return errors_; }

 private:
  std::string fileName_;
  Diagnostics errors_;
};

/// Tensors whose ranges end behind the data. One may have a wrong range; of several the file is cut short,
/// which is told once.
class Outside {
 public:
  void add(const Entry& entry) {
    first_ = count_++ == 0 ? entry : first_;
    end_ = std::max(end_, entry.end);
  }
  void tell(size_t tensors, uint64_t dataBytes, Complaints& complaints) const {
    if (count_ == 1) {
      complaints.addFor(first_.name, fmt::format("its bytes [{}, {}) are not inside the {} bytes of data",
                                                 first_.begin, first_.end, dataBytes));
    } else if (count_ > 1) {
      complaints.add(fmt::format("is cut short: {} of its {} tensors end behind its {} bytes of data, which "
                                 "were {} at least",
                                 count_, tensors, dataBytes, end_));
    }
  }

 private:
  Entry first_;
  size_t count_ = 0;
  uint64_t end_ = 0;
};

uint64_t headerLength(std::span<const std::byte> bytes) {
  uint64_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i) {
    length |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  }
  return length;
}

/// The header as JSON; keys that come twice are complained of, which the JSON reader itself would not do.
Json parseHeader(std::string_view text, Complaints& complaints) {
  std::set<std::string> seen;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) {
      const auto name = parsed.get<std::string>();
      if (!seen.insert(name).second) {
        complaints.addFor(name, "is in the header twice");
      }
    }
    return true;
  };
  // The reader takes a zero byte for the end of the text, wherever it stands.
  const bool whole = text.find('\0') == std::string_view::npos;
  Json header = whole ? Json::parse(text, watch, /*allow_exceptions=*/false) : Json();
  if (!header.is_object()) {
    complaints.add("the header is not a JSON object");
  }
  return header;
}

bool isUnsigned(const Json& value) { return value.is_number_unsigned(); }

bool readShape(const Json& row, Entry& entry, Complaints& complaints) {
  const auto shape = row.find("shape");
  if (shape == row.end() || !shape->is_array() || !std::all_of(shape->begin(), shape->end(), isUnsigned)) {
    complaints.addFor(entry.name, "'shape' is not a list of sizes");
    return false;
  }
  if (shape->size() > Shape::maxRank) {
    complaints.addFor(entry.name,
                      fmt::format("has {} dimensions, more than {}", shape->size(), Shape::maxRank),
                      "reshape it before saving");
    return false;
  }
  Dims dims;
  bool fits = true;
  for (const Json& dim : *shape) {
    fits = fits && dim.get<uint64_t>() <= uint64_t(INT64_MAX);
    dims.push_back(static_cast<int64_t>(dim.get<uint64_t>() & uint64_t(INT64_MAX)));
  }
  if (!fits || !Shape::valid(dims)) {
    complaints.addFor(entry.name, fmt::format("shape {} has too many elements", shape->dump()));
    return false;
  }
  entry.type.shape = Shape(dims);
  return true;
}

bool readElement(const Json& row, Entry& entry, Complaints& complaints) {
  const auto dtype = row.find("dtype");
  if (dtype == row.end() || !dtype->is_string()) {
    complaints.addFor(entry.name, "'dtype' is not a string");
    return false;
  }
  const auto& wanted = dtype->get_ref<const std::string&>();
  for (const Code& code : codes) {
    if (code.name == wanted) {
      entry.type.element = code.element;
      return true;
    }
  }
  complaints.add(fmt::format("tensor '{}': element type {} is not one of F32 F64 F16 BF16 I32 I64 U8 BOOL",
                             entry.name, wanted),
                 "convert the tensor before saving it");
  return false;
}

bool readRange(const Json& row, Entry& entry, uint64_t dataBytes, Outside& outside, Complaints& complaints) {
  const auto range = row.find("data_offsets");
  if (range == row.end() || !range->is_array() || range->size() != 2 ||
      !std::all_of(range->begin(), range->end(), isUnsigned)) {
    complaints.addFor(entry.name, "'data_offsets' is not a pair of offsets");
    return false;
  }
  entry.begin = (*range)[0].get<uint64_t>();
  entry.end = (*range)[1].get<uint64_t>();
  if (entry.begin > entry.end || entry.end > dataBytes) {
    outside.add(entry);
    return false;
  }
  return true;
}

void readEntry(const std::string& name, const Json& row, uint64_t dataBytes, std::vector<Entry>& entries,
               Outside& outside, Complaints& complaints) {
  if (!row.is_object()) {
    return complaints.addFor(name, "its entry is not a JSON object");
  }
  Entry entry{name, {}};
  const bool element = readElement(row, entry, complaints);
  const bool shape = readShape(row, entry, complaints);
  const bool range = readRange(row, entry, dataBytes, outside, complaints);
  if (!element || !shape || !range) {
    return;
  }
  if (entry.end - entry.begin != static_cast<uint64_t>(entry.type.bytes())) {
    return complaints.addFor(name,
                             fmt::format("{} needs {} bytes, but its range has {}", toString(entry.type),
                                         entry.type.bytes(), entry.end - entry.begin));
  }
  entries.push_back(std::move(entry));
}

/// The ranges must follow one another from 0 to the end.
void checkCover(std::vector<Entry> entries, uint64_t dataBytes, Complaints& complaints) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < covered) {
      complaints.addFor(entry.name, fmt::format("its bytes [{}, {}) overlap those of another tensor",
                                                entry.begin, entry.end));
    } else if (entry.begin > covered) {
      complaints.addFor(entry.name,
                        fmt::format("no tensor owns the bytes [{}, {}) before it", covered, entry.begin));
    }
    covered = std::max(covered, entry.end);
  }
  if (covered != dataBytes) {
    complaints.add(fmt::format("no tensor owns the last {} bytes of data", dataBytes - covered));
  }
}

void copyTensor(const Entry& entry, std::span<const std::byte> data, NamedLiterals& tensors,
                Complaints& complaints) {
  const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
  if (entry.type.element == ElementType::Bool &&
      std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; })) {
    return complaints.addFor(entry.name, "a BOOL byte is neither 0 nor 1");
  }
  Literal literal(entry.type);
  std::copy(bytes.begin(), bytes.end(), literal.mutableBytes().begin());
  tensors.emplace(entry.name, std::move(literal));
}

SafetensorsTexts textsOf(const Json& metadata) {
  SafetensorsTexts texts;
  if (metadata.is_object()) {
    for (const auto& [key, text] : metadata.items()) {
      if (text.is_string()) {
        texts.emplace(key, text.get<std::string>());
      }
    }
  }
  return texts;
}

std::vector<Entry> readHeader(std::string_view text, uint64_t dataBytes, SafetensorsTexts& texts,
                              Complaints& complaints) {
  const Json header = parseHeader(text, complaints);
  std::vector<Entry> entries;
  if (!header.is_object()) {
    return entries;
  }
  Outside outside;
  for (const auto& [name, row] : header.items()) {
    if (name == metadataKey) {
      texts = textsOf(row);
    } else {
      readEntry(name, row, dataBytes, entries, outside, complaints);
    }
  }
  outside.tell(header.size() - header.count(metadataKey), dataBytes, complaints);
  if (complaints.errors().empty()) {
    checkCover(entries, dataBytes, complaints);
  }
  return entries;
}

/// Wide elements first, so that every tensor begins at a multiple of its element's width; then by name.
std::vector<const NamedLiterals::value_type*> inFileOrder(const NamedLiterals& tensors) {
  std::vector<const NamedLiterals::value_type*> order;
  for (const auto& row : tensors) {
    order.push_back(&row);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return byteWidth(a->second.type().element) > byteWidth(b->second.type().element);
  });
  return order;
}

std::string printHeader(const std::vector<const NamedLiterals::value_type*>& order,
                        const SafetensorsTexts& texts) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!texts.empty()) {
    header[std::string(metadataKey)] = texts;
  }
  uint64_t offset = 0;
  for (const auto* row : order) {
    const TensorType& type = row->second.type();
    const uint64_t end = offset + static_cast<uint64_t>(type.bytes());
    header[row->first] = {{"dtype", codeOf(type.element)},
                          {"shape", std::vector<int64_t>(type.shape.dims().begin(), type.shape.dims().end())},
                          {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((lengthBytes - text.size() % lengthBytes) % lengthBytes, ' ');
  return text;
}

/// What the file is by its first bytes, where that is another format of arrays; else "".
std::string_view otherFormat(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), lengthBytes);
  return head.starts_with("\x93NUMPY")    ? "a .npy file"
         : head.starts_with("PK\x03\x04") ? "a .npz or zip file"
                                          : "";
}

Result<SafetensorsFile> parseFile(std::span<const std::byte> bytes, const std::string& fileName) {
  Complaints complaints(fileName);
  if (bytes.size() < lengthBytes) {
    complaints.add(fmt::format("is not a .safetensors file: it has only {} bytes", bytes.size()));
    return complaints.errors();
  }
  if (const std::string_view other = otherFormat(bytes); !other.empty()) {
    complaints.add(fmt::format("is not a .safetensors file but {}", other),
                   "give a .safetensors file, such as --save-state writes");
    return complaints.errors();
  }
  const uint64_t length = headerLength(bytes);
  if (length > longestHeader || length > bytes.size() - lengthBytes) {
    complaints.add(
        fmt::format("is not a whole .safetensors file: its header would have {} bytes, the file has {}",
                    length, bytes.size()));
    return complaints.errors();
  }
  const auto data = bytes.subspan(lengthBytes + length);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + lengthBytes, length);
  SafetensorsFile file;
  const auto entries = readHeader(text, data.size(), file.texts, complaints);
  if (complaints.errors().empty()) {
    for (const Entry& entry : entries) {
      copyTensor(entry, data, file.tensors, complaints);
    }
  }
  if (!complaints.errors().empty()) {
    return complaints.errors();
  }
  return file;
}

} // namespace

Result<NamedLiterals> parseSafetensors(std::span<const std::byte> bytes, const std::string& fileName) {
  auto file = parseFile(bytes, fileName);
  return file ? Result<NamedLiterals>(std::move(file->tensors)) : file.errors();
}

Result<NamedLiterals> readSafetensors(const std::string& path) {
  auto file = readSafetensorsFile(path);
  return file ? Result<NamedLiterals>(std::move(file->tensors)) : file.errors();
}

Result<SafetensorsFile> readSafetensorsFile(const std::string& path) {
  const auto bytes = readFile(path, largestSafetensors);
  return bytes ? parseFile(*bytes, path) : bytes.errors();
}

Result<std::vector<std::byte>> printSafetensors(const NamedLiterals& tensors, const std::string& fileName,
                                                const SafetensorsTexts& texts) {
  Complaints complaints(fileName);
  for (const auto& [name, value] : tensors) {
    const std::string quoted = Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (name == metadataKey || !Json::accept(quoted) ||
        Json::parse(quoted).get_ref<const std::string&>() != name) {
      complaints.add(fmt::format("tensor {} cannot have that name in a .safetensors file", quoted),
                     "rename the parameter; names are UTF-8");
    }
  }
  if (!complaints.errors().empty()) {
    return complaints.errors();
  }
  const auto order = inFileOrder(tensors);
  const std::string header = printHeader(order, texts);
  size_t size = lengthBytes + header.size();
  for (const auto* row : order) {
    size += row->second.bytes().size();
  }
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < lengthBytes; ++i) {
    bytes[i] = static_cast<std::byte>((static_cast<uint64_t>(header.size()) >> (8 * i)) & 0xff);
  }
  std::memcpy(bytes.data() + lengthBytes, header.data(), header.size());
  auto out = bytes.begin() + static_cast<std::ptrdiff_t>(lengthBytes + header.size());
  for (const auto* row : order) {
    out = std::copy(row->second.bytes().begin(), row->second.bytes().end(), out);
  }
  return bytes;
}

Status writeSafetensors(const std::string& path, const NamedLiterals& tensors,
                        const SafetensorsTexts& texts) {
  const auto bytes = printSafetensors(tensors, path, texts);
  if (!bytes) {
    return bytes.errors();
  }
  return writeFileAtomically(path, *bytes);
}

} // namespace dfc
