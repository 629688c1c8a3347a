// test check
#pragma once
struct Circle { float radius; };
inline float area(Circle c) { return 3.14f * c.radius * c.radius; }
