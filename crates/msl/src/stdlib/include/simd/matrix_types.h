// <simd/matrix_types.h>: see <simd/simd.h>.
#pragma once
#include <simd/simd.h>
