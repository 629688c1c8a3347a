#include <metal_stdlib>
using namespace metal;

// Structs and classes. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

struct Point { int x, y; };
struct Segment { Point from, to; };

static int weigh(Segment s) { return s.from.x + 2 * s.from.y + 3 * s.to.x + 4 * s.to.y; }

PER_THREAD(nested_by_value) {
  Segment s = {{in[i], in[i] + 1}, {7, 4}};
  out[i] = weigh(s);
}

static Point moved(Point p) {
  p.x += 5;
  return p;
}

PER_THREAD(copies_are_independent) {
  Point a = {in[i], 0};
  Point b = a;
  b.x *= 9;
  Point c = moved(a);
  a.y = 0;
  out[i] = b.x + c.x;
}

static void add(thread Point *p, int n) { p->x += n; }
static void twice(thread Point &p) { p.x *= 2; p.y = 100; }

PER_THREAD(by_pointer_and_reference) {
  Point p = {in[i], 1};
  add(&p, 3);
  twice(p);
  out[i] = p.x + p.y;
}

static Point swapped(Point p) { return {p.y, p.x}; }
static Segment around(int x) { return Segment{{x, x + 2}, {x * 2, 0}}; }

PER_THREAD(returned_from_functions) {
  Segment s = around(in[i]);
  out[i] = swapped(s.from).x * 100 + around(in[i]).to.x;
}

class Counter {
 public:
  Counter(int start) : total(start) {}
  void add(int n) { total += n; }
  int value() const { return total; }
  thread Counter &chain(int n) { add(n); return *this; }

 private:
  int total;
};

PER_THREAD(methods) {
  Counter counter(20);
  for (int k = 1; k <= in[i] % 7; k++) counter.add(k);
  counter.chain(10).chain(20);
  out[i] = counter.value();
}

struct Complex {
  int re, im;
  Complex operator+(Complex other) const { return {re + other.re, im + other.im}; }
  Complex operator-() const { return {-re, -im}; }
  thread Complex &operator+=(Complex other) { re += other.re; im += other.im; return *this; }
  bool operator==(Complex other) const { return re == other.re && im == other.im; }
  int operator[](int k) const { return k == 0 ? re : im; }
  int operator()(int factor) const { return re + factor * im; }
};
static Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

PER_THREAD(operators) {
  Complex a = {in[i], 2}, b = {3, in[i]};
  Complex c = a * b;
  c += -a;
  bool same = a == Complex{3, 2};
  out[i] = c[0] + c[1] * 10 + (c(10) == c[0] + 10 * c[1] ? 0 : 5) + (same ? 100000 : 0);
}

struct Built {
  int a = 7;
  int b;
  Built() : b(1) {}
  Built(int n) : b(n) { b *= 2; }
  explicit Built(int n, int m) : a(n), b(m + 5) {}
};

PER_THREAD(constructors) {
  Built one(in[i]), two(in[i], 3), three;
  one.a += in[i];
  three = Built(0);
  out[i] = one.a + one.b + two.a + two.b - three.b;
}

struct Animal {
  int legs;
  int count(int n) const { return legs * n; }
};
struct Dog : Animal {
  int age;
  Dog(int years) : age(years) { legs = 2; }
  int years() const { return age + 10; }
};

PER_THREAD(inheritance) {
  Dog dog(in[i]);
  out[i] = dog.years() + dog.count(in[i]);
}

struct Celsius {
  int degrees;
  operator int() const { return degrees * 2; }
};

PER_THREAD(conversion_operator) {
  Celsius c = {in[i]};
  int n = c;
  out[i] = n + 1;
}

PER_THREAD(array_of_structs_per_lane) {
  Point points[4];
  for (int k = 0; k < 4; k++) points[k] = {k * 10, k * k};
  Point p = points[in[i] & 3];
  thread Point *q = &points[in[i] & 3];
  out[i] = p.x + q->y;
}

PER_THREAD(struct_in_loop_and_branch) {
  Point p = {0, 1};
  for (int k = 0; k < (in[i] & 15); k++) {
    if (k & 1) p.x += p.y;
    else p.y += 2;
  }
  out[i] = p.x * 1000 + p.y;
}

struct Shape {
  static constexpr constant int SIDES = 4;
  static int area(int side) { return side * SIDES; }
  enum Kind { SQUARE = 9 };
};

PER_THREAD(static_members_and_functions) { out[i] = Shape::area(in[i]) + Shape::SQUARE; }

union Bits {
  float number;
  int bits;
};

PER_THREAD(unions_of_the_same_size) {
  Bits b;
  b.number = float(in[i]);
  out[i] = b.bits;
}

struct Flags {
  uint low : 3;
  uint middle : 10;
  int sign : 5;
  uint rest : 14;
};

PER_THREAD(bit_fields) {
  Flags f = {};
  f.low = uint(in[i]);
  f.middle = uint(in[i]) * 20;
  f.sign = in[i];
  f.rest = 9;
  f.low++;
  f.sign -= 1;
  out[i] = int(f.low) + int(f.middle) * 10 + f.sign * 100000 + int(f.rest) + int(sizeof(Flags));
}

struct Packed {
  packed_int3 a;
  char c;
};

PER_THREAD(packed_members) {
  Packed p = {packed_int3(in[i], in[i] + 1, 0), 1};
  p.a[2] = in[i] + 2;
  p.c = 3;
  int3 v = p.a;
  out[i] = v.x + 2 * v.y + 3 * p.a.z + int(sizeof(Packed)) * 1000;
}

struct Everything {
  bool flag;
  char small;
  half h;
  float3 position;
  long big;
  uchar bytes[3];
  Point point;
};

static int total(const thread Everything &e) {
  return int(e.flag) + e.small + int(e.h) + int(e.position.z) + int(e.big) + e.bytes[1] + e.point.y;
}

PER_THREAD(struct_of_everything) {
  Everything e = {};
  e.flag = in[i] & 1;
  e.small = 2;
  e.h = half(in[i]);
  e.position = float3(0, 0, in[i]);
  e.big = long(in[i]);
  e.bytes[1] = 4;
  e.point = {1, 5};
  Everything copy = e;
  e.bytes[1] = 90;
  out[i] = total(copy);
}

struct Counted {
  int value, moves;
  Counted(int x) : value(x), moves(0) {}
  Counted(const thread Counted &other) : value(other.value), moves(other.moves) {}
  Counted(thread Counted &&other) : value(other.value), moves(other.moves + 1) {}
};

template <typename T> thread T &&give(thread T &x) { return static_cast<thread T &&>(x); }
static int kind(const thread Counted &) { return 1; }
static int kind(thread Counted &&) { return 2; }

// An object is moved from where it has no name, and copied where it has one.
PER_THREAD(moves) {
  Counted a(in[i]);
  Counted b = a;
  Counted c = give(b);
  thread Counted &&named = give(c);
  Counted d = named;
  out[i] = d.value + 100 * d.moves + 1000 * kind(d) + 10000 * kind(give(d)) + 100000 * kind(named);
}

static int sum_of(initializer_list<int> values) {
  int sum = int(values.size()) * 100;
  for (auto value : values) sum += value;
  return sum;
}

struct List {
  int sum;
  List(initializer_list<int> values) : sum(sum_of(values)) {}
};

PER_THREAD(brace_lists) {
  List list{in[i], 2, 3};
  out[i] = sum_of({in[i], 1}) + sum_of({}) + list.sum;
}

PER_THREAD(columns_of_matrices) {
  float2x3 m = float2x3(float3(in[i]), float3(1, 2, 3));
  m.columns[0].y = 5;
  float3 row = float3(1, 10, 100);
  row *= float3x3(float3(1), float3(2), float3(3));
  out[i] = int(m[0].x + m.columns[0][1] + (m + m).columns[1].z + row.y);
}

template <typename T> struct Wrapped {
  T value;
  template <typename U> friend Wrapped operator+(Wrapped a, U b) { return {T(a.value + b)}; }
};

struct Reader {
  int base;
  template <typename T> T read(int x) const { return T(0); }
  template <> int read(int x) const { return base + x; }
  template <> float read(int x) const { return base * x; }
};

using Named = struct Named { int x; };

// A friend template of each instance, and specializations inside of a class.
PER_THREAD(templates_in_classes) {
  Wrapped<int> a = {in[i]};
  Wrapped<float> b = {0.5f};
  Reader reader = {3};
  Named named = {7};
  out[i] = (a + 1).value + int((b + 2).value * 10) + reader.read<int>(4) + int(reader.read<float>(5)) + named.x;
}

struct First { int first; };
struct Second {
  short second;
  int get() const thread { return second; }
};
struct Both : First, Second { int own; };
template <typename T> struct Doubled {
  int twice() const thread { return 2 * static_cast<const thread T &>(*this).value(); }
};
struct Holder : First, Doubled<Holder> {
  int held;
  int value() const thread { return held; }
};

static int behind(const thread Second *p) { return p ? p->second : -1; }

// A pointer to a base class that is not the first one is another address.
PER_THREAD(pointers_to_second_bases) {
  Both both;
  both.first = 1;
  both.second = short(in[i]);
  both.own = 3;
  thread Second *pointer = &both;
  pointer->second += 5;
  thread Both *derived = &both;
  thread Second *from_variable = derived;
  from_variable->second += 5;
  thread Both *none = nullptr;
  thread Both &again = static_cast<thread Both &>(*pointer);
  Holder holder;
  holder.held = 8;
  int r = both.first + both.second + behind(derived) + 100 * behind(none) + 1000 * again.own;
  r += 10000 * static_cast<thread Both *>(from_variable)->own + holder.twice() + (pointer == derived ? 7 : 0);
  out[i] = r + (in[i] & 1 ? pointer : derived)->get();
}

struct Bound {
  thread int &target;
  Bound(thread int &target) : target(target) { this->target += 1; }
};
template <typename... T> struct BoundByPack {
  thread int &target;
  BoundByPack(thread T &...targets) : target(targets...) {}
};

// References that parentheses bind, as members and as variables.
PER_THREAD(references_in_parentheses) {
  int a = in[i], b = 0;
  Bound bound(a);
  Bound copy = bound;
  copy.target += 10;
  thread int &plain(b);
  plain += 100;
  BoundByPack<int> by_pack(b);
  by_pack.target += 1000;
  out[i] = a + b;
}

struct Record {
  int count;
  float weight;
  union { int word; float number; };
  int times(int n) const { return count * n; }
  int plus(int n) const { return count + n; }
  void reset(int n) { count = n; }
};
struct Tagged { long tag; };
struct Entry : Tagged, Record { short own; };

template <typename T, typename M> static M member_of(const thread T &object, M T::*member) { return object.*member; }
template <int Record::*M> static int fixed_member(Record record) { return record.*M; }
template <int (Record::*F)(int) const> static int fixed_method(const thread Record &record) { return (record.*F)(5); }

// Pointers to members that are known, and those that each thread chooses.
PER_THREAD(pointers_to_members) {
  Record record = {};
  record.count = in[i];
  record.weight = 2.5f;
  record.word = 1000;
  int Record::*chosen = in[i] & 1 ? &Record::count : &Record::word;
  thread Record *pointer = &record;
  pointer->*chosen += 3;
  int r = record.*chosen + member_of(record, &Record::count) + fixed_member<&Record::word>(record);
  r += int(record.*&Record::weight * 2);
  Entry entry = {};
  entry.tag = -1;
  entry.count = 7;
  entry.own = 30;
  int Entry::*inherited = chosen;
  entry.*inherited += 20;
  short Entry::*own = &Entry::own;
  r += entry.count * 10 + entry.word + entry.*own;
  int Record::*none = nullptr;
  int Entry::*still_none = none;
  r += none == nullptr && still_none == nullptr && chosen != none && inherited ? 10000 : 0;
  int (Record::*method)(int) const = in[i] & 2 ? &Record::times : &Record::plus;
  void (Record::*reset)(int) = &Record::reset;
  (pointer->*reset)(in[i]);
  out[i] = r + (record.*method)(4) * 100000 + fixed_method<&Record::plus>(record) * 2;
}
