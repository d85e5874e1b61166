// What a session of Python does with its parameters.
#pragma once

#include "tools/python/module/session/open_session.h"

#include <nanobind/nanobind.h>

namespace dfc::python {

/// state, view, set_state, save, load, load_weights, set_weights, copy_state_from.
void bindSessionState(nanobind::class_<OpenSession>& session);

} // namespace dfc::python
