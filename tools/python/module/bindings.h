// The parts of the module, one a file.
#pragma once

#include <nanobind/nanobind.h>

namespace dfc::python {

void bindTensor(nanobind::module_& module);          ///< Tensor: properties, operators, methods
void bindBuilder(nanobind::module_& module);         ///< Builder, Initialiser
void bindElementwise(nanobind::module_& module);     ///< element by element, formula ops among them
void bindReductions(nanobind::module_& module);      ///< sums, extremes, orders
void bindMovement(nanobind::module_& module);        ///< shapes, slices, gathers
void bindLayers(nanobind::module_& module);          ///< products, norms, convolutions, attention
void bindLosses(nanobind::module_& module);          ///< losses
void bindParameterLayers(nanobind::module_& module); ///< Layers
void bindDecoding(nanobind::module_& module);        ///< dynamic slices, draws, caches
void bindTraining(nanobind::module_& module);        ///< gradients, optimisers, loss scaling, collectives
void bindGraph(nanobind::module_& module);           ///< Graph and its text
void bindMachine(nanobind::module_& module);         ///< Machine, Calibration
void bindPlan(nanobind::module_& module);            ///< compile, Plan, simulation
void bindExplain(nanobind::module_& module);         ///< explain
void bindSession(nanobind::module_& module);         ///< Session, Pending
void bindCustom(nanobind::module_& module);          ///< custom ops
void bindFiles(nanobind::module_& module);           ///< array files, data sets
void bindOnnx(nanobind::module_& module);            ///< models of ONNX
void bindWeights(nanobind::module_& module);         ///< rename rules
void bindTrainer(nanobind::module_& module);         ///< trainings that can be interrupted

} // namespace dfc::python
