// The C interface of a library whose functions `custom` ops call: `dfc run GRAPH --custom libmine.so`, and in
// C++ openCustomLibrary (<dfc/custom_library.h>). The library is a shared object that exports
// dfc_custom_library:
//
//     static const char* twice(const dfc_call* call) {
//       const float* x = call->operands[0].data;
//       float* y = call->results[0].data;
//       for (int64_t i = 0; i < call->results[0].elements; ++i) y[i] = 2 * x[i];
//       return NULL;
//     }
//     static const dfc_function functions[] = {{"twice", twice, NULL}};
//     static const dfc_library library = {DFC_CUSTOM_VERSION, 1, functions};
//     const dfc_library* dfc_custom_library(void) { return &library; }
//
// Compile it with `cc -shared -fPIC -o libmine.so mine.c`. Everything that the structs point to belongs to
// the side that made it: a library keeps its own as long as the process lives, and dfc's is there during the
// call.
//
// Threads: functions are called on the threads of queues, several at once.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming, modernize-use-using): C

/// The version of this interface.
#define DFC_CUSTOM_VERSION 1

/// Element types.
typedef enum dfc_element {
  DFC_F32 = 0,  ///< float
  DFC_F64 = 1,  ///< double
  DFC_F16 = 2,  ///< IEEE 754 binary16
  DFC_BF16 = 3, ///< bfloat16
  DFC_I32 = 4,  ///< int32_t
  DFC_I64 = 5,  ///< int64_t
  DFC_U8 = 6,   ///< uint8_t
  DFC_BOOL = 7  ///< a byte, 0 or 1
} dfc_element;

/// An operand or a result. Strides are dense: row-major, without padding.
typedef struct dfc_tensor {
  void* data;          ///< aligned as its elements; null for a check. An operand's is only read
  const int64_t* dims; ///< the lengths of the axes, `rank` of them
  int32_t rank;        ///< 0 for a scalar, at most 8
  int32_t element;     ///< a dfc_element
  int64_t elements;    ///< the product of the dims, 1 for a scalar
  int64_t bytes;       ///< of all elements
} dfc_tensor;

/// One call.
typedef struct dfc_call {
  const char* op;             ///< the name of the op in the graph
  const dfc_tensor* operands; ///< `operandCount` of them
  const dfc_tensor* results;  ///< `resultCount` of them, whose elements the function writes all
  int32_t operandCount;       ///< how many operands
  int32_t resultCount;        ///< how many results, one at least
} dfc_call;

/// What a call comes to: null where all is well, else why it failed, which is read before the next call on
/// the same thread. The step ends with that message.
typedef const char* (*dfc_run)(const dfc_call* call);

/// One function of a library.
typedef struct dfc_function {
  const char* name; ///< as `function="name"` says it in a graph
  dfc_run run;      ///< computes the results
  dfc_run check;    ///< looks at types before the first step, without data; null: all are taken
} dfc_function;

/// All functions of a library.
typedef struct dfc_library {
  uint32_t version;              ///< DFC_CUSTOM_VERSION
  uint32_t functionCount;        ///< how many functions
  const dfc_function* functions; ///< `functionCount` of them
} dfc_library;

/// What a library exports, called once.
__attribute__((visibility("default"))) const dfc_library* dfc_custom_library(void);

// NOLINTEND(readability-identifier-naming, modernize-use-using)

#ifdef __cplusplus
}
#endif
