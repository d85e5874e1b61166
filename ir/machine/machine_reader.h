// The rows of a machine out of a JSON document; each mistake becomes an error of the document. For
// ir/machine/machine_json.cpp only.
#pragma once

#include "ir/base/json/json_document.h"
#include "ir/machine/machine.h"

namespace dfc {

/// What could be read; rows with mistakes keep their defaults, so that indices stay those of the file.
Machine machineFrom(JsonDocument& document);

} // namespace dfc
