// test check
#include <metal_stdlib>
using namespace metal;

struct Iterator {
  device int *p;
  device int &operator*() { return *p; }
  thread Iterator &operator++() {
    ++p;
    return *this;
  }
  bool operator!=(Iterator other) const { return p != other.p; }
};
struct Iterated {
  device int *first;
  device int *last;
  Iterator begin() { return Iterator{first}; }
  Iterator end() { return Iterator{last}; }
};
struct Pointed {
  device int *p;
  uint n;
  device int *begin() const { return p; }
  device int *end() const { return p + n; }
};
struct Numbers {
  struct At {
    int n;
    int operator*() const { return n; }
    void operator++() { n++; }
    bool operator!=(At other) const { return n != other.n; }
  };
  int first, last;
  At begin() const { return At{first}; }
  At end() const { return At{last}; }
};
struct Neither { int a, b; };
struct Half {
  int a, b;
  int begin() { return a; }
};

kernel void k(device int *o) {
  Iterated iterated{o, o + 4};
  for (device int &x : iterated) x += 1;
  for (auto &x : iterated) x += 1;
  for (int x : Pointed{o, 4}) o[5] += x;
  for (int x : Numbers{1, 4}) o[6] += x;
  for (int x : Neither{1, 2}) o[0] = x;  // error: invalid range expression of type 'Neither'
  for (int x : Half{1, 2}) o[0] = x;  // error: invalid range expression of type 'Half'
}
