// Members of JSON objects read by name and type, each mistake told to the document. Paths are as in
// "links[2]".
#pragma once

#include "ir/base/json/json_document.h"

#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc {

class JsonFields {
 public:
  using Json = nlohmann::json;
  using Names = std::vector<std::string>;
  explicit JsonFields(JsonDocument& document) : document_(document) {}

  static std::string join(const std::string& path, const std::string& key);
  /// "did you mean …", or what there is, or nothing where there is nothing or too much.
  static std::string hintFor(const std::string& word, const Names& known);

  void knownKeys(const Json& object, const std::string& path, const Names& known);
  /// Each element of the array `key` of the top object, with its path. One that is no object is said once and
  /// read as an empty object, whose missing members are then not said.
  void eachRow(const Json& object, const std::string& key,
               llvm::function_ref<void(const Json&, const std::string&)> read) {
    eachRow(object, "", key, read);
  }
  /// The same of an object that stands at `path`.
  void eachRow(const Json& object, const std::string& path, const std::string& key,
               llvm::function_ref<void(const Json&, const std::string&)> read);
  void wrongType(const std::string& path, const Json& value, const char* wanted);
  /// The member, or null after saying that it is missing if it is required.
  const Json* member(const Json& object, const std::string& path, const char* key, bool required);

  // Each leaves `out` as it is when there is no such member or it is wrong.
  void text(const Json& object, const std::string& path, const char* key, std::string& out,
            bool required = false);
  void number(const Json& object, const std::string& path, const char* key, double& out,
              bool required = false);
  void whole(const Json& object, const std::string& path, const char* key, int64_t& out);
  void whole(const Json& object, const std::string& path, const char* key, uint32_t& out);
  /// A number that limits: no limit is said by leaving it out, and 0 is a slip.
  void rate(const Json& object, const std::string& path, const char* key, double& out, bool required = false);
  void rateOf(const Json& value, const std::string& path, double& out);

 private:
  bool numberOf(const Json& value, const std::string& path, double& out);
  template <class Integer>
  void integer(const Json& object, const std::string& path, const char* key, Integer& out);
  JsonDocument& document_;
  bool quiet_ = false;
};

} // namespace dfc
