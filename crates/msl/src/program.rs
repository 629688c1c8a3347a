//! The checked program that a code generator walks: no templates, no overloads, no implicit conversions.
//!
//! Every expression has a type. Those with [`Expr::is_place`] denote memory ([`ExprKind::Load`] reads it); all others
//! are values. A reference is an address: a local, field or parameter of reference type holds one, and the program
//! dereferences it explicitly. Methods are functions whose first parameter, `this`, is a pointer to the object.
//! Function calls are direct but for those through a pointer variable; functions may call themselves, directly or
//! through others. Only code that a kernel can reach needs to be generated.

use crate::preprocess::{LanguageVersion, MathFunctions};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, Types};
use smol_str::SmolStr;
use std::sync::OnceLock;

pub use crate::lex::token::Pragma;
pub use crate::parse::ast::{BinaryOp, Stage};

/// A function in a [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionId(pub u32);

/// A variable at namespace scope in a [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct GlobalId(pub u32);

/// A parameter or variable of a [`Function`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LocalId(pub u32);

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Version of the language that it is written in.
    pub std: LanguageVersion,
    /// Variant of the mathematical functions; `None` for that of the math mode.
    pub math_functions: Option<MathFunctions>,
    /// Its types.
    pub types: Types,
    /// Its functions. Those that only templates mention and nothing calls have no body.
    pub functions: Vec<Function>,
    /// Constants and function constants.
    pub globals: Vec<Global>,
    /// Functions that a host can call: kernels and graphics functions, in the order of the source.
    pub entry_points: Vec<EntryPoint>,
    /// Functions that a host can link to kernels, in the order of the source.
    pub visible_functions: Vec<VisibleFunction>,
    /// Functions of ray tracing among [`Program::entry_points`].
    pub intersection_functions: Vec<IntersectionFunction>,
    /// Functions with external linkage, in the order of their numbers. Those without a body may be defined in a dynamic
    /// library, and those with one may be called from other libraries.
    pub external_functions: Vec<FunctionId>,
    /// Function constants as reflection lists them; computed on first use.
    pub(crate) function_constants: OnceLock<Vec<crate::reflect::FunctionConstant>>,
}

impl Program {
    /// The function with this id.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The global with this id.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }

    /// The function constant `c` if `call` is `is_function_constant_defined(c)`.
    pub(crate) fn constant_tested_by(&self, call: &Expr) -> Option<GlobalId> {
        let ExprKind::Call { function, args } = &call.kind else { return None };
        let builtin = self.function(*function).builtin.as_deref()?;
        (builtin == "is_function_constant_defined").then_some(())?;
        args.first().and_then(Expr::only_global)
    }

    /// The kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &EntryPoint> {
        self.entry_points.iter().filter(|entry| entry.stage == Stage::Kernel)
    }
}

/// A function without template parameters.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name as in source code: `Tile<8>::load`, `dot<float, 4>`.
    pub name: SmolStr,
    /// For a function of the standard library that the code generator knows: its name without `metal::`.
    pub builtin: Option<SmolStr>,
    /// The template arguments of a builtin, written: `as_type<float>` has `float`, `uint`.
    pub builtin_args: Vec<TemplateArgument>,
    /// Its parameters, the first of its locals; `this` is the first of a method's.
    pub params: Vec<LocalId>,
    /// Result type.
    pub result: Ty,
    /// Parameters and variables.
    pub locals: Vec<Local>,
    /// Its statements; `None` for a builtin and for what is declared only.
    pub body: Option<Vec<Stmt>>,
    /// It may be used in constant expressions.
    pub is_constexpr: bool,
    /// `__attribute__((noinline))`, `[[clang::noinline]]`
    pub no_inline: bool,
    /// Pragmas about floating point that its body begins with, in order; [`StmtKind::FpPragma`] adds to them.
    pub fp_pragmas: Vec<SmolStr>,
    /// Its name in the source.
    pub span: Span,
}

/// A template argument of a builtin function.
#[derive(Clone, PartialEq, Debug)]
pub enum TemplateArgument {
    /// A type.
    Type(QualTy),
    /// A value.
    Value(Value),
}

/// A parameter or variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; empty for an unnamed parameter.
    pub name: SmolStr,
    /// Its type.
    pub ty: QualTy,
    /// [`AddressSpace::Thread`], or [`AddressSpace::Threadgroup`] for a threadgroup variable of a kernel.
    pub space: AddressSpace,
    /// Alignment from `alignas` or `aligned`; 1 without it.
    pub min_align: u64,
    /// Its declaration.
    pub span: Span,
}

/// A variable at namespace scope, or a static member.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name as in source code.
    pub name: SmolStr,
    /// Its type.
    pub ty: QualTy,
    /// Its value; `None` for a function constant, and where an error was reported.
    pub value: Option<Value>,
    /// For a function constant.
    pub function_constant: Option<FunctionConstant>,
    /// Initializer of a constant that depends on function constants, as in
    /// `constant bool x = is_function_constant_defined(c) ? c : true`.
    pub init: Option<Expr>,
    /// True if its initializer calls functions that are not `constexpr`: its value is known, but it is no constant
    /// expression.
    pub is_dynamic: bool,
    /// Alignment from `alignas` or `aligned`; 1 without it.
    pub min_align: u64,
    /// Its declaration.
    pub span: Span,
}

/// A global that gets its value when a pipeline is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionConstant {
    /// The index in `[[function_constant(index)]]`.
    pub index: u32,
}

/// A kernel or graphics function.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// The name that the host uses.
    pub name: SmolStr,
    /// Its stage.
    pub stage: Stage,
    /// The function.
    pub function: FunctionId,
    /// Bindings of its parameters, in order.
    pub bindings: Vec<Binding>,
    /// `[[max_total_threads_per_threadgroup(n)]]`
    pub max_total_threads: Option<u32>,
    /// Its definition or instantiation.
    pub span: Span,
}

/// A function with the attribute `[[visible]]`, which kernels call through tables.
#[derive(Clone, Debug)]
pub struct VisibleFunction {
    /// The name that the host uses.
    pub name: SmolStr,
    /// The function.
    pub function: FunctionId,
    /// Its definition.
    pub span: Span,
}

/// An entry point with the attribute `[[intersection(…)]]`.
#[derive(Clone, Debug)]
pub struct IntersectionFunction {
    /// Its place among [`Program::entry_points`].
    pub entry: usize,
    /// The names in its attribute: the geometry, then others such as `instancing`.
    pub tags: Vec<SmolStr>,
    /// The attributes of the members of its result, or of the `bool` that it is.
    pub outputs: Vec<SmolStr>,
}

/// Binding of a parameter of an entry point.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The parameter.
    pub param: LocalId,
    /// Resource or built-in value.
    pub kind: BindingKind,
    /// The function constant without which the parameter does not exist.
    pub condition: Option<GlobalId>,
    /// Number of elements of a parameter that is written as an array: 3 for `constant long strides[3]`.
    pub array_len: Option<u64>,
    /// The type that it points to is named by a class template or an alias, not by a template parameter.
    pub names_template: bool,
}

/// Resource or built-in value behind a parameter of an entry point.
#[derive(Clone, PartialEq, Debug)]
pub enum BindingKind {
    /// `[[buffer(n)]]`
    Buffer(u32),
    /// `[[buffer(n)]]` of a `visible_function_table`.
    FunctionTable(u32),
    /// `[[threadgroup(n)]]`
    Threadgroup(u32),
    /// `[[texture(n)]]`
    Texture(u32),
    /// `[[sampler(n)]]`
    Sampler(u32),
    /// `[[thread_position_in_grid]]` and kin: the name of the attribute.
    Builtin(SmolStr),
    /// `[[stage_in]]` and other inputs of graphics functions.
    Other(SmolStr),
}

// ---------------------------------------------------------------------------------------------------------------
// Statements

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of statement, with its parts.
    pub kind: StmtKind,
    /// Its text in the source.
    pub span: Span,
}

/// Kind of statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `#pragma METAL fp …`: its options hold to the end of the block.
    FpPragma(SmolStr),
    /// Evaluates for its effects.
    Expr(Expr),
    /// Makes a variable; without a value it is uninitialized.
    Local(LocalId, Option<Expr>),
    /// Initializes memory for the first time: a member in a constructor.
    Init {
        /// The object.
        place: Expr,
        /// Its first value.
        value: Expr,
    },
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `if`
    If {
        /// A `bool`.
        condition: Expr,
        /// When it holds.
        then: Vec<Stmt>,
        /// When it does not.
        otherwise: Vec<Stmt>,
    },
    /// `for`, `while`, `do`.
    Loop {
        /// A `bool`; `None` is forever.
        condition: Option<Expr>,
        /// The condition is evaluated before the first round.
        test_first: bool,
        /// Evaluated after each round, and after `continue`.
        step: Option<Expr>,
        /// The body.
        body: Vec<Stmt>,
        /// Pragmas about unrolling.
        pragmas: Vec<Pragma>,
    },
    /// `switch`: control enters at a case and falls through to the next.
    Switch {
        /// An integer.
        value: Expr,
        /// The cases, in order.
        cases: Vec<Case>,
    },
    /// Leaves the innermost loop or switch.
    Break,
    /// Goes to the next round of the innermost loop.
    Continue,
    /// Leaves the function.
    Return(Option<Expr>),
}

/// One case of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// The values that enter here; `None` is `default`.
    pub labels: Vec<Option<i128>>,
    /// The statements up to the next case.
    pub body: Vec<Stmt>,
}

// ---------------------------------------------------------------------------------------------------------------
// Expressions

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of expression, with its parts.
    pub kind: ExprKind,
    /// Its type; the qualifiers matter for places.
    pub ty: QualTy,
    /// It denotes memory.
    pub is_place: bool,
    /// Its text in the source.
    pub span: Span,
}

/// Kind of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An error was reported.
    Error,
    /// A constant.
    Constant(Value),
    /// A place: a parameter or variable.
    Local(LocalId),
    /// A place: a constant at namespace scope.
    Global(GlobalId),
    /// A function, as an argument for a parameter that is a function pointer.
    Function(FunctionId),
    /// The value in a place.
    Load(Box<Expr>),
    /// The place that a pointer or reference value points to.
    Deref(Box<Expr>),
    /// A place's address, as a pointer or a reference.
    AddressOf(Box<Expr>),
    /// A field of a struct: a place if the struct is one. A field of reference type is a place that holds an address.
    Field {
        /// The struct.
        base: Box<Expr>,
        /// Index of the field.
        field: u32,
    },
    /// An element of an array, a component of a vector, a column of a matrix.
    Index {
        /// Array, vector or matrix.
        base: Box<Expr>,
        /// An integer.
        index: Box<Expr>,
    },
    /// Some components of a vector: a scalar for one, otherwise a vector.
    Swizzle {
        /// The vector.
        base: Box<Expr>,
        /// Indices of the components, 0 to 3.
        components: Vec<u8>,
    },
    /// The elements of a simdgroup matrix that this thread holds, a place of two.
    ThreadElements(Box<Expr>),
    /// A pointer to the first element of an array that is a place.
    Decay(Box<Expr>),
    /// A new place of the thread that holds a value, for as long as the full expression.
    Temporary(Box<Expr>),
    /// A conversion.
    Cast {
        /// Kind of conversion.
        kind: CastKind,
        /// The value.
        operand: Box<Expr>,
    },
    /// `-`, `~`, `!`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// Both operands have the same type, except for shifts; vectors work by component. Comparisons give `bool` or a
    /// vector of it.
    /// `&&` and `||` here are those of vectors, without a short cut.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// A matrix product: matrix · matrix, matrix · vector or vector · matrix.
    MatrixProduct {
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// `a && b` or `a || b` of `bool`: `b` is evaluated only where needed.
    ShortCircuit {
        /// `||`
        is_or: bool,
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// A pointer moved by a number of elements (a signed or unsigned 64-bit integer).
    PointerAdd {
        /// The pointer.
        pointer: Box<Expr>,
        /// The number of elements.
        offset: Box<Expr>,
        /// Backwards.
        negative: bool,
    },
    /// The number of elements between two pointers.
    PointerDifference {
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// Stores a value; is the place.
    Assign {
        /// Destination.
        place: Box<Expr>,
        /// Value to store.
        value: Box<Expr>,
    },
    /// `place = (type of place)((compute)place op value)`; is the place.
    CompoundAssign {
        /// The operator.
        op: BinaryOp,
        /// The place.
        place: Box<Expr>,
        /// The type in which it is computed; for shifts that of the left operand. A pointer's own type for `p += n`.
        compute: Ty,
        /// The right operand.
        value: Box<Expr>,
    },
    /// `++` and `--` on a number or pointer: the place before (prefix) or the old value (postfix).
    Increment {
        /// The place.
        place: Box<Expr>,
        /// `--`
        is_decrement: bool,
        /// The operator stands before the operand: the result is the place.
        is_prefix: bool,
    },
    /// `c ? a : b`: places where both are.
    Conditional {
        /// A `bool`.
        condition: Box<Expr>,
        /// When it holds.
        then: Box<Expr>,
        /// When it does not.
        otherwise: Box<Expr>,
    },
    /// Evaluates the first for its effects; is the second.
    Comma(Box<Expr>, Box<Expr>),
    /// `({ … })`: executes statements, which may leave the expression, then is a value. Never a place.
    Statements {
        /// All but the value.
        body: Vec<Stmt>,
        /// `None` for `void`.
        value: Option<Box<Expr>>,
    },
    /// A call: the arguments fit the parameters exactly. Builtins are functions, too.
    Call {
        /// The callee.
        function: FunctionId,
        /// One per parameter.
        args: Vec<Expr>,
    },
    /// A call through a function pointer: a parameter or variable that was given a function.
    CallPointer {
        /// The pointer.
        pointer: Box<Expr>,
        /// One per parameter.
        args: Vec<Expr>,
    },
    /// A new struct made by a constructor: its `this` points to the new value; `args` are the other arguments.
    Construct {
        /// The constructor.
        constructor: FunctionId,
        /// One per parameter after `this`.
        args: Vec<Expr>,
    },
    /// A struct from its fields, or an array from its elements, in order; missing ones at the end are zero. For a
    /// union: its first field.
    Aggregate(Vec<Expr>),
    /// A vector from scalars and vectors of its element type, end to end; or a matrix from its columns.
    Compose(Vec<Expr>),
    /// All components of a vector, or the diagonal of a matrix or simdgroup matrix, from one scalar of the element
    /// type.
    Splat(Box<Expr>),
    /// Zero of any type: the value-initialized `T()`.
    Zero,
}

/// `-`, `~`, `!`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each variant is the operator of that name")]
pub enum UnaryOp {
    Negate,
    BitNot,
    Not,
}

/// A conversion of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastKind {
    /// Between numbers (`bool` and enums included), by component for vectors; to `bool` it tests for non-zero.
    Number,
    /// Between a packed vector and its plain form, or vectors that differ in that alone.
    Packing,
    /// Between pointers (another pointee, qualifiers or base class at offset zero).
    Pointer,
    /// From a pointer to a class to one to its base class at this offset, or, where that is negative, back. A null
    /// pointer stays one.
    Base(i64),
    /// From a pointer to `bool`.
    PointerToBool,
    /// From a pointer to an integer.
    PointerToInt,
    /// From an integer to a pointer.
    IntToPointer,
    /// The null pointer of this type.
    NullPointer,
    /// To `void`.
    Discard,
    /// Between matrices of the same shape, by component.
    Matrix,
}

/// A constant.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Depends on a template parameter that is not known yet.
    Unknown,
    /// A truth value.
    Bool(bool),
    /// An integer, in the range of its type; also of an enum.
    Int(i128),
    /// A floating-point number, rounded to its type.
    Float(f64),
    /// The components of a vector, the columns of a matrix, the elements of an array, the fields of a struct.
    Aggregate(Vec<Value>),
    /// A function.
    Function(FunctionId),
    /// The null pointer.
    Null,
    /// A string, for `static_assert`, `host_name` and logging.
    Str(SmolStr),
}

impl Value {
    /// True if all its bits are zero, or if it is not known yet.
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Unknown | Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(value) => *value == 0,
            Value::Float(value) => value.to_bits() == 0,
            Value::Aggregate(parts) => parts.iter().all(Value::is_zero),
            Value::Function(_) | Value::Str(_) => false,
        }
    }
}

impl Expr {
    /// A value.
    pub fn value(kind: ExprKind, ty: Ty, span: Span) -> Expr {
        Expr { kind, ty: QualTy::plain(ty), is_place: false, span }
    }

    /// A place.
    pub fn place(kind: ExprKind, ty: QualTy, span: Span) -> Expr {
        Expr { kind, ty, is_place: true, span }
    }

    /// Placeholder after a reported error.
    pub fn error(span: Span) -> Expr {
        Expr::value(ExprKind::Error, Ty::ERROR, span)
    }

    /// A constant.
    pub fn constant(value: Value, ty: Ty, span: Span) -> Expr {
        Expr::value(ExprKind::Constant(value), ty, span)
    }

    /// The global that this expression reads or converts, if that is all it does.
    pub(crate) fn only_global(&self) -> Option<GlobalId> {
        match &self.kind {
            ExprKind::Global(id) => Some(*id),
            ExprKind::Load(inner)
            | ExprKind::AddressOf(inner)
            | ExprKind::Temporary(inner)
            | ExprKind::Cast { operand: inner, .. } => inner.only_global(),
            _ => None,
        }
    }
}
