//! Properties of generated code, seen in the PTX.
