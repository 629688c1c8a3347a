//! Calls: of functions, methods, operators, constructors, lambdas and function pointers.
//!
//! ```text
//! call ── arguments ── overload ── deduce ── chosen
//!  callee   as written   ranking      │        conversion of the arguments, the call itself
//!                                     └── deduce_param   template arguments from one parameter
//! associated: functions of the namespaces that the arguments belong to
//! operator_functions, constructors, function_values: other ways into overload resolution
//! copies: objects whose class says how they are copied
//! guides: arguments of class templates, from those of a constructor
//! ```

mod arguments;
mod associated;
mod call;
mod chosen;
mod constructors;
mod copies;
mod deduce;
mod deduce_param;
mod function_values;
mod guides;
mod operator_functions;
mod overload;
