#include "runtime/files/npy.h"

#include "ir/base/atomic_file.h"
#include "runtime/files/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace dfc {
namespace {

constexpr uint64_t largestNpy = uint64_t(1) << 40; // far above any memory; a pipe without end stops here

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t dataAlignment = 64;

Diagnostic badNpy(const std::string& fileName, std::string message, std::string hint) {
  return {Severity::Error, {fileName}, std::move(message), std::move(hint)};
}

std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void swapBytes(std::span<std::byte> bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
}

/// `columnMajor` with its elements put in row-major order.
void copyRowMajor(const TensorType& type, std::span<const std::byte> columnMajor, std::span<std::byte> out) {
  const Shape& shape = type.shape;
  const auto width = static_cast<size_t>(byteWidth(type.element));
  std::array<int64_t, Shape::maxRank> stride{}, index{};
  int64_t step = 1;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    stride[axis] = step;
    step *= shape[axis];
  }
  int64_t source = 0;
  for (size_t at = 0; at < out.size(); at += width) {
    std::memcpy(out.data() + at, columnMajor.data() + static_cast<size_t>(source) * width, width);
    for (size_t axis = shape.rank(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < shape[axis]) {
        break;
      }
      source -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// Where the header's text and the data begin, from the version's length field.
struct Layout {
  size_t header = 0, data = 0;
};

Result<Layout> layoutOf(std::span<const std::byte> bytes, const std::string& fileName) {
  if (!asText(bytes).starts_with(magic) || bytes.size() < 10) {
    return badNpy(fileName, "is not an .npy file: it does not begin with NumPy's signature",
                  "write it with np.save(file, array)");
  }
  const auto major = std::to_integer<unsigned>(bytes[6]);
  const auto minor = std::to_integer<unsigned>(bytes[7]);
  if (major < 1 || major > 3) {
    return badNpy(fileName, fmt::format("is .npy version {}.{}; known are 1 to 3", major, minor),
                  "save it again with np.save");
  }
  const size_t lengthBytes = major == 1 ? 2 : 4;
  const size_t header = 8 + lengthBytes;
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes && 8 + i < bytes.size(); ++i) {
    length |= std::to_integer<size_t>(bytes[8 + i]) << (8 * i);
  }
  if (header > bytes.size() || length > bytes.size() - header) {
    return badNpy(fileName, fmt::format("the file ends inside its header ({} bytes)", bytes.size()),
                  "the file is cut short: copy or save it again");
  }
  return Layout{header, header + length};
}

Result<Literal> arrayOf(const NpyHeader& header, std::span<const std::byte> data,
                        const std::string& fileName) {
  const auto wanted = static_cast<size_t>(header.type.bytes());
  if (data.size() != wanted) {
    return badNpy(fileName,
                  fmt::format("{} needs {} bytes of data, but the file has {}", toString(header.type), wanted,
                              data.size()),
                  data.size() < wanted ? "the file is cut short: copy or save it again"
                                       : "the file has something after the array: save it again");
  }
  if (header.type.element == ElementType::Bool) {
    const auto odd = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
    if (odd != data.end()) {
      return badNpy(fileName,
                    fmt::format("byte {} of a bool array is {}, not 0 or 1", odd - data.begin(),
                                std::to_integer<int>(*odd)),
                    "the data is damaged: save the array again");
    }
  }
  Literal literal(header.type);
  const auto out = literal.mutableBytes();
  if (header.fortranOrder) {
    copyRowMajor(header.type, data, out);
  } else {
    std::copy(data.begin(), data.end(), out.begin());
  }
  if (header.bigEndian) {
    swapBytes(out, static_cast<size_t>(byteWidth(header.type.element)));
  }
  return literal;
}

} // namespace

Result<Literal> parseNpy(std::span<const std::byte> bytes, const std::string& fileName) {
  const Result<Layout> layout = layoutOf(bytes, fileName);
  if (!layout) {
    return layout.errors();
  }
  const auto text = asText(bytes.subspan(layout->header, layout->data - layout->header));
  const auto header = parseNpyHeader(text);
  if (const auto* problem = std::get_if<NpyProblem>(&header)) {
    return badNpy(fileName, problem->message, problem->hint);
  }
  return arrayOf(std::get<NpyHeader>(header), bytes.subspan(layout->data), fileName);
}

Result<Literal> readNpy(const std::string& path) {
  const auto bytes = readFile(path, largestNpy);
  if (!bytes) {
    return bytes.errors();
  }
  return parseNpy(*bytes, path);
}

Result<std::vector<std::byte>> printNpy(const Literal& value, const std::string& fileName) {
  auto dict = printNpyHeader(value.type());
  if (!dict) {
    return badNpy(fileName, fmt::format("NumPy has no type for {}", toString(value.type())),
                  "cast it to f32 in the graph first, or save it in a .safetensors file");
  }
  const size_t prefix = magic.size() + 4;
  const size_t used = prefix + dict->size() + 1;
  dict->append((dataAlignment - used % dataAlignment) % dataAlignment, ' ');
  dict->push_back('\n');
  std::string head(magic);
  head += {'\x01', '\x00', static_cast<char>(dict->size() & 0xff), static_cast<char>(dict->size() >> 8)};
  head += *dict;
  std::vector<std::byte> bytes(head.size() + value.bytes().size());
  std::memcpy(bytes.data(), head.data(), head.size());
  std::copy(value.bytes().begin(), value.bytes().end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(head.size()));
  return bytes;
}

Status writeNpy(const std::string& path, const Literal& value) {
  const auto bytes = printNpy(value, path);
  if (!bytes) {
    return bytes.errors();
  }
  return writeFileAtomically(path, *bytes);
}

} // namespace dfc
