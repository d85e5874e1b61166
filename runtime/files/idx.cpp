#include "runtime/files/idx.h"

#include "ir/base/atomic_file.h"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace dfc {
namespace {

constexpr size_t largest = size_t(1) << 32; // unpacked; the largest of these sets has 47 MB

Diagnostic bad(const std::string& fileName, std::string message, std::string hint) {
  return {Severity::Error, {fileName}, std::move(message), std::move(hint)};
}

constexpr const char* cutShort = "the file is damaged or cut short: install or copy it again";

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

Result<std::vector<std::byte>> unpack(gzFile_s* file, const std::string& path) {
  std::vector<std::byte> bytes;
  int got = 0;
  do {
    const size_t before = bytes.size();
    constexpr unsigned chunk = 1U << 20;
    bytes.resize(before + chunk);
    got = gzread(file, bytes.data() + before, chunk);
    bytes.resize(before + static_cast<size_t>(std::max(got, 0)));
  } while (got > 0 && bytes.size() <= largest);
  int code = Z_OK;
  const char* text = gzerror(file, &code);
  if (got < 0 || code != Z_OK) {
    return bad(path, fmt::format("cannot be unpacked: {}", code == Z_ERRNO ? std::strerror(errno) : text),
               cutShort);
  }
  if (bytes.size() > largest) {
    return bad(path, fmt::format("unpacks to more than {} bytes", largest), "is this the file you meant?");
  }
  return bytes;
}

uint32_t bigEndian(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value = (value << 8) | std::to_integer<uint32_t>(bytes[i]);
  }
  return value;
}

} // namespace

Result<Literal> parseIdx(std::span<const std::byte> bytes, const std::string& fileName) {
  if (bytes.size() < 4 || bytes[0] != std::byte{0} || bytes[1] != std::byte{0}) {
    return bad(fileName, "is not an IDX file: it does not begin with two zero bytes",
               "name a file like train-images-idx3-ubyte.gz");
  }
  if (bytes[2] != std::byte{8}) {
    return bad(fileName,
               fmt::format("has element code {:#04x}; only 0x08, unsigned bytes, is read",
                           std::to_integer<unsigned>(bytes[2])),
               "convert the data to bytes first");
  }
  const auto rank = std::to_integer<size_t>(bytes[3]);
  if (rank > Shape::maxRank) {
    return bad(fileName, fmt::format("has {} dimensions, more than {}", rank, Shape::maxRank),
               "reshape the data before saving");
  }
  if (rank == 0 || bytes.size() < 4 + 4 * rank) {
    return bad(fileName,
               fmt::format("the header of {} dimensions is not in its {} bytes", rank, bytes.size()),
               cutShort);
  }
  Dims dims;
  for (size_t axis = 0; axis < rank; ++axis) {
    dims.push_back(bigEndian(bytes.subspan(4 + 4 * axis)));
  }
  const auto data = bytes.subspan(4 + 4 * rank);
  if (!Shape::valid(dims) || static_cast<uint64_t>(Shape(dims).elements()) != data.size()) {
    return bad(fileName,
               fmt::format("has {} bytes of data, which is not the product of its dimensions ({})",
                           data.size(), fmt::join(dims.begin(), dims.end(), " x ")),
               cutShort);
  }
  Literal literal(TensorType{ElementType::U8, Shape(dims)});
  std::copy(data.begin(), data.end(), literal.mutableBytes().begin());
  return literal;
}

Result<Literal> readIdx(const std::string& path) {
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) {
    const int code = errno;
    const auto near = code == ENOENT ? nearestFile(path) : std::nullopt;
    return bad(path, fmt::format("cannot be opened: {}", std::strerror(code)),
               near ? fmt::format("did you mean '{}'?", *near) : "check the path");
  }
  const auto bytes = unpack(file.get(), path);
  if (!bytes) {
    return bytes.errors();
  }
  return parseIdx(*bytes, path);
}

} // namespace dfc
