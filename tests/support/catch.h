// One name for Catch2: version 2 (Debian 12) is a single header, version 3 (Ubuntu 24.04) a library of many.
// Tests include this file and nothing of Catch2 directly. Matchers and generators come with it; Approx is in
// scope in both versions.
#pragma once

#if DFC_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
