// A JSON text read with every complaint located: broken syntax by line, column and caret, and later findings
// by the path of the value they are about.
#pragma once

#include "ir/base/json/json_places.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <unordered_set>

namespace dfc {

class JsonDocument {
 public:
  /// `text` must outlive the document. Refuses broken syntax, repeated names, and nesting deeper than
  /// `deepest`.
  JsonDocument(std::string_view text, std::string fileName, size_t deepest);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  ~JsonDocument();

  bool readable() const { return root_ != nullptr; }
  const nlohmann::json& root() const { return *root_; } ///< only if readable

  /// An error about the value at `path`, which stands before the message: "links[2].bandwidth: …".
  void errorAt(const std::string& path, const std::string& message, std::string hint = {});
  /// The same with the caret under the member's name.
  void errorAtKey(const std::string& path, const std::string& message, std::string hint = {});
  /// The object at `path` ("" is the whole) should have a member `key`.
  void errorMissing(const std::string& path, const std::string& key, std::string hint = {});
  /// Whether there is an error about this path, a value within it or one around it, so that another about it
  /// would only follow from the first.
  bool complainedOf(const std::string& path) const;
  bool clean() const { return errors_.empty(); }
  /// In the order of the text.
  Diagnostics takeErrors();

 private:
  const JsonPlaces& places();
  void refuseRepeated();
  void refuseSyntax(size_t offset, size_t width, const std::string& reason);
  void add(const std::string& path, const JsonPlace& place, const std::string& message, std::string hint);
  void remember(const std::string& path);
  std::string_view text_;
  std::string fileName_;
  std::unique_ptr<nlohmann::json> root_;
  std::unique_ptr<JsonPlaces>
      places_; // from the first error: the paths of all values cost more than the rest
  std::vector<std::string_view> lines_;
  std::unordered_set<std::string> exact_, around_; // paths complained of; those and all around them
  Diagnostics errors_;
};

} // namespace dfc
