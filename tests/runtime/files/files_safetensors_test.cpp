// .safetensors files: round trips, the exact bytes of a small file, and broken headers to the letter.
#include "runtime/files/safetensors.h"
#include "tests/runtime/files/files_support.h"
#include "tests/support/catch.h"

#include <random>

using namespace dfc;
using namespace dfc::test;

namespace {

std::string fileWith(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size() & 0xff);
  length[1] = static_cast<char>(header.size() >> 8);
  return length + header + data;
}

std::string errorOf(const std::string& file) {
  const auto result = parseSafetensors(bytesOf(file), "s");
  REQUIRE_FALSE(result.ok());
  return render(result.errors());
}

const std::string damaged = "\n  hint: the file is damaged: copy or save it again\n";

} // namespace

TEST_CASE("safetensors: every element type and shape comes back as it was") {
  const TemporaryFolder folder;
  NamedLiterals tensors;
  for (const ElementType element : allElementTypes) {
    const std::string type(name(element));
    tensors.emplace(type, counting({element, {3, 5}}));
    tensors.emplace(type + " scalar", counting({element, {}}));
    tensors.emplace(type + " empty \"quoted\" ß", counting({element, {0, 2}}));
  }
  REQUIRE(writeSafetensors(folder.file("all.safetensors"), tensors).ok());
  CHECK(folder.fileCount() == 1); // no temporary file stays
  const auto back = readSafetensors(folder.file("all.safetensors"));
  REQUIRE(back.ok());
  CHECK(*back == tensors);
}

TEST_CASE("safetensors: the bytes of a small file") {
  const auto bytes = printSafetensors(
      {{"b", counting({ElementType::U8, {2}})}, {"w", counting({ElementType::F16, {1, 2}})}}, "s");
  REQUIRE(bytes.ok());
  // Wide elements first; 56 + 52 bytes of JSON = 108, padded with 4 spaces to 112 = 0x70. f16 1.0 is 0x3c00.
  CHECK(textOf(*bytes) ==
        std::string("\x70\0\0\0\0\0\0\0", 8) + R"({"w":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},)" +
            R"("b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}}    )" + std::string("\0\0\0\x3c\0\1", 6));
}

TEST_CASE("safetensors: metadata is passed over, order and padding are free") {
  const auto read = parseSafetensors(
      bytesOf(
          fileWith(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},)"
                   R"("a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}   )",
                   std::string("\x2a\0\0\0\7", 5))),
      "s");
  REQUIRE(read.ok());
  CHECK(read->at("a") == Literal::scalar(int32_t(42)));
  CHECK(read->at("b").at(0) == 7);
  CHECK(read->size() == 2);
}

TEST_CASE("safetensors: broken files are refused to the letter") {
  CHECK(errorOf("abc") == "s: error: is not a .safetensors file: it has only 3 bytes" + damaged);
  CHECK(errorOf(std::string("\x93NUMPY\1\0 and more", 18)) ==
        "s: error: is not a .safetensors file but a .npy file\n"
        "  hint: give a .safetensors file, such as --save-state writes\n");
  CHECK(errorOf(std::string("PK\x03\x04 of an archive", 18)) ==
        "s: error: is not a .safetensors file but a .npz or zip file\n"
        "  hint: give a .safetensors file, such as --save-state writes\n");
  CHECK(errorOf(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)) ==
        "s: error: is not a whole .safetensors file: its header would have 18446744073709551615 bytes, the "
        "file "
        "has 10" +
            damaged);
  CHECK(errorOf(fileWith("[1, 2]", "")) == "s: error: the header is not a JSON object" + damaged);
  CHECK(errorOf(fileWith("{\"a\": ", "")) == "s: error: the header is not a JSON object" + damaged);
  CHECK(
      errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", std::string(8, 'x'))) ==
      "s: error: tensor 'a': its bytes [0, 12) are not inside the 8 bytes of data" + damaged);
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", std::string(8, 'x'))) ==
        "s: error: tensor 'a': f32[3] needs 12 bytes, but its range has 8" + damaged);
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"I16","shape":[4],"data_offsets":[0,8]}})", std::string(8, 'x'))) ==
        "s: error: tensor 'a': element type I16 is not one of F32 F64 F16 BF16 I32 I64 U8 BOOL\n"
        "  hint: convert the tensor before saving it\n");
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\x02")) ==
        "s: error: tensor 'a': a BOOL byte is neither 0 nor 1" + damaged);
}

TEST_CASE("safetensors: overlaps, gaps and doubles are refused to the letter") {
  const std::string eight(8, 'x');
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                         eight)) ==
        "s: error: tensor 'b': its bytes [4, 8) overlap those of another tensor" + damaged);
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight)) ==
        "s: error: tensor 'a': no tensor owns the bytes [0, 4) before it" + damaged);
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", eight)) ==
        "s: error: no tensor owns the last 4 bytes of data" + damaged);
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                         eight)) == "s: error: tensor 'a': is in the header twice" + damaged);
}

TEST_CASE("safetensors: all mistakes of a header come at once") {
  const auto result = parseSafetensors(
      bytesOf(fileWith(R"({"a":{"dtype":7,"shape":[-1],"data_offsets":[0]},"b":[],)"
                       R"("c":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]},)"
                       R"("d":{"dtype":"U8","shape":[9000000000000000000,9],"data_offsets":[0,1]}})",
                       "x")),
      "s");
  REQUIRE_FALSE(result.ok());
  std::vector<std::string> messages;
  for (const Diagnostic& error : result.errors()) {
    messages.push_back(error.message);
  }
  CHECK(messages == std::vector<std::string>{
                        "tensor 'a': 'dtype' is not a string", "tensor 'a': 'shape' is not a list of sizes",
                        "tensor 'a': 'data_offsets' is not a pair of offsets",
                        "tensor 'b': its entry is not a JSON object",
                        "tensor 'c': has 9 dimensions, more than 8",
                        "tensor 'd': shape [9000000000000000000,9] has too many elements"});
  CHECK(result.errors()[4].hint == "reshape it before saving");
}

TEST_CASE("safetensors: a file that is cut short is one mistake, however many tensors it has lost") {
  CHECK(errorOf(fileWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                         R"("c":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})",
                         "12345678")) ==
        "s: error: is cut short: 2 of its 3 tensors end behind its 8 bytes of data, which were 16 at least" +
            damaged);
}

TEST_CASE("safetensors: names that the format cannot hold are refused") {
  const auto reserved = printSafetensors({{"__metadata__", Literal()}}, "s");
  REQUIRE_FALSE(reserved.ok());
  const auto notUtf8 = printSafetensors({{"w\xff", Literal()}}, "s");
  REQUIRE_FALSE(notUtf8.ok());
  CHECK(notUtf8.errors()[0].hint == "rename the parameter; names are UTF-8");
}

TEST_CASE("safetensors: cut or changed anywhere, it is an error or tensors, nothing else") {
  const auto good = printSafetensors({{"a", counting(f32({2}))}, {"b", counting(i64({1}))}}, "s");
  REQUIRE(good.ok());
  std::mt19937 random(3);
  for (size_t at = 0; at < good->size(); ++at) {
    CHECK_FALSE(parseSafetensors(std::span(*good).first(at), "s").ok());
    auto changed = *good;
    changed[at] ^= static_cast<std::byte>(1 + random() % 255);
    const auto read = parseSafetensors(changed, "s");
    if (read.ok()) {
      CHECK(read->size() <= 2);
    }
  }
}
