// The target is Linux: code for systems of Apple is left out.
#pragma once

#define TARGET_OS_MAC 0
#define TARGET_OS_OSX 0
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS 0
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
#define TARGET_OS_VISION 0
#define TARGET_OS_SIMULATOR 0
#define TARGET_OS_MACCATALYST 0
#define TARGET_OS_LINUX 1

#if defined(__x86_64__)
#define TARGET_CPU_X86_64 1
#define TARGET_CPU_ARM64 0
#elif defined(__aarch64__)
#define TARGET_CPU_X86_64 0
#define TARGET_CPU_ARM64 1
#endif
