// NumPy's arrays, read and made by its C API: each step does so, and after a long one nothing that Python
// does is in a cache any more, so that little code and few objects may take part.
#pragma once

#include "ir/graph/literal.h"
#include "tools/python/module/arrays/arrays.h"

#include <nanobind/nanobind.h>

namespace dfc::python {

/// Gets NumPy's C API. Before all below; raises ImportError where there is no NumPy.
void importNumpy();

bool isNumpy(nanobind::handle object);

/// The elements of a NumPy array. Raises TypeError of `what` for types that dfc does not have.
Literal literalOfNumpy(nanobind::handle array, Sharing sharing, const char* what);

enum class Access : uint8_t { Writable, ReadOnly };

/// A NumPy array over these very bytes, whoever shares them; it keeps them. bfloat16 has the dtype of
/// ml_dtypes; ImportError without that package.
nanobind::object numpyOver(Literal literal, Access access);

} // namespace dfc::python
