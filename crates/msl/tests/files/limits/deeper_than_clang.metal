// test check
constexpr int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
constant constexpr int too_deep = depth(600);  // error: must be a constant expression
constexpr int sum(int n) {
  int all = 0;
  for (int k = 0; k < n; k++) all += k & 3;
  return all;
}
constant constexpr int too_long = sum(2000000);  // error: must be a constant expression
