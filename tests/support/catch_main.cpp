// The main() of every test executable. Catch2 3 links its own, so this file is then only the version's witness.
#if DFC_CATCH2_MAJOR < 3
#define CATCH_CONFIG_MAIN
#endif
#include "tests/support/catch.h"
