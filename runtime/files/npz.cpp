#include "runtime/files/npz.h"

#include "ir/base/atomic_file.h"
#include "runtime/files/npy.h"

#include <fmt/format.h>

#include <zip.h>

#include <algorithm>
#include <memory>

namespace dfc {
namespace {

constexpr uint64_t largestNpz = uint64_t(1) << 40; // far above any memory; a pipe without end stops here

constexpr std::string_view ending = ".npy";

Diagnostic badNpz(const std::string& fileName, std::string message, std::string hint) {
  return {Severity::Error, {fileName}, std::move(message), std::move(hint)};
}

/// libzip's error with its text, ended when it leaves scope.
struct ZipError {
  zip_error_t error{};
  ZipError() { zip_error_init(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error); }
  std::string text() { return zip_error_strerror(&error); }
};

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;
using Source = std::unique_ptr<zip_source_t, Discard>;

Result<std::vector<std::byte>> unpack(zip_t* archive, zip_uint64_t index, const std::string& place) {
  const Member member(zip_fopen_index(archive, index, 0));
  if (!member) {
    return badNpz(place, fmt::format("cannot be unpacked: {}", zip_strerror(archive)),
                  "save the archive again with np.savez, without a password");
  }
  std::vector<std::byte> bytes;
  zip_int64_t got = 0;
  do {
    const size_t before = bytes.size();
    bytes.resize(before + std::clamp<size_t>(before, 1U << 16, 1U << 24));
    got = zip_fread(member.get(), bytes.data() + before, bytes.size() - before);
    bytes.resize(before + static_cast<size_t>(std::max<zip_int64_t>(got, 0)));
  } while (got > 0);
  if (got < 0) {
    return badNpz(place, fmt::format("cannot be unpacked: {}", zip_file_strerror(member.get())),
                  "the archive is damaged: copy or save it again");
  }
  return bytes;
}

Result<Literal> memberArray(zip_t* archive, zip_uint64_t index, const std::string& place) {
  const auto bytes = unpack(archive, index, place);
  if (!bytes) {
    return bytes.errors();
  }
  return parseNpy(*bytes, place);
}

void readMember(zip_t* archive, zip_uint64_t index, const std::string& fileName, NamedLiterals& arrays,
                Diagnostics& errors) {
  const char* raw = zip_get_name(archive, index, ZIP_FL_ENC_GUESS);
  std::string name = raw == nullptr ? "" : raw;
  const std::string place = fmt::format("{}({})", fileName, name);
  if (!name.ends_with(ending)) {
    errors.push_back(badNpz(place, "is not an .npy member",
                            "keep only arrays in the archive: np.savez(file, name=array)"));
    return;
  }
  name.resize(name.size() - ending.size());
  auto array = memberArray(archive, index, place);
  if (!array) {
    errors.insert(errors.end(), array.errors().begin(), array.errors().end());
  } else if (!arrays.try_emplace(name, *std::move(array)).second) {
    errors.push_back(badNpz(place, "is in the archive twice", "save the archive again with np.savez"));
  }
}

/// Adds one member; false when libzip refuses.
bool addMember(zip_t* archive, const std::string& name, const std::vector<std::byte>& bytes) {
  zip_source_t* content = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  if (content == nullptr) {
    return false;
  }
  const zip_int64_t index = zip_file_add(archive, name.c_str(), content, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(content);
    return false;
  }
  const auto at = static_cast<zip_uint64_t>(index);
  constexpr zip_uint16_t firstDay = (1U << 5) | 1U; // 1 January 1980, so that equal arrays give equal files
  return zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(archive, at, 0, firstDay, 0) == 0;
}

Result<std::vector<std::byte>> contentsOf(zip_source_t* source, const std::string& fileName) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::vector<std::byte> bytes;
  if (zip_source_stat(source, &stat) == 0 && zip_source_open(source) == 0) {
    bytes.resize(stat.size);
    const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (got == static_cast<zip_int64_t>(bytes.size())) {
      return bytes;
    }
  }
  return badNpz(fileName, "the archive could not be made in memory", "save fewer arrays in one file");
}

} // namespace

Result<NamedLiterals> parseNpz(std::span<const std::byte> bytes, const std::string& fileName) {
  if (bytes.empty()) { // libzip takes this for an archive without members
    return badNpz(fileName, "is empty", "write it with np.savez(file, name=array, …)");
  }
  ZipError error;
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error.error));
  DFC_ASSERT(source != nullptr, error.text());
  Archive archive(zip_open_from_source(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, &error.error));
  if (!archive && zip_error_code_zip(&error.error) == ZIP_ER_EXISTS) {
    // A name stands there twice, and libzip does not tell which: `readMember` does.
    archive.reset(zip_open_from_source(source.get(), ZIP_RDONLY, &error.error));
  }
  if (!archive) {
    return badNpz(fileName, fmt::format("is not a whole zip archive: {}", error.text()),
                  "write it with np.savez(file, name=array, …)");
  }
  static_cast<void>(source.release()); // the archive owns it from here on
  NamedLiterals arrays;
  Diagnostics errors;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t index = 0; index < count; ++index) {
    readMember(archive.get(), static_cast<zip_uint64_t>(index), fileName, arrays, errors);
  }
  if (!errors.empty()) {
    return errors;
  }
  return arrays;
}

Result<NamedLiterals> readNpz(const std::string& path) {
  const auto bytes = readFile(path, largestNpz);
  if (!bytes) {
    return bytes.errors();
  }
  return parseNpz(*bytes, path);
}

Result<std::vector<std::byte>> printNpz(const NamedLiterals& arrays, const std::string& fileName) {
  std::map<std::string, std::vector<std::byte>>
      members; // must outlive the archive, which reads them on closing
  Diagnostics errors;
  for (const auto& [name, array] : arrays) {
    auto bytes = printNpy(array, fmt::format("{}({}{})", fileName, name, ending));
    if (bytes) {
      members[name + std::string(ending)] = *std::move(bytes);
    } else {
      errors.insert(errors.end(), bytes.errors().begin(), bytes.errors().end());
    }
  }
  if (members.empty() && errors.empty()) {
    errors.push_back(badNpz(fileName, "there is no array to save", "fetch at least one value"));
  }
  if (!errors.empty()) {
    return errors;
  }
  ZipError error;
  const Source target(zip_source_buffer_create(nullptr, 0, 0, &error.error));
  DFC_ASSERT(target != nullptr, error.text());
  Archive archive(zip_open_from_source(target.get(), ZIP_TRUNCATE, &error.error));
  DFC_ASSERT(archive != nullptr, error.text());
  zip_source_keep(target.get()); // closing the archive gives up one hold on it; ours stays
  for (const auto& [name, bytes] : members) {
    if (!addMember(archive.get(), name, bytes)) {
      return badNpz(fileName, fmt::format("member '{}': {}", name, zip_strerror(archive.get())),
                    "use another name for the array");
    }
  }
  if (zip_close(archive.get()) != 0) {
    return badNpz(fileName, fmt::format("cannot be packed: {}", zip_strerror(archive.get())), "");
  }
  static_cast<void>(archive.release());
  return contentsOf(target.get(), fileName);
}

Status writeNpz(const std::string& path, const NamedLiterals& arrays) {
  const auto bytes = printNpz(arrays, path);
  if (!bytes) {
    return bytes.errors();
  }
  return writeFileAtomically(path, *bytes);
}

} // namespace dfc
