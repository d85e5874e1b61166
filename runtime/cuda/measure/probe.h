// This host's GPUs as rows of a machine file, from the driver's description and from measurements.
#pragma once

#include "ir/machine/machine.h"

namespace dfc::cuda {

/// Adds `count` GPUs with their links and routes. Rates from clocks and widths; buses at the usual rates of
/// PCIe 5 and NVLink 4.
void addGpus(Machine& machine, int count);

/// Replaces the rates of the machine's GPUs, which are CUDA's in order, by measured ones:
///   - matmul rates by element type: products of 8192 x 8192 (f64 and f32: 4096), f32 within IEEE, and
///     products of equal results with a short inner dimension; both figures of Hockney's law
///     (ir/machine/hockney.h);
///   - memory bandwidth: device-to-device copies of 1 GiB, bytes read plus written;
///   - launch cost: 1000 dependent kernels of one thread in a CUDA graph, per kernel;
///   - launch cost of products by precision: the least of products of 32 x 32 to 128 x 128, one after another
///     in a CUDA graph, per product: none takes less;
///   - step overhead: 50 steps of one empty kernel, per step and beyond that kernel (step_overhead.h);
///   - links: copies of 256 MiB for the bandwidth, of 4 bytes for the latency, in each direction. Copies in
///     both directions, or to several GPUs, that slow one another down share a link.
/// Medians of 7. Takes seconds and gigabytes of GPU memory. Throws MachineError.
void measureGpus(Machine& machine);

} // namespace dfc::cuda
