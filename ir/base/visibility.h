// Which names a shared libdfc.so exports: those of the public headers, whose namespace is marked. All else is
// compiled with hidden visibility.
#pragma once

/// Marks the namespace of a public header.
#define DFC_PUBLIC __attribute__((visibility("default")))
