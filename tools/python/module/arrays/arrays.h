// Arrays of other libraries as literals, and back: without a copy where the bytes lie on the host, one behind
// the other, on a boundary of 64 bytes.
#pragma once

#include "ir/graph/literal.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

namespace dfc::python {

/// Whether a literal may refer to the bytes of the array that it is made from.
enum class Sharing : uint8_t {
  Copied, ///< never: the array may change while the literal lives
  Shared, ///< where layout and alignment allow it; the literal keeps the array alive
  Lent,   ///< the same of NumPy's arrays without keeping them: the caller does, and nobody writes the literal
};

/// The elements of `object`: an Array, a NumPy array, any array with `__dlpack__` on the host, or numbers and
/// nested lists of them, which take the element type of `wanted` where there is one, or stay f64 or i64 where
/// that may not hold them: the conversion to `wanted` is the caller's. Raises TypeError or
/// ValueError that say what to do: for arrays on another device, of types that dfc does not have. `what`
/// names it in messages.
Literal literalOf(nanobind::handle object, Sharing sharing, std::optional<ElementType> wanted,
                  const char* what);

/// The same with elements of `wanted`, by the rule of feeds (runtime/data/convert_elements.h) where an array
/// has others; one that it does not convert stays as it is, for the session to refuse. dfc.Error says which
/// element of `kind` 'name' does not fit.
Literal convertedLiteral(nanobind::handle object, Sharing sharing, ElementType wanted, const char* kind,
                         const std::string& name);
/// A copy with elements of `wanted`, by the same rule. Raises TypeError where that has no way.
Literal literalAs(nanobind::handle object, ElementType wanted, const char* what);

/// A NumPy array over the literal's bytes, without a copy where nothing else shares them. bfloat16 has the
/// dtype of ml_dtypes; ImportError without that package.
nanobind::object numpyOf(Literal literal);

/// In the form that the user asked for: "numpy", "dfc" (an Array), "torch", "jax".
nanobind::object arrayAs(Literal literal, const std::string& form);
/// The same over the very bytes, whoever shares them: for those that nobody else writes. Of the writable
/// forms.
nanobind::object arrayOver(Literal literal, const std::string& form);
/// Raises ValueError for a form that there is not.
void checkForm(const std::string& form);

/// Arrays by name.
NamedLiterals literalsOf(nanobind::handle arrays, Sharing sharing);
/// The same back, in a form of `arrayAs`.
nanobind::dict dictOf(NamedLiterals literals, const std::string& form = "numpy");
/// An empty dictionary of plain.py that answers the name of no fetch with the names that there are.
nanobind::dict noResults();
/// What a step gives, as `dictOf`.
nanobind::dict resultsOf(NamedLiterals literals, const std::string& form = "numpy");

/// Array.
void bindArrays(nanobind::module_& module);

} // namespace dfc::python
