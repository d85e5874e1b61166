// NumPy's array files (.npy), versions 1 to 3, as np.save and np.load have them; format:
// numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Every element type but bf16, which NumPy
// does not have. Any bytes are safe to read: sizes are compared with the file before anything is allocated.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <span>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// C order and Fortran order, little and big endian; the result is row-major. Rank at most 8.
Result<Literal> readNpy(const std::string& path);
/// The same from memory; `fileName` is the place of errors.
Result<Literal> parseNpy(std::span<const std::byte> bytes, const std::string& fileName);

/// Written whole or not at all. bf16 is an error that names the ways out.
Status writeNpy(const std::string& path, const Literal& value);
/// Version 1, C order, little-endian, data aligned to 64 bytes: what np.save writes.
Result<std::vector<std::byte>> printNpy(const Literal& value, const std::string& fileName);

} // namespace dfc
