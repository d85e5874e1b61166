/// @file
/// All of dfc for a program: `#include <dfc/dfc.h>` and link `dfc::dfc`.
///
/// A graph is written with a Builder (dfc/builder.h, dfc/dsl.h) or read from a file (dfc/parse.h); it is
/// planned for a Machine by compile() and run by a Session, or both at once by open(). Functions that can
/// meet an author's mistake give a Result; Result::orThrow makes an exception of it.
#pragma once

#include "compiler/compile.h"
#include "compiler/cost/calibrated_cost_model.h"
#include "compiler/cost/cost_model.h"
#include "compiler/simulate/simulate.h"
#include "ir/author/collectives.h"
#include "ir/author/composites.h"
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/base/diagnostic.h"
#include "ir/draw/dot.h"
#include "ir/graph/custom_function.h"
#include "ir/graph/literal.h"
#include "ir/machine/machine.h"
#include "ir/plan/executable.h"
#include "ir/plan/trace.h"
#include "runtime/checkpoint.h"
#include "runtime/custom/custom_library.h"
#include "runtime/data/batches.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/data/shuffle.h"
#include "runtime/errors.h"
#include "runtime/files/idx.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "runtime/predict/predict.h"
#include "runtime/session.h"
#include "tools/library/host_machine.h"
#include "tools/library/onnx.h"
#include "tools/library/open.h"
