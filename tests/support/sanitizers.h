// Which sanitizer a test runs under: DFC_UNDER_ADDRESS_SANITIZER and DFC_UNDER_THREAD_SANITIZER, of GCC and
// of clang.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DFC_UNDER_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define DFC_UNDER_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(DFC_UNDER_ADDRESS_SANITIZER)
#define DFC_UNDER_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__) && !defined(DFC_UNDER_THREAD_SANITIZER)
#define DFC_UNDER_THREAD_SANITIZER
#endif
