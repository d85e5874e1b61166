// A library of custom functions in C, as an author would write one; the tests of `dfc run --custom` open it.
#include "runtime/custom/dfc_custom.h"

#include <stddef.h>

static const char* saxpy(const dfc_call* call) {
  const float* a = call->operands[0].data;
  const float* x = call->operands[1].data;
  const float* y = call->operands[2].data;
  float* result = call->results[0].data;
  for (int64_t i = 0; i < call->results[0].elements; ++i) {
    result[i] = a[0] * x[i] + y[i];
  }
  return NULL;
}

static const char* checkSaxpy(const dfc_call* call) {
  if (call->operandCount != 3 || call->resultCount != 1 || call->operands[0].rank != 0) {
    return "it takes a, x and y, with a scalar a, and gives one result";
  }
  for (int32_t i = 0; i < 3; ++i) {
    if (call->operands[i].element != DFC_F32 || call->operands[i].data != NULL) {
      return "it takes f32";
    }
  }
  return call->results[0].bytes == call->operands[1].bytes ? NULL : "the result is of another size than x";
}

static const char* fail(const dfc_call* call) {
  (void)call;
  return "out of paper";
}

static const dfc_function functions[] = {{"saxpy", saxpy, checkSaxpy}, {"fail", fail, NULL}};
static const dfc_library library = {DFC_CUSTOM_VERSION, 2, functions};

const dfc_library* dfc_custom_library(void) { return &library; }
