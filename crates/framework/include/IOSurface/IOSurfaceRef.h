// The name of a surface that is shared between processes. There are none.
#pragma once

typedef struct __IOSurface *IOSurfaceRef;
