// One name for Catch2: version 2 (Debian 12) is a single header, version 3 (Ubuntu 24.04) a library of many.
// Tests include this file and nothing of Catch2 directly. Matchers and generators come with it; Approx is in
// scope in both versions. What a case cannot check on this host it leaves with DFC_SKIP.
#pragma once

#if DFC_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

/// Ends the running case (from its own body, or the function that is its body) because this host lacks what
/// it needs, and says so; Catch2 2 has no such word. What remains of a case that is skipped in part only is
/// told with WARN("skipped: …"): the bundle's run_tests lists these lines.
#define DFC_SKIP(why)                                                                                        \
  do {                                                                                                       \
    WARN("skipped: " << (why));                                                                              \
    return;                                                                                                  \
  } while (false)
