// The rows of a machine out of a JSON document; each mistake becomes an error of the document. For
// ir/machine/machine_json.cpp only.
#pragma once

#include "ir/base/json/json_document.h"
#include "ir/machine/machine.h"

namespace dfc {

/// The machine as far as it could be read. Rows with mistakes keep defaults, so that indices match the file.
Machine machineFrom(JsonDocument& document);

} // namespace dfc
