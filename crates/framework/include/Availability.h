// Everything that these headers declare is available: annotations have no effect.
#pragma once

// The version that NSProcessInfo reports.
#define __MAC_OS_X_VERSION_MIN_REQUIRED 150000

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
