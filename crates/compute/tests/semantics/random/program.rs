//! The programs: statements of single threads ([`Statement`]), and items that the threads of a threadgroup run together
//! ([`GroupStatement`]).
//!
//! All variables are declared at the start of their function and are zero, so that any statement can be removed and the
//! rest is still valid: that is how a failing program is shrunk.

/// Integer types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
}

impl Type {
    pub(super) const ALL: [Type; 8] =
        [Type::Char, Type::Uchar, Type::Short, Type::Ushort, Type::Int, Type::Uint, Type::Long, Type::Ulong];

    pub(super) fn bits(self) -> u32 {
        match self {
            Type::Char | Type::Uchar => 8,
            Type::Short | Type::Ushort => 16,
            Type::Int | Type::Uint => 32,
            Type::Long | Type::Ulong => 64,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Char => "char",
            Type::Uchar => "uchar",
            Type::Short => "short",
            Type::Ushort => "ushort",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Long => "long",
            Type::Ulong => "ulong",
        }
    }

    /// The value as this type: the upper bits are those that an `i64` of the same value has.
    pub(super) fn wrap(self, value: i64) -> i64 {
        match self {
            Type::Char => i64::from(value as i8),
            Type::Uchar => i64::from(value as u8),
            Type::Short => i64::from(value as i16),
            Type::Ushort => i64::from(value as u16),
            Type::Int => i64::from(value as i32),
            Type::Uint => i64::from(value as u32),
            Type::Long | Type::Ulong => value,
        }
    }
}

/// Operators that are computed in a type of 32 or 64 bits, signed overflow left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    /// By the lower bits of the right operand, as in Metal.
    ShiftLeft,
    ShiftRight,
    /// By the right operand's low byte, or 1.
    Divide,
    Remainder,
    Min,
    Max,
    Rotate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// A variable of a function, by number.
pub(super) type Variable = usize;
/// A private array of a function, by number.
pub(super) type Array = usize;

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Literal(Type, i64),
    Variable(Variable),
    /// The thread's number in the grid.
    Thread,
    /// The thread's number in its simdgroup.
    Lane,
    /// A number that is the same for all threads.
    Uniform,
    Element(Array, Box<Expression>),
    /// From a buffer.
    Input(Box<Expression>),
    /// From a table in the program.
    Table(Box<Expression>),
    Cast(Type, Box<Expression>),
    /// Both operands are converted to the type first; the type has 32 or 64 bits.
    Binary(Operator, Type, Box<Expression>, Box<Expression>),
    Negate(Type, Box<Expression>),
    Complement(Type, Box<Expression>),
    /// Number of set bits of a `uint`.
    CountOnes(Box<Expression>),
    /// Number of leading zero bits of a `uint`.
    LeadingZeros(Box<Expression>),
    /// Small integers as floating point, exact in any mode: `a * b + c`.
    Float(Box<Expression>, Box<Expression>, Box<Expression>),
    Choice(Box<Condition>, Box<Expression>, Box<Expression>),
    Truth(Box<Condition>),
}

#[derive(Clone, Debug)]
pub(super) enum Condition {
    Compare(Comparison, Type, Expression, Expression),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    /// `variable++ < limit`, on a `uint`.
    Bump(Variable, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoopKind {
    For,
    While,
    DoWhile,
}

#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    /// Only the loop writes to it.
    pub(super) counter: Variable,
    /// Evaluated before every iteration, in its lower three bits.
    pub(super) bound: Expression,
    /// A further condition to continue.
    pub(super) condition: Option<Condition>,
    pub(super) body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    /// No labels: the default.
    pub(super) labels: Vec<u32>,
    pub(super) body: Vec<Statement>,
    /// True if it ends with a break.
    pub(super) breaks: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Statement {
    Set(Variable, Expression),
    SetElement(Array, Expression, Expression),
    /// Rotates the components of a vector by one, and combines each with a number.
    UpdateVector(Array, Operator, Expression),
    /// Adds to an element of the thread's own part of the output.
    Output(Expression, Expression),
    /// Adds atomically to one of the counters that all threads share.
    Count(Expression, Expression),
    /// Adds to an element through a pointer to one of two arrays of the same type.
    ThroughPointer(Condition, (Array, Expression), (Array, Expression), Expression),
    If(Condition, Vec<Statement>, Vec<Statement>),
    Loop(Loop),
    /// On the lower three bits.
    Switch(Expression, Vec<Case>),
    Break,
    Continue,
    /// In a function with a result, of this value.
    Return(Option<Expression>),
    /// `variable = function(a, b, array)`
    Call(Variable, usize, Expression, Expression, Array),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collective {
    Sum,
    Min,
    Max,
    And,
    Or,
    Xor,
    PrefixInclusive,
    PrefixExclusive,
    Ballot,
    Any,
    All,
    First,
    IsFirst,
    /// By a different number for each lane. Only where all lanes are active.
    Shuffle,
    ShuffleXor,
    RotateDown,
}

/// Items that the threads of a threadgroup run together.
#[derive(Clone, Debug)]
pub(super) enum GroupStatement {
    Alone(Vec<Statement>),
    /// `variable = simd_…(expression)`, on `uint`
    Simd(Variable, Collective, Expression),
    /// Each thread stores a `uint` in threadgroup memory, and loads another.
    Exchange(Variable, Expression, Expression),
    If(Condition, Vec<GroupStatement>, Vec<GroupStatement>),
    /// The same number of times for all threads: the uniform number's lower two bits, and one.
    Repeat(Variable, Vec<GroupStatement>),
    /// Iterates a different number of times per thread: the lower three bits of an expression, evaluated before every
    /// iteration.
    Loop(Variable, Expression, Vec<GroupStatement>),
    /// Leaves the loop around it.
    BreakIf(Condition),
    ContinueIf(Condition),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArrayKind {
    Plain,
    /// A vector of four components.
    Vector,
}

#[derive(Clone, Debug)]
pub(super) struct ArrayType {
    pub(super) kind: ArrayKind,
    pub(super) element: Type,
    /// A power of two.
    pub(super) length: usize,
}

/// A function that threads call alone: two `uint`s and an array in, a `uint` out.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) variables: Vec<Type>,
    /// The first is the parameter.
    pub(super) arrays: Vec<ArrayType>,
    pub(super) body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) functions: Vec<Function>,
    pub(super) variables: Vec<Type>,
    pub(super) arrays: Vec<ArrayType>,
    pub(super) items: Vec<GroupStatement>,
    pub(super) grid: [usize; 3],
    pub(super) group: [usize; 3],
    pub(super) uniform: u32,
    pub(super) input: Vec<u32>,
    pub(super) table: Vec<i32>,
}

/// Elements of the output that belong to each thread.
pub(super) const OUTPUTS: usize = 8;
/// Counters that all threads share.
pub(super) const COUNTERS: usize = 16;
/// Numbers in the input buffer.
pub(super) const INPUTS: usize = 64;
/// Numbers in the program's table.
pub(super) const TABLE: usize = 16;
/// The array that functions are given.
pub(super) const PARAMETER: (Type, usize) = (Type::Uint, 8);
