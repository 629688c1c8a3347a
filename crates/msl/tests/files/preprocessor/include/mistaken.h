// test check
int mistaken() { return undeclared; }  // error: undeclared identifier 'undeclared'
