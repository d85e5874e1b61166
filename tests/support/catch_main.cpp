// The main() of every test executable under Catch2 2. Catch2 3 links its own, and this file is then empty.
#if DFC_CATCH2_MAJOR < 3
#define CATCH_CONFIG_MAIN
#endif
#include "tests/support/catch.h"

#if defined(__SANITIZE_THREAD__)
// libstdc++.so is not instrumented: the sanitizer does not see that exception_ptr counts its owners, and
// takes the end of the last one for a race with the reads of the others. Visible, since the sanitizer's
// library looks for it by name.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n"
         "race:std::__exception_ptr::__dest_thunk\n" // at the end of a catch block
         "race:whatOf\n";                            // in_flight_steps.cpp: reads a failure that others hold
}
#endif
