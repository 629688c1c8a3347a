//! The constant evaluator: an interpreter of the checked program, for `constexpr`, array lengths, template arguments,
//! case labels and globals.
//!
//! ```text
//! statement ── expression ──┬── operators ── number ── float      one component, rounded
//!                           ├── objects, pointers ── memory       objects, and locations in them
//!                           └── builtins                          functions of the standard library
//! ```
//!
//! Evaluation never panics, overflows the stack or runs forever: a step and every part of a copied value costs one of
//! [`STEP_LIMIT`], calls nest up to [`CALL_LIMIT`], and evaluation that nests deeply moves to a thread with a large
//! stack.
//!
//! **Invariant:** it depends on the program and its types, not on the checker. A call of a function whose body is not
//! checked yet fails with [`Failure::NeedsBody`]; the caller checks that body and evaluates again.

mod builtins;
mod expression;
pub(crate) mod float;
mod memory;
mod number;
mod objects;
mod operators;
mod pointers;
mod statement;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use number::zero_value;
pub(crate) use number::{convert, fits};

use crate::program::{Expr, Function, FunctionId, GlobalId, Local, LocalId, Program, Value};
use crate::source::Span;
use crate::types::{Ty, TyKind};
use memory::{Location, Memory, Missing, Root, Slot, Step, WriteError};
use std::collections::HashMap;

/// Reason that an expression has no constant value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Failure {
    /// It is not a constant expression.
    NotConstant {
        /// The expression that is not constant.
        span: Span,
        /// Why, in clang's words.
        reason: String,
    },
    /// It calls a function whose body is not checked yet: check that one first and try again.
    NeedsBody(FunctionId),
    /// It takes too many steps, or nests too deeply.
    TooLong {
        /// The expression that hit the limit.
        span: Span,
    },
}

/// The local variables around an expression.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Parameters and variables, by [`LocalId`].
    pub(crate) locals: &'a [Local],
    /// Those that are parameters.
    pub(crate) params: &'a [LocalId],
    /// The values of those that are constants.
    pub(crate) known: &'a rustc_hash::FxHashMap<LocalId, Value>,
    /// In a lambda, the values of captured constants, by field of the closure, which is `this`.
    pub(crate) captures: Option<&'a [Option<Value>]>,
    /// Functions need not be `constexpr`: the expression initializes a variable before kernels run.
    pub(crate) is_dynamic: bool,
}

/// The values of function constants and of globals that depend on them, in a pipeline.
pub(crate) type Specialization = HashMap<GlobalId, Value>;

/// As [`evaluate_in`], for an expression without local variables.
#[cfg(test)]
pub(crate) fn evaluate(program: &Program, expr: &Expr) -> Result<Value, Failure> {
    run(program, None, None, expr)
}

/// The constant value of an expression in a function. [`Value::Unknown`] if it depends on an unknown value, or an error
/// in it was reported; an empty aggregate for `void`.
pub(crate) fn evaluate_in(program: &Program, scope: Scope<'_>, expr: &Expr) -> Result<Value, Failure> {
    run(program, Some(scope), None, expr)
}

/// As [`evaluate_in`], outside of functions, with values for function constants. Constants without one are not set.
pub(crate) fn evaluate_with(
    program: &Program,
    specialization: &Specialization,
    expr: &Expr,
) -> Result<Value, Failure> {
    run(program, None, Some(specialization), expr)
}

fn run<'p>(
    program: &'p Program,
    scope: Option<Scope<'p>>,
    specialization: Option<&'p Specialization>,
    expr: &'p Expr,
) -> Result<Value, Failure> {
    let mut machine = Machine {
        program,
        scope,
        specialization,
        memory: Memory::default(),
        frames: vec![Frame { function: None, locals: HashMap::new() }],
        statements: 0,
        steps: 0,
        depth: 0,
    };
    let exported = machine.value(expr).and_then(|slot| {
        memory::export(&program.types, slot, expr.ty.ty).map_err(|reason| not_constant(expr.span, reason))
    });
    match exported {
        Ok(value) => Ok(value),
        Err(Interrupt::Unknown) => Ok(Value::Unknown),
        Err(Interrupt::Failure(failure)) => Err(failure),
    }
}

/// The most statements an evaluation may execute, as in clang.
const STATEMENT_LIMIT: u64 = 1 << 20;
/// The most expressions, statements and parts of objects, which clang does not count.
const STEP_LIMIT: u64 = 1 << 24;
/// The deepest nesting of calls, as in clang.
const CALL_LIMIT: usize = 512;
/// From this depth of nested expressions and statements on, evaluation has a stack of its own, of [`STACK_SIZE`].
const INLINE_DEPTH: u32 = 64;
/// The deepest nesting of expressions and statements, over all calls.
const DEPTH_LIMIT: u32 = 8 * 1024;
/// Room for [`DEPTH_LIMIT`], without optimization. The system provides only what is used of it.
const STACK_SIZE: usize = 64 << 20;

/// Reason to end an evaluation early.
#[derive(Debug)]
enum Interrupt {
    /// It has no value.
    Failure(Failure),
    /// Control depends on an unknown value, so the result is unknown, too.
    Unknown,
}

type Outcome<T> = Result<T, Interrupt>;

fn not_constant(span: Span, reason: impl Into<String>) -> Interrupt {
    Interrupt::Failure(Failure::NotConstant { span, reason: reason.into() })
}

fn too_long(span: Span) -> Interrupt {
    Interrupt::Failure(Failure::TooLong { span })
}

/// An active function; the outermost frame is that of the expression itself.
struct Frame {
    function: Option<FunctionId>,
    /// The objects of its parameters and variables.
    locals: HashMap<LocalId, usize>,
}

struct Machine<'p> {
    program: &'p Program,
    scope: Option<Scope<'p>>,
    specialization: Option<&'p Specialization>,
    memory: Memory,
    frames: Vec<Frame>,
    statements: u64,
    steps: u64,
    depth: u32,
}

impl<'p> Machine<'p> {
    /// Counts `steps`.
    fn charge(&mut self, span: Span, steps: u64) -> Outcome<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > STEP_LIMIT { Err(too_long(span)) } else { Ok(()) }
    }

    /// Counts a statement.
    fn charge_statement(&mut self, span: Span) -> Outcome<()> {
        self.statements += 1;
        if self.statements > STATEMENT_LIMIT { Err(too_long(span)) } else { Ok(()) }
    }

    /// Goes one level deeper: all recursion of the interpreter passes here.
    fn deeper<T: Send>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Outcome<T> + Send) -> Outcome<T> {
        self.charge(span, 1)?;
        if self.depth >= DEPTH_LIMIT {
            return Err(too_long(span));
        }
        self.depth += 1;
        let outcome = if self.depth == INLINE_DEPTH { self.on_large_stack(span, run) } else { run(self) };
        self.depth -= 1;
        outcome
    }

    #[inline(never)]
    fn on_large_stack<T: Send>(
        &mut self,
        span: Span,
        run: impl FnOnce(&mut Self) -> Outcome<T> + Send,
    ) -> Outcome<T> {
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(STACK_SIZE);
            match builder.spawn_scoped(scope, || run(self)) {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(_) => Err(too_long(span)),
            }
        })
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the outermost frame stays")
    }

    /// The location of a variable. One whose declaration was jumped over is uninitialized.
    fn local(&mut self, id: LocalId, span: Span) -> Outcome<Location> {
        let program = self.program;
        if let Some(&object) = self.frame().locals.get(&id) {
            return Ok(Location::new(Root::Object(object)));
        }
        let (ty, value) = match self.frame().function {
            Some(function) => {
                let local = program.function(function).locals.get(id.0 as usize);
                (local.ok_or_else(|| not_constant(span, SUBEXPRESSION))?.ty.ty, Slot::Uninit)
            }
            None => match self.closure(id) {
                Some(closure) => closure,
                None => self.outer_local(id, span)?,
            },
        };
        let object = self.memory.add(ty, value);
        self.frame().locals.insert(id, object);
        Ok(Location::new(Root::Object(object)))
    }

    /// The type and value of `this` in a lambda: a closure in which captured constants have their values.
    fn closure(&mut self, id: LocalId) -> Option<(Ty, Slot)> {
        let scope = self.scope?;
        let this = scope.locals.get(id.0 as usize).filter(|local| local.name == "this")?.ty.ty;
        let class = self.program.types.pointee(this)?.ty;
        let fields = &self.program.types.struct_(self.program.types.struct_id(class)?).fields;
        let captures = scope.captures?;
        let mut slots = Vec::new();
        for (field, known) in fields.iter().zip(captures) {
            let value = known.clone().map_or(Slot::Uninit, Slot::from);
            slots.push(match *self.program.types.kind(field.ty.ty) {
                TyKind::Reference { to, .. } => {
                    let object = self.memory.add(to.ty, value);
                    Slot::Address(Location::new(Root::Object(object)))
                }
                _ => value,
            });
        }
        let object = self.memory.add(class, Slot::Aggregate(slots));
        Some((this, Slot::Address(Location::new(Root::Object(object)))))
    }

    /// The type and value of a variable around the expression.
    fn outer_local(&self, id: LocalId, span: Span) -> Outcome<(Ty, Slot)> {
        let scope = self.scope;
        let local = scope.and_then(|scope| Some((scope, scope.locals.get(id.0 as usize)?)));
        let Some((scope, local)) = local else {
            return Err(not_constant(
                span,
                "read of non-constexpr variable is not allowed in a constant expression",
            ));
        };
        let name = &local.name;
        match scope.known.get(&id) {
            Some(value) => Ok((local.ty.ty, Slot::from(value.clone()))),
            // There is nothing in it to read.
            None if self.program.types.is_empty_class(local.ty.ty) => Ok((local.ty.ty, Slot::Uninit)),
            None if scope.params.contains(&id) && name == "this" => Err(not_constant(
                span,
                "implicit use of 'this' pointer is only allowed within the evaluation of a call to a 'constexpr' \
                 member function",
            )),
            None if scope.params.contains(&id) => Err(not_constant(
                span,
                format!("function parameter '{name}' with unknown value cannot be used in a constant expression"),
            )),
            None => Err(not_constant(
                span,
                format!("read of non-constexpr variable '{name}' is not allowed in a constant expression"),
            )),
        }
    }

    fn load(&mut self, place: &Location, ty: Ty, span: Span) -> Outcome<Slot> {
        let read = match place.root {
            Root::Object(object) => self.memory.read(object, &place.path),
            Root::Global(id) => self.load_global(id, &place.path, span)?,
        };
        let slot = read.map_err(|missing: Missing| not_constant(span, missing.reason("read")))?;
        self.charge(span, slot.size() - 1)?;
        let types = &self.program.types;
        let may_be_empty = types.struct_id(ty).is_some() || matches!(types.kind(ty), TyKind::Array { .. });
        if slot == Slot::Uninit && !may_be_empty {
            return Err(not_constant(span, UNINITIALIZED));
        }
        Ok(slot)
    }

    fn load_global(&self, id: GlobalId, path: &[Step], span: Span) -> Outcome<Result<Slot, Missing>> {
        let global = self.program.global(id);
        let name = &global.name;
        if global.is_dynamic && !self.is_dynamic() {
            return Err(not_constant(span, format!("initializer of '{name}' is not a constant expression")));
        }
        if let Some(value) = &global.value {
            return Ok(memory::read_global(value, path));
        }
        if let Some(value) = self.specialization.and_then(|values| values.get(&id)) {
            return Ok(memory::read_global(value, path));
        }
        if global.function_constant.is_some() {
            return Err(not_constant(
                span,
                format!("function constant '{name}' is not known until a pipeline is made"),
            ));
        }
        if global.init.is_some() {
            return Err(not_constant(
                span,
                format!("'{name}' depends on a function constant that is not known until a pipeline is made"),
            ));
        }
        // An error in its initializer was reported.
        Err(Interrupt::Unknown)
    }

    fn store(&mut self, place: &Location, value: Slot, span: Span) -> Outcome<()> {
        let Root::Object(object) = place.root else {
            return Err(not_constant(
                span,
                "a constant expression cannot modify an object that is visible outside that expression",
            ));
        };
        let limit = STEP_LIMIT.saturating_sub(self.steps);
        match self.memory.write(&self.program.types, object, &place.path, value, limit) {
            Ok(made) => self.charge(span, made),
            Err(WriteError::TooLarge) => Err(too_long(span)),
            Err(WriteError::Unknown) => Err(Interrupt::Unknown),
            Err(WriteError::Missing(missing)) => Err(not_constant(span, missing.reason("assignment"))),
        }
    }

    /// Calls a function with a body, or a builtin.
    fn call(&mut self, id: FunctionId, args: Vec<Slot>, span: Span) -> Outcome<Slot> {
        let program = self.program;
        let function: &Function = program.function(id);
        if let Some(name) = &function.builtin
            && let Some(result) = builtins::call(&program.types, function, name, &args)
        {
            return result.map_err(|reason| not_constant(span, reason));
        }
        if function.builtin.is_none() && !function.is_constexpr && !self.is_dynamic() {
            return Err(not_constant(span, non_constexpr(&function.name)));
        }
        let Some(body) = &function.body else {
            return Err(match &function.builtin {
                Some(_) => not_constant(span, non_constexpr(&function.name)),
                None => Interrupt::Failure(Failure::NeedsBody(id)),
            });
        };
        if args.len() != function.params.len() {
            return Err(not_constant(span, SUBEXPRESSION));
        }
        if self.frames.len() > CALL_LIMIT {
            return Err(not_constant(
                span,
                format!("constexpr evaluation exceeded maximum depth of {CALL_LIMIT} calls"),
            ));
        }
        let first_object = self.memory.next();
        let mut frame = Frame { function: Some(id), locals: HashMap::new() };
        for (&param, value) in function.params.iter().zip(args) {
            let ty = function.locals.get(param.0 as usize).map_or(Ty::ERROR, |local| local.ty.ty);
            frame.locals.insert(param, self.memory.add(ty, value));
        }
        self.frames.push(frame);
        let flow = self.block(body);
        self.frames.pop();
        self.memory.remove_from(first_object);
        match flow? {
            statement::Flow::Return(value) => Ok(value),
            _ if function.result == Ty::VOID => Ok(Slot::Uninit),
            _ => Err(not_constant(span, "control reached end of constexpr function")),
        }
    }
}

const SUBEXPRESSION: &str = "subexpression not valid in a constant expression";
const UNINITIALIZED: &str = "read of uninitialized object is not allowed in a constant expression";

fn non_constexpr(name: &str) -> String {
    format!("non-constexpr function '{name}' cannot be used in a constant expression")
}
