// The names that a shared libdfc.so exports: those of the public headers, whose namespace is marked. All
// other names have hidden visibility.
#pragma once

/// Marks the namespace of a public header.
#define DFC_PUBLIC __attribute__((visibility("default")))
