// test check
#include <metal_stdlib>
using namespace metal;

class Account {
  int balance;
  int secret() const { return balance; }
  static int shared() { return 1; }
  struct Hidden { int n; };
 public:
  Account(int b) : balance(b) {}
 protected:
  int guarded;
};
struct Derived : Account {
  Derived() : Account(1) {}
  int ok() const { return guarded; }
  int no() const { return balance; }  // error: 'balance' is a private member of 'Account'
};
class Locked { Locked(int n) {} };

kernel void refused(device int *out) {
  Account a(1);
  out[0] = a.balance;  // error: 'balance' is a private member of 'Account'
  out[1] = a.secret();  // error: 'secret' is a private member of 'Account'
  out[2] = Account::shared();  // error: 'shared' is a private member of 'Account'
  out[3] = a.guarded;  // error: 'guarded' is a protected member of 'Account'
  Locked l(1);  // error: private
}
