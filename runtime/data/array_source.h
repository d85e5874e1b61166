// An array by a word that names a file and what of it, or an installed data set:
//
//   x.npy                     the array
//   x.npz, x.npz:MEMBER       a member; without its name the only one, or the one that is asked for
//   w.safetensors:NAME        a tensor, likewise
//   images.gz, x.idx, x-ubyte IDX, gzipped or plain: bytes
//   t.csv                     all columns, [rows, columns]
//   t.csv:a,b   t.csv:a       columns by name, [rows, 2] and [rows]; of i64 where all numbers are whole
//                             A hash before a name: a column of words, each of which becomes a number (csv.h)
//   book.txt:64               the bytes of a text in rows of 64; what is left over is left out. Without a
//                             number, all in one row
//   fashion-mnist/{train,test}/{images,labels}
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// The array; `preferred` chooses among those of an archive where the word does not. Errors name the file.
Result<Literal> readArray(const std::string& source, const std::string& preferred = "");

/// The file that a word names; "" for a data set.
std::string fileOfArray(const std::string& source);

/// Whether its rows are bytes, which stand for pixels, labels or letters.
bool holdsByteRows(const std::string& source);

/// Whether its numbers are text, which any element type may take that can hold them.
bool holdsTextNumbers(const std::string& source);

/// The numbers in another element type. Errors, with the first that it cannot hold: fractions and numbers out
/// of range in an integer, infinities that a float makes of what is finite.
Result<Literal> numbersAs(ElementType element, const Literal& numbers, const std::string& source);

} // namespace dfc
