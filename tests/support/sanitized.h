// Whether a sanitizer is at work, which takes time and address space.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GROMA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GROMA_SANITIZED 1
#endif
#endif
#ifndef GROMA_SANITIZED
#define GROMA_SANITIZED 0
#endif
