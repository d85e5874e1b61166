// The main() of every test executable under Catch2 2. Catch2 3 links its own, and this file is then empty.
#if DFC_CATCH2_MAJOR < 3
#define CATCH_CONFIG_MAIN
#endif
#include "tests/support/catch.h"
