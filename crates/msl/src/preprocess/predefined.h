// Macros of clang for every program on an Apple GPU, apart from those that depend on the language version and
// the math mode.
#define __METAL__ 1
#define __METAL_MACOS__ 1
#define __APPLE__ 1
#define __AIR64__ 1
#define __clang__ 1
#define __clang_major__ 17
#define __clang_minor__ 0
#define __clang_patchlevel__ 0
#define __GNUC__ 4
#define __GNUC_MINOR__ 2
#define __VERSION__ "Metalworks"
#define __LITTLE_ENDIAN__ 1
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __BYTE_ORDER__ 1234
#define __CHAR_BIT__ 8
#define __SCHAR_MAX__ 127
#define __SHRT_MAX__ 32767
#define __INT_MAX__ 2147483647
#define __LONG_MAX__ 9223372036854775807L
#define __INT8_MAX__ 127
#define __UINT8_MAX__ 255
#define __INT16_MAX__ 32767
#define __UINT16_MAX__ 65535
#define __INT32_MAX__ 2147483647
#define __UINT32_MAX__ 4294967295U
#define __INT64_MAX__ 9223372036854775807L
#define __UINT64_MAX__ 18446744073709551615UL
#define __SIZE_MAX__ 18446744073709551615UL
#define __SIZEOF_SHORT__ 2
#define __SIZEOF_INT__ 4
#define __SIZEOF_LONG__ 8
#define __SIZEOF_FLOAT__ 4
#define __SIZEOF_POINTER__ 8
#define __SIZEOF_SIZE_T__ 8
#define __INT8_TYPE__ signed char
#define __UINT8_TYPE__ unsigned char
#define __INT16_TYPE__ short
#define __UINT16_TYPE__ unsigned short
#define __INT32_TYPE__ int
#define __UINT32_TYPE__ unsigned int
#define __INT64_TYPE__ long
#define __UINT64_TYPE__ unsigned long
#define __SIZE_TYPE__ unsigned long
#define __PTRDIFF_TYPE__ long
#define __FLT_RADIX__ 2
#define __FLT_DIG__ 6
#define __FLT_MANT_DIG__ 24
#define __FLT_MAX_EXP__ 128
#define __FLT_MIN_EXP__ (-125)
#define __FLT_MAX_10_EXP__ 38
#define __FLT_MIN_10_EXP__ (-37)
#define __FLT_MAX__ 3.40282347e+38F
#define __FLT_MIN__ 1.17549435e-38F
#define __FLT_EPSILON__ 1.19209290e-7F
#define __FLT_DENORM_MIN__ 1.40129846e-45F
#define __FLT16_DIG__ 3
#define __FLT16_MANT_DIG__ 11
#define __FLT16_MAX_EXP__ 16
#define __FLT16_MIN_EXP__ (-13)
#define __FLT16_MAX__ 65504.0h
#define __FLT16_MIN__ 6.103515625e-5h
#define __FLT16_EPSILON__ 9.765625e-4h
#define __HALF_DIG__ 3
#define __HALF_MANT_DIG__ 11
#define __HALF_MAX_EXP__ 16
#define __HALF_MIN_EXP__ (-13)
#define __HALF_MAX__ 65504.0h
#define __HALF_MIN__ 6.103515625e-5h
#define __HALF_EPSILON__ 9.765625e-4h
#define __HALF_DENORM_MIN__ 5.9604644775390625e-8h
