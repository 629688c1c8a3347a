// test check
// As in C: an alias of a class that is not declared yet declares it.
typedef struct Edge Edge;
struct Edge { int a; device Edge *next; };
typedef struct Other { int b; } Other;
typedef union Word Bits;
union Word { int i; float f; };
typedef struct Never Hidden;

kernel void k(device Edge *e, device Bits *bits) {
  struct Edge copy = e->next[0];
  e->a = copy.a + bits->i;
  Hidden h;  // error: incomplete type
}
