// .npy files: round trips, files as NumPy 1.24 wrote them (np.save on x86-64, copied here byte by byte), and
// broken files, whose messages are compared to the letter.
#include "runtime/files/npy.h"
#include "tests/runtime/files/files_support.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <random>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Magic, version 1.0, the length of the header, the dict padded with spaces to 64, a newline.
std::string npyHead(const std::string& dict) {
  std::string header = dict + std::string((64 - (10 + dict.size() + 1) % 64) % 64, ' ') + "\n";
  const std::string length = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + length + header;
}

std::string errorOf(const std::string& file) {
  const auto result = parseNpy(bytesOf(file), "a.npy");
  REQUIRE_FALSE(result.ok());
  return render(result.errors());
}

// [[0, 1, 2], [3, 4, 5]] in f32: 0x00000000, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40a00000.
const std::string rowMajor("\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xa0@",
                           24);
const std::string
    columnMajor("\x00\x00\x00\x00\x00\x00@@\x00\x00\x80?\x00\x00\x80@\x00\x00\x00@\x00\x00\xa0@", 24);
const std::string bigEndian("\x00\x00\x00\x00?\x80\x00\x00@\x00\x00\x00@@\x00\x00@\x80\x00\x00@\xa0\x00\x00",
                            24);

} // namespace

TEST_CASE("npy: every element type and rank comes back as it was") {
  const TemporaryFolder folder;
  for (const ElementType element : allElementTypes) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 2}}) {
      const Literal value = counting({element, shape});
      const std::string path = folder.file("value.npy");
      const Status written = writeNpy(path, value);
      if (element == ElementType::BF16) {
        REQUIRE_FALSE(written.ok());
        continue;
      }
      REQUIRE(written.ok());
      const auto back = readNpy(path);
      INFO(toString(value.type()));
      REQUIRE(back.ok());
      CHECK(*back == value);
    }
  }
}

TEST_CASE("npy: written as np.save writes it, byte by byte") {
  const auto written = printNpy(counting(f32({2, 3})), "a.npy");
  REQUIRE(written.ok());
  CHECK(textOf(*written) ==
        npyHead("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") + rowMajor);
  // 128 bytes of magic, length and dict, then 6 floats of 4 bytes.
  CHECK(written->size() == 128 + 24);
  const auto scalar = printNpy(Literal::scalar(3.0), "a.npy");
  REQUIRE(scalar.ok());
  CHECK(textOf(*scalar) == npyHead("{'descr': '<f8', 'fortran_order': False, 'shape': (), }") +
                               std::string("\x00\x00\x00\x00\x00\x00\x08@", 8));
  const auto vector = printNpy(counting({ElementType::Bool, {2}}), "a.npy");
  REQUIRE(vector.ok());
  CHECK(textOf(*vector) ==
        npyHead("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }") + std::string("\x00\x01", 2));
}

TEST_CASE("npy: Fortran order and big endian are put in our order") {
  const Literal wanted = counting(f32({2, 3}));
  const auto fortran = parseNpy(
      bytesOf(npyHead("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }") + columnMajor), "f");
  REQUIRE(fortran.ok());
  CHECK(*fortran == wanted);
  const auto big = parseNpy(
      bytesOf(npyHead("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }") + bigEndian), "b");
  REQUIRE(big.ok());
  CHECK(*big == wanted);
}

TEST_CASE("npy: Fortran order in three dimensions") {
  // Element (i, j, k) of shape [2, 3, 4] stands at i + 2 j + 6 k in the file and is 12 i + 4 j + k.
  std::string data(24, '\0');
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        data[static_cast<size_t>(i + 2 * j + 6 * k)] = static_cast<char>(12 * i + 4 * j + k);
      }
    }
  }
  const auto read =
      parseNpy(bytesOf(npyHead("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }") + data), "f");
  REQUIRE(read.ok());
  CHECK(*read == counting({ElementType::U8, {2, 3, 4}}));
}

TEST_CASE("npy: versions 2 and 3 have a header length of four bytes") {
  const std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + std::string(56, ' ') + "\n";
  REQUIRE(dict.size() == 0x74); // as NumPy wrote it: 128 - 12 = 116
  for (const char version : {'\x02', '\x03'}) {
    const std::string file =
        std::string("\x93NUMPY", 6) + version + std::string("\x00\x74\x00\x00\x00", 5) + dict + rowMajor;
    const auto read = parseNpy(bytesOf(file), "v");
    REQUIRE(read.ok());
    CHECK(*read == counting(f32({2, 3})));
  }
}

TEST_CASE("npy: keys in any order, double quotes, Python 2 integers") {
  const auto read = parseNpy(
      bytesOf(npyHead(R"({"shape": (2L,3L), "fortran_order": False, "descr": "<f4"})") + rowMajor), "p");
  REQUIRE(read.ok());
  CHECK(*read == counting(f32({2, 3})));
}

TEST_CASE("npy: broken files are refused to the letter") {
  CHECK(errorOf("") == "a.npy: error: is not an .npy file: it does not begin with NumPy's signature\n"
                       "  hint: write it with np.save(file, array)\n");
  CHECK(errorOf(std::string("\x93NUMPY\x07\x00\x10\x00", 10)) ==
        "a.npy: error: is .npy version 7.0; known are 1 to 3\n  hint: save it again with np.save\n");
  CHECK(errorOf(std::string("\x93NUMPY\x01\x00\x76\x00{'descr'", 18)) ==
        "a.npy: error: the file ends inside its header (18 bytes)\n"
        "  hint: the file is cut short: copy or save it again\n");
  CHECK(
      errorOf(npyHead("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }") + "1234") ==
      "a.npy: error: element type '<i2' is not one of float32, float64, float16, int32, int64, uint8, bool\n"
      "  hint: convert before saving, for example: np.save(file, array.astype(np.float32))\n");
  CHECK(errorOf(npyHead("{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }") + "1234") ==
        "a.npy: error: element type '<V2' is raw bytes to NumPy (bf16 is saved so)\n"
        "  hint: convert before saving: np.save(file, array.astype(np.float32))\n");
  CHECK(errorOf(npyHead("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }")) ==
        "a.npy: error: the header is not a dict of 'descr', 'fortran_order' and 'shape' for a plain array\n"
        "  hint: save the array again with np.save; structured arrays go field by field\n");
  CHECK(errorOf(npyHead("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") +
                rowMajor.substr(4)) == "a.npy: error: f32[2, 3] needs 24 bytes of data, but the file has 20\n"
                                       "  hint: the file is cut short: copy or save it again\n");
  CHECK(errorOf(npyHead("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") + rowMajor + "!") ==
        "a.npy: error: f32[2, 3] needs 24 bytes of data, but the file has 25\n"
        "  hint: the file has something after the array: save it again\n");
  CHECK(errorOf(npyHead("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }") + "\x01\x07") ==
        "a.npy: error: byte 1 of a bool array is 7, not 0 or 1\n"
        "  hint: the data is damaged: save the array again\n");
  // 4 x 10^18 elements of 4 bytes: no memory is asked for.
  CHECK(errorOf(npyHead("{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000, 2000000000), }")) ==
        "a.npy: error: the shape (2000000000, 2000000000) has a negative dimension or too many elements\n"
        "  hint: the header is damaged: save the array again\n");
  CHECK(
      errorOf(npyHead("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }")) ==
      "a.npy: error: the array has 9 dimensions, more than 8\n  hint: reshape it before saving\n");
}

TEST_CASE("npy: bf16 is refused with the ways out") {
  const auto result = printNpy(counting({ElementType::BF16, {2}}), "w.npy");
  REQUIRE_FALSE(result.ok());
  CHECK(render(result.errors()) ==
        "w.npy: error: NumPy has no type for bf16[2]\n"
        "  hint: cast it to f32 in the graph first, or save it in a .safetensors file\n");
}

TEST_CASE("npy: a missing file and a folder are named") {
  const TemporaryFolder folder;
  const auto missing = readNpy(folder.file("no.npy"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.errors()[0].message == "cannot open: No such file or directory");
  CHECK(missing.errors()[0].where.file == folder.file("no.npy"));
  const auto aFolder = readNpy(folder.file("."));
  REQUIRE_FALSE(aFolder.ok());
  CHECK(aFolder.errors()[0].message == "is a folder, not a file");
}

TEST_CASE("npy: damaged in any byte or cut anywhere, it is an error or an array, nothing else") {
  const auto good = printNpy(counting(f32({2, 3})), "g.npy");
  REQUIRE(good.ok());
  std::mt19937 random(7);
  size_t refused = 0;
  for (size_t at = 0; at < good->size(); ++at) {
    auto damaged = *good;
    damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
    refused += parseNpy(damaged, "d.npy").ok() ? 0 : 1;
    CHECK_FALSE(parseNpy(std::span(*good).first(at), "d.npy").ok());
  }
  // Each of the 6 magic bytes must be refused at the least; a change in the 24 data bytes cannot be seen.
  CHECK(refused >= 6);
  CHECK(refused <= good->size() - 24);
}
