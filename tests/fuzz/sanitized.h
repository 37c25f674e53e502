/* sanitized.h - how much slower sanitizers make a target that measures its CPU time. */
#ifndef TALARIA_TESTS_FUZZ_SANITIZED_H
#define TALARIA_TESTS_FUZZ_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 10 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif
#else
enum { SLOWER = 1 };
#endif

#endif
