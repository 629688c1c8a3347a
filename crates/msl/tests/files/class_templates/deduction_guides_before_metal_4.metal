// test check
template <typename T> struct Box { T value; };
template <typename T> Box(T) -> Box<T>;  // error: expected ';' after top level declarator
