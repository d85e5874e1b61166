// IDX files, gzipped or plain: the form in which MNIST and its successors are published
// (yann.lecun.com/exdb/mnist, section "file formats"). Only element code 0x08, unsigned bytes, which is all
// that these sets use. Sizes are checked against the bytes that truly came before anything is believed.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <span>
#include <string>

namespace DFC_PUBLIC dfc {

/// A u8 literal with the file's dimensions.
Result<Literal> readIdx(const std::string& path);
/// The same from unpacked bytes; `fileName` is the place of errors.
Result<Literal> parseIdx(std::span<const std::byte> bytes, const std::string& fileName);

} // namespace dfc
