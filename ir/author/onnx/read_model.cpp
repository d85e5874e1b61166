// Messages of the format to structs. Fields that are not listed here mean nothing to dfc and are passed over,
// as the format wants it.
#include "ir/author/onnx/model.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

// Of graphs in graphs: far above what exporters write, and below what the stack holds.
constexpr int deepestNesting = 64;

// Calls `visit` for each field of a message.
template <class Visit>
void forEachField(WireReader reader, Visit visit) {
  while (const std::optional<WireField> field = reader.next()) {
    visit(*field);
  }
}

OnnxTensor::External externalOf(const std::vector<std::pair<std::string, std::string>>& entries) {
  OnnxTensor::External external;
  for (const auto& [key, value] : entries) {
    if (key == "location") {
      external.location = value;
    } else if (key == "offset" || key == "length") {
      int64_t number = 0;
      const bool digits =
          !value.empty() && value.size() < 19 &&
          std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!digits) {
        throw BadFile(fmt::format("external data with {} '{}', which is no number", key, value));
      }
      for (const char digit : value) {
        number = 10 * number + (digit - '0');
      }
      (key == "offset" ? external.offset : external.length) = number;
    }
  }
  return external;
}

std::pair<std::string, std::string> entryOf(const WireField& message) {
  std::pair<std::string, std::string> entry;
  forEachField(WireReader(message), [&](const WireField& field) {
    (field.number == 1 ? entry.first : entry.second) = field.number <= 2 ? field.text() : "";
  });
  return entry;
}

OnnxTensor tensorOf(WireReader reader) {
  OnnxTensor tensor;
  bool external = false;
  std::vector<std::pair<std::string, std::string>> entries;
  forEachField(reader, [&](const WireField& field) {
    switch (field.number) {
    case 1: addIntegers(field, tensor.dims); break;
    case 2: tensor.element = field.integer(); break;
    case 4:  // float_data
    case 5:  // int32_data
    case 7:  // int64_data
    case 10: // double_data
    case 11: // uint64_data
      tensor.numbers.push_back(field);
      break;
    case 8: tensor.name = field.text(); break;
    case 9: tensor.raw = field.message(); break;
    case 13: entries.push_back(entryOf(field)); break;
    case 14: external = field.integer() == 1; break;
    default: break;
    }
  });
  if (external) {
    tensor.external = externalOf(entries);
  }
  return tensor;
}

OnnxGraph graphOf(WireReader reader, int depth);

std::pair<std::string, OnnxAttribute> attributeOf(WireReader reader, int depth) {
  std::pair<std::string, OnnxAttribute> made;
  OnnxAttribute& attribute = made.second;
  forEachField(reader, [&](const WireField& field) {
    switch (field.number) {
    case 1: made.first = field.text(); break;
    case 2: attribute.real = field.real(); break;
    case 3: attribute.integer = field.integer(); break;
    case 4: attribute.text = field.text(); break;
    case 5:
      try {
        ExternalFiles none("");
        const OnnxTensor tensor = tensorOf(WireReader(field));
        attribute.tensor = literalOf(tensor, none);
        attribute.tensorElement = tensor.element;
      } catch (const Unsupported& reason) {
        attribute.refused = reason.what();
      }
      break;
    case 6: attribute.graph = std::make_shared<const OnnxGraph>(graphOf(WireReader(field), depth + 1)); break;
    case 7: addReals(field, attribute.reals); break;
    case 8: addIntegers(field, attribute.integers); break;
    case 9: attribute.texts.push_back(field.text()); break;
    case 10: attribute.refused = "a list of tensors"; break;
    case 11: attribute.refused = "a list of graphs"; break;
    case 15: attribute.refused = "a list of types"; break;
    case 14: attribute.refused = "a type"; break;
    case 21: attribute.reference = field.text(); break;
    case 22: attribute.refused = "a sparse tensor"; break;
    default: break;
    }
  });
  return made;
}

OnnxNode nodeOf(WireReader reader, int depth) {
  OnnxNode node;
  forEachField(reader, [&](const WireField& field) {
    switch (field.number) {
    case 1: node.inputs.push_back(field.text()); break;
    case 2: node.outputs.push_back(field.text()); break;
    case 3: node.name = field.text(); break;
    case 4: node.op = field.text(); break;
    case 5: node.attributes.insert(attributeOf(WireReader(field), depth)); break;
    case 7: node.domain = canonicalDomain(field.text()); break;
    case 8: node.overload = field.text(); break;
    default: break;
    }
  });
  return node;
}

OnnxDim dimOf(WireReader reader) {
  OnnxDim dim;
  forEachField(reader, [&](const WireField& field) {
    if (field.number == 1) {
      dim.length = field.integer();
    } else if (field.number == 2) {
      dim.name = field.text();
    }
  });
  return dim;
}

void readTensorType(WireReader reader, OnnxPort& port) {
  forEachField(reader, [&](const WireField& field) {
    if (field.number == 1) {
      port.element = field.integer();
    } else if (field.number == 2) {
      port.dims.emplace();
      forEachField(WireReader(field), [&](const WireField& dim) {
        if (dim.number == 1) {
          port.dims->push_back(dimOf(WireReader(dim)));
        }
      });
    }
  });
}

void readType(WireReader reader, OnnxPort& port) {
  forEachField(reader, [&](const WireField& field) {
    switch (field.number) {
    case 1: readTensorType(WireReader(field), port); break;
    case 4: port.other = "a sequence"; break;
    case 5: port.other = "a map"; break;
    case 8: port.other = "a sparse tensor"; break;
    case 9: port.other = "an optional"; break;
    default: break;
    }
  });
}

OnnxPort portOf(WireReader reader) {
  OnnxPort port;
  forEachField(reader, [&](const WireField& field) {
    if (field.number == 1) {
      port.name = field.text();
    } else if (field.number == 2) {
      readType(WireReader(field), port);
    }
  });
  return port;
}

OnnxGraph graphOf(WireReader reader, int depth) {
  if (depth > deepestNesting) {
    throw BadFile(fmt::format("byte {}: graphs within more than {} graphs", reader.offset(), deepestNesting));
  }
  OnnxGraph graph;
  forEachField(reader, [&](const WireField& field) {
    switch (field.number) {
    case 1: graph.nodes.push_back(nodeOf(WireReader(field), depth)); break;
    case 2: graph.name = field.text(); break;
    case 5: graph.initializers.push_back(tensorOf(WireReader(field))); break;
    case 11: graph.inputs.push_back(portOf(WireReader(field))); break;
    case 12: graph.outputs.push_back(portOf(WireReader(field))); break;
    case 15: graph.sparse = true; break;
    default: break;
    }
  });
  return graph;
}

void addOpset(WireReader reader, OpsetImports& opsets) {
  std::string domain;
  int64_t version = 0;
  forEachField(reader, [&](const WireField& field) {
    if (field.number == 1) {
      domain = canonicalDomain(field.text());
    } else if (field.number == 2) {
      version = field.integer();
    }
  });
  opsets[domain] = version;
}

OnnxFunction functionOf(WireReader reader) {
  OnnxFunction function;
  forEachField(reader, [&](const WireField& field) {
    switch (field.number) {
    case 1: function.name = field.text(); break;
    case 4: function.inputs.push_back(field.text()); break;
    case 5: function.outputs.push_back(field.text()); break;
    case 7: function.nodes.push_back(nodeOf(WireReader(field), 0)); break;
    case 9: addOpset(WireReader(field), function.opsets); break;
    case 10: function.domain = canonicalDomain(field.text()); break;
    case 11: function.defaults.insert(attributeOf(WireReader(field), 0)); break;
    case 13: function.overload = field.text(); break;
    default: break;
    }
  });
  return function;
}

} // namespace

std::string canonicalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

OnnxModel parseModel(std::shared_ptr<const MappedFile> file, const std::string& path) {
  OnnxModel model;
  model.path = path;
  model.file = std::move(file);
  OpsetImports opsets;
  bool hasGraph = false;
  forEachField(WireReader(model.file->bytes()), [&](const WireField& field) {
    switch (field.number) {
    case 7:
      model.graph = graphOf(WireReader(field), 0);
      hasGraph = true;
      break;
    case 8: addOpset(WireReader(field), opsets); break;
    case 25: model.functions.push_back(functionOf(WireReader(field))); break;
    default: break;
    }
  });
  if (!hasGraph) {
    throw BadFile("there is no graph in it");
  }
  const auto own = opsets.find("");
  model.opset = own == opsets.end() ? 0 : own->second;
  return model;
}

OnnxTensor parseTensor(Bytes bytes) { return tensorOf(WireReader(bytes)); }

} // namespace dfc::onnx
