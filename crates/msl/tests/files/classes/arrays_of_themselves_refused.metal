// test check
// Arrays whose elements are the class that they are a member of: its layout would have no end.
struct List { List next[2]; int x; };  // error: array has incomplete element type 'List'
struct Later;
struct Early { Later rows[2][3]; };  // error: array has incomplete element type 'Later'
template <typename T, int N> struct Tile { Tile v[N]; T x; };  // error: array has incomplete element type 'Tile<int, 4>'
struct Pointers { thread Pointers *next[2]; };
kernel void k(device int *o) {
    Pointers p = {{nullptr, nullptr}};
    Tile<int, 4> tile;
    o[0] = p.next[0] == nullptr;
    o[1] = tile.x;
}
