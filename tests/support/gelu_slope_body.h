// The body of a fused product that is multiplied by the slope of gelu's tanh form, as the gradient rule of
// gelu writes it and fuse_matmul leaves it.
#pragma once

#include <array>
#include <string_view>

namespace dfc::test {

/// As `withType` takes it. Registers 0 and 1 are the product and what the slope is taken of, 2 to 8
/// `geluSlopeScalars` in order; 9 is the clipped argument.
inline constexpr std::string_view geluSlopeBody =
    "clip:T %1 %2 %3; mul:T %9 %9; mul:T %10 %9; mul:T %4 %11; add:T %9 %12; mul:T %5 %13; tanh:T %14; "
    "mul:T %6 %10; add:T %7 %16; mul:T %5 %17; mul:T %15 %15; sub:T %7 %19; mul:T %9 %20; mul:T %21 %18; "
    "mul:T %8 %22; add:T %7 %15; mul:T %8 %24; add:T %25 %23; mul:T %0 %26";

/// The bounds, the cubic term's share, sqrt(2 / pi), three times the share, 1 and a half.
inline constexpr std::array geluSlopeScalars = {-12.0,        12.0, 0.044715, 0.7978845608028654,
                                                3 * 0.044715, 1.0,  0.5};

} // namespace dfc::test
