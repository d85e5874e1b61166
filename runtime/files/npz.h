// NumPy's archives (.npz): a zip of .npy members, as np.savez and np.load have them. Read and written through
// libzip. Any bytes are safe to read: a member's memory grows with what was truly unpacked.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <span>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// Arrays by name, without the members' ending ".npy". All damaged members are named at once.
Result<NamedLiterals> readNpz(const std::string& path);
/// The same of bytes; `fileName` is for messages.
Result<NamedLiterals> parseNpz(std::span<const std::byte> bytes, const std::string& fileName);

/// Stored, not compressed, as np.savez does; the same arrays give the same bytes. Written whole or not at
/// all.
Status writeNpz(const std::string& path, const NamedLiterals& arrays);
/// The bytes that writeNpz writes.
Result<std::vector<std::byte>> printNpz(const NamedLiterals& arrays, const std::string& fileName);

} // namespace dfc
