// Safetensors files: a JSON header of names, types, shapes and byte ranges, then the bytes
// (github.com/huggingface/safetensors, format section). Element types F32 F64 F16 BF16 I32 I64 U8 BOOL, which
// are all of ours. A file is never trusted: ranges must lie in the file, fit shape and type, and cover the
// data without overlap or gap, as the format demands.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// Every mistake of the header at once, each naming its tensor.
Result<NamedLiterals> readSafetensors(const std::string& path);
/// The same of bytes; `fileName` is for messages.
Result<NamedLiterals> parseSafetensors(std::span<const std::byte> bytes, const std::string& fileName);

/// Texts by key: what a file says beside its tensors, the format's `__metadata__`.
using SafetensorsTexts = std::map<std::string, std::string>;

/// All that a file holds.
struct SafetensorsFile {
  NamedLiterals tensors;  ///< by name
  SafetensorsTexts texts; ///< by key; empty where the file has none
};

/// The tensors and the texts; texts that are no strings are passed over.
Result<SafetensorsFile> readSafetensorsFile(const std::string& path);

/// The same tensors and texts give the same bytes. Written under a temporary name, synced, renamed.
Status writeSafetensors(const std::string& path, const NamedLiterals& tensors,
                        const SafetensorsTexts& texts = {});
/// The bytes that writeSafetensors writes.
Result<std::vector<std::byte>> printSafetensors(const NamedLiterals& tensors, const std::string& fileName,
                                                const SafetensorsTexts& texts = {});

} // namespace dfc
