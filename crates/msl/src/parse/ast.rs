//! The syntax tree: what was written, before names mean anything.
//!
//! The parser knows just enough about names (type, template, value, namespace) to tell declarations from expressions.
//! `check` resolves names; it walks a template's tree once for each instantiation. Where
//! the grammar alone cannot decide, the tree keeps the general form: `T(x)` is a [`ExprKind::Call`] whose callee may
//! turn out to be a type, and a template argument that is a bare name is a [`TemplateArg::Expr`] or
//! [`TemplateArg::Type`] by the parser's best knowledge, and the checker looks again.

use crate::lex::token::{FloatLiteral, IntLiteral, Pragma};
use crate::source::Span;
use crate::types::{AddressSpace, Coherence};
use smol_str::SmolStr;
use std::sync::Arc;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: SmolStr,
    /// Its text in the source.
    pub span: Span,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct TranslationUnit {
    /// Those of headers, which programs share.
    pub headers: Arc<Vec<Decl>>,
    /// Declarations at namespace scope after those of `headers`, in order.
    pub decls: Vec<Decl>,
}

impl TranslationUnit {
    /// All declarations at namespace scope, in order.
    pub fn all(&self) -> impl Iterator<Item = &Decl> {
        self.headers.iter().chain(&self.decls)
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Names

/// `a::b<c>::d`
#[derive(Clone, Debug)]
pub struct Path {
    /// It begins with `::`.
    pub global: bool,
    /// `struct`, `class` or `union` stands before it: only types count.
    pub is_elaborated: bool,
    /// At least one.
    pub segments: Vec<PathSegment>,
    /// All of it.
    pub span: Span,
}

impl Path {
    /// The last segment.
    pub fn last(&self) -> &PathSegment {
        self.segments.last().expect("a path has a segment")
    }

    /// The name, where the path is a single name without template arguments.
    pub fn as_ident(&self) -> Option<&SmolStr> {
        match &*self.segments {
            [segment] if !self.global && segment.args.is_none() => Some(&segment.name),
            _ => None,
        }
    }
}

/// One name of a path: a plain name, `operator+`, or a conversion function.
#[derive(Clone, Debug)]
pub struct PathSegment {
    /// The name; for operators the text such as `operator+`. `decltype(e)::x` begins with a segment `decltype` whose
    /// only argument is `e`, and a type trait `__is_enum(T)` is a segment with its operands as arguments.
    pub name: SmolStr,
    /// The name in the source.
    pub span: Span,
    /// Template arguments, where there are angle brackets.
    pub args: Option<Vec<TemplateArg>>,
}

/// A template argument.
#[derive(Clone, Debug)]
pub enum TemplateArg {
    /// A type.
    Type(TypeExpr),
    /// A value, or a name that the parser could not classify.
    Expr(Expr),
}

impl TemplateArg {
    /// Its text in the source.
    pub fn span(&self) -> Span {
        match self {
            TemplateArg::Type(ty) => ty.span,
            TemplateArg::Expr(expr) => expr.span,
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Types

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Kind of type, with its parts.
    pub kind: TypeExprKind,
    /// Its text in the source; for declarators the specifiers.
    pub span: Span,
}

/// A written type. Declarators are already turned inside out: `float (*f)(int)` is a pointer to a function.
#[derive(Clone, Debug)]
pub enum TypeExprKind {
    /// `unsigned int`, `half`, `void`, …
    Builtin(BuiltinType),
    /// A named type, with or without `typename`, `struct`, `enum` before it.
    Named(Path),
    /// `auto`
    Auto,
    /// `decltype(auto)`
    DecltypeAuto,
    /// `decltype(e)`
    Decltype(Box<Expr>),
    /// `__typeof__(e)`: the type of the value, never a reference
    Typeof(Box<Expr>),
    /// A struct or union defined in place: `struct { … } x;`, `typedef struct { … } block_q4_0;`
    Class(Box<ClassDecl>),
    /// An enum defined in place.
    Enum(Box<EnumDecl>),
    /// `T *`
    Pointer(Box<TypeExpr>),
    /// `T &` or `T &&`
    Reference {
        /// Referenced type.
        inner: Box<TypeExpr>,
        /// `&&`
        rvalue: bool,
    },
    /// `T C::*`
    MemberPointer {
        /// Class of the member.
        class: Path,
        /// Type of the member.
        inner: Box<TypeExpr>,
    },
    /// `T[n]` or `T[]`
    Array {
        /// The element.
        element: Box<TypeExpr>,
        /// The length; `None` for `[]`.
        length: Option<Box<Expr>>,
    },
    /// `R(P…)`
    Function {
        /// Result type.
        result: Box<TypeExpr>,
        /// Parameters.
        params: Vec<Param>,
        /// Qualifiers of the object of a method.
        quals: Qualifiers,
    },
    /// `const T`, `device T`, …
    Qualified {
        /// The qualifiers, at least one.
        quals: Qualifiers,
        /// Qualified type.
        inner: Box<TypeExpr>,
    },
    /// `T...` in a template argument or parameter list.
    PackExpansion(Box<TypeExpr>),
}

/// Qualifiers of a type, or behind a method's parameter list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Qualifiers {
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `coherent`
    pub coherence: Option<Coherence>,
    /// `device`, `constant`, `threadgroup`, `thread`, …
    pub space: Option<AddressSpace>,
}

impl Qualifiers {
    /// No qualifier at all.
    pub fn is_empty(&self) -> bool {
        *self == Qualifiers::default()
    }
}

/// A type spelled with keywords alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the type of that name")]
pub enum BuiltinType {
    Void,
    Bool,
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Half,
    BFloat,
    Float,
    /// Not in Metal; kept so that the checker can say so.
    Double,
}

// ---------------------------------------------------------------------------------------------------------------
// Declarations

/// A declaration.
#[derive(Clone, Debug)]
pub struct Decl {
    /// Kind of declaration, with its parts.
    pub kind: DeclKind,
    /// All of it.
    pub span: Span,
}

/// Kind of declaration. A declaration with several declarators becomes several.
#[derive(Clone, Debug)]
pub enum DeclKind {
    /// `namespace a { … }`; `None` for an unnamed one. `a::b` is nested.
    Namespace {
        /// Its name.
        name: Option<Ident>,
        /// `inline namespace`
        inline: bool,
        /// Declarations inside.
        decls: Vec<Decl>,
    },
    /// `using namespace metal;`
    UsingNamespace(Path),
    /// `using metal::uint;`
    Using(Path),
    /// `namespace a = b;`
    NamespaceAlias(Ident, Path),
    /// `typedef T name;` or `using name = T;`
    Alias(AliasDecl),
    /// A variable, a constant, a data member.
    Var(VarDecl),
    /// A function, a method, a constructor.
    Function(FunctionDecl),
    /// A struct, class or union: declared or defined.
    Class(ClassDecl),
    /// An enum: declared or defined.
    Enum(EnumDecl),
    /// `static_assert(c, "…")`
    StaticAssert {
        /// The condition.
        condition: Expr,
        /// The message.
        message: Option<SmolStr>,
    },
    /// `template … f<float>;`
    Instantiation(InstantiationDecl),
    /// `public:` and kin, inside a class.
    Access(Access),
    /// `friend …;`: the declaration inside.
    Friend(Box<Decl>),
    /// A lone `;`
    Empty,
}

/// Access to a class member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the keyword")]
pub enum Access {
    Public,
    Protected,
    Private,
}

/// `template <…>`: an empty list is an explicit specialization.
#[derive(Clone, Debug)]
pub struct TemplateHeader {
    /// The parameters.
    pub params: Vec<TemplateParam>,
    /// All of it.
    pub span: Span,
}

/// A template parameter.
#[derive(Clone, Debug)]
pub struct TemplateParam {
    /// Its name, if it has one.
    pub name: Option<Ident>,
    /// Type, value or template.
    pub kind: TemplateParamKind,
    /// `typename... T`
    pub is_pack: bool,
    /// All of it.
    pub span: Span,
}

impl TemplateParam {
    /// True if an argument need not be given.
    pub fn has_default(&self) -> bool {
        match &self.kind {
            TemplateParamKind::Type { default } => default.is_some(),
            TemplateParamKind::Value { default, .. } => default.is_some(),
            TemplateParamKind::Template { default, .. } => default.is_some(),
        }
    }
}

/// Kind of template parameter.
#[derive(Clone, Debug)]
pub enum TemplateParamKind {
    /// `typename T = default`
    Type {
        /// The default.
        default: Option<TypeExpr>,
    },
    /// `int N = default`, `void (*f)(float)`, `auto N`
    Value {
        /// Its type.
        ty: TypeExpr,
        /// The default.
        default: Option<Expr>,
    },
    /// `template <typename> class C = default`
    Template {
        /// Its own parameters.
        params: Vec<TemplateParam>,
        /// The default.
        default: Option<Path>,
    },
}

/// `typedef T name;`, `using name = T;`, `template <…> using name = T;`
#[derive(Clone, Debug)]
pub struct AliasDecl {
    /// The new name.
    pub name: Ident,
    /// Aliased type.
    pub ty: TypeExpr,
    /// Attributes of the declaration and behind the name.
    pub attributes: Vec<Attribute>,
    /// For an alias template.
    pub template: Option<TemplateHeader>,
}

/// Specifiers before the type of a declaration, other than qualifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is the keyword")]
pub struct Specifiers {
    pub is_constexpr: bool,
    pub is_static: bool,
    pub is_inline: bool,
    pub is_extern: bool,
    pub is_explicit: bool,
    pub is_mutable: bool,
    pub is_virtual: bool,
    pub is_thread_local: bool,
    /// `kernel`, `vertex`, `fragment`, as keyword or attribute.
    pub stage: Option<Stage>,
}

/// Stage of a graphics or compute function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A compute function.
    Kernel,
    /// A vertex function.
    Vertex,
    /// A fragment function.
    Fragment,
    /// Another function that Metal calls by attribute: `[[object]]`, `[[mesh]]`, `[[visible]]`, `[[intersection]]`, …
    Other,
}

/// `[[name(args)]]`, `__attribute__((name(args)))`, `alignas(n)`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name, with its scope: `buffer`, `clang::optnone`; `__x__` is written `x`.
    pub name: SmolStr,
    /// The arguments; a type argument of `alignas` is an [`ExprKind::AlignOf`].
    pub args: Vec<Expr>,
    /// Its text in the source.
    pub span: Span,
}

/// A variable, constant or data member.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// Its name; a path for the definition of a static member outside its class; `None` for an unnamed bit-field.
    pub name: Option<Path>,
    /// The names of `auto [a, b] = e;`: `name` is then none that code could write.
    pub bindings: Vec<Ident>,
    /// Its type.
    pub ty: TypeExpr,
    /// Its initializer.
    pub init: Option<Init>,
    /// `constexpr`, `static`, …
    pub specifiers: Specifiers,
    /// Attributes before the declaration and behind the name.
    pub attributes: Vec<Attribute>,
    /// The width of a bit-field.
    pub bit_width: Option<Expr>,
    /// For a variable template; `template <>` for a specialization of one (its arguments are in `name`).
    pub template: Option<TemplateHeader>,
}

/// Initializer.
#[derive(Clone, Debug)]
pub enum Init {
    /// `= e` (e may be a brace list)
    Equal(Expr),
    /// `(a, b)`
    Paren(Vec<Expr>, Span),
    /// `{a, b}`
    Brace(Vec<Expr>, Span),
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name, if it has one.
    pub name: Option<Ident>,
    /// Its type.
    pub ty: TypeExpr,
    /// Its default argument.
    pub default: Option<Expr>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// `T... args`
    pub is_pack: bool,
    /// All of it.
    pub span: Span,
}

/// A function, method, constructor, conversion or operator.
#[derive(Clone, Debug)]
pub struct FunctionDecl {
    /// Its name. The path is qualified for a member defined outside its class, and its last segment has template
    /// arguments for an explicit specialization. A constructor's last segment is the class's name, a destructor's
    /// `~name`, an operator's `operator+` (`operator()`, `operator[]`, …), a conversion's `operator T`.
    pub name: Path,
    /// Kind of function, by its name.
    pub kind: FunctionKind,
    /// Result type, also a trailing one; `void` for constructors.
    pub result: TypeExpr,
    /// Parameters.
    pub params: Vec<Param>,
    /// `const`, `thread`, … behind the parameter list.
    pub method_quals: Qualifiers,
    /// Its body; `None` for a declaration.
    pub body: Option<Block>,
    /// A constructor's `: a(1), b{2}`.
    pub member_inits: Vec<MemberInit>,
    /// `= default`
    pub is_defaulted: bool,
    /// `= delete`
    pub is_deleted: bool,
    /// `#pragma METAL fp …` in force where its body begins.
    pub fp_pragmas: Vec<SmolStr>,
    /// `constexpr`, `static`, `kernel`, …
    pub specifiers: Specifiers,
    /// Attributes before the declaration and behind the parameters.
    pub attributes: Vec<Attribute>,
    /// One header per level: a member template of a class template defined outside has two.
    pub templates: Vec<TemplateHeader>,
    /// For a constructor template of a class template: the parameters of both, to deduce the class from its arguments.
    pub guide: Option<TemplateHeader>,
    /// From the first specifier to the closing parenthesis and qualifiers, without the body.
    pub span: Span,
}

/// Kind of function that a declarator declares.
#[derive(Clone, Debug)]
pub enum FunctionKind {
    /// An ordinary function or method.
    Plain,
    /// `operator+` and kin.
    Operator(SmolStr),
    /// `operator T`; the type is the function's result.
    Conversion,
    /// A constructor.
    Constructor,
    /// A destructor.
    Destructor,
}

/// `a(1)` in a constructor's initializer list; `a` may be a base class.
#[derive(Clone, Debug)]
pub struct MemberInit {
    /// The member or base.
    pub name: Path,
    /// Its initializer: never [`Init::Equal`].
    pub init: Init,
    /// `Bases(args)...`
    pub is_pack: bool,
}

/// `struct`, `class` or `union`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the keyword")]
pub enum ClassKey {
    Struct,
    Class,
    Union,
}

/// `private S`
#[derive(Clone, Debug)]
pub struct BaseSpecifier {
    /// The class.
    pub ty: TypeExpr,
    /// `public`, `protected` or `private`, if written.
    pub access: Option<Access>,
}

/// A class, declared or defined.
#[derive(Clone, Debug)]
pub struct ClassDecl {
    /// `struct`, `class` or `union`.
    pub key: ClassKey,
    /// Its name: template arguments make it a specialization. `None` for an unnamed one.
    pub name: Option<Path>,
    /// Its base classes.
    pub bases: Vec<BaseSpecifier>,
    /// Its members; `None` for a declaration.
    pub members: Option<Vec<Decl>>,
    /// Attributes and `alignas`.
    pub attributes: Vec<Attribute>,
    /// `final`: it cannot be a base class.
    pub is_final: bool,
    /// The value of `#pragma pack` at its definition.
    pub pack: Option<u8>,
    /// For a class template or a specialization.
    pub template: Option<TemplateHeader>,
    /// From the keyword to the name.
    pub span: Span,
}

/// An enum, declared or defined.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// Its name, if it has one.
    pub name: Option<Ident>,
    /// `enum class`
    pub scoped: bool,
    /// The type behind the colon.
    pub underlying: Option<TypeExpr>,
    /// Its enumerators; `None` for a declaration.
    pub enumerators: Option<Vec<Enumerator>>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// From the keyword to the name.
    pub span: Span,
}

/// An enumerator.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Its name.
    pub name: Ident,
    /// Its value, where it is given.
    pub value: Option<Expr>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// An explicit instantiation: `template [[host_name("f32")]] kernel void f<float>(…);`,
/// `template [[host_name("f32")]] kernel decltype(f<float>) f<float>;`, `template struct S<float>;`
#[derive(Clone, Debug)]
pub struct InstantiationDecl {
    /// Name of the template; its last segment usually has template arguments.
    pub name: Path,
    /// The type it is declared with: a function type, or a name for one; `None` for a class.
    pub ty: Option<TypeExpr>,
    /// Attributes, among them `host_name`.
    pub attributes: Vec<Attribute>,
    /// `kernel` and kin.
    pub specifiers: Specifiers,
    /// `extern template`: instantiates nothing.
    pub is_extern: bool,
}

// ---------------------------------------------------------------------------------------------------------------
// Statements

/// `{ … }`
#[derive(Clone, Debug)]
pub struct Block {
    /// Statements inside.
    pub stmts: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of statement, with its parts.
    pub kind: StmtKind,
    /// All of it.
    pub span: Span,
}

/// Kind of statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `#pragma METAL fp …`: its options hold to the end of the block.
    FpPragma(SmolStr),
    /// `{ … }`
    Block(Block),
    /// `e;`
    Expr(Expr),
    /// A declaration: one for each declarator.
    Decl(Vec<Decl>),
    /// `if (init; c) a else b`
    If {
        /// `if constexpr`
        is_constexpr: bool,
        /// Statement before the `;` inside the parentheses.
        init: Option<Box<Stmt>>,
        /// The condition.
        condition: Condition,
        /// Taken when it holds.
        then: Box<Stmt>,
        /// Taken when it does not.
        otherwise: Option<Box<Stmt>>,
    },
    /// `while (c) body`
    While {
        /// The condition.
        condition: Condition,
        /// The body.
        body: Box<Stmt>,
        /// The pragmas before the loop.
        pragmas: Vec<Pragma>,
    },
    /// `do body while (c);`
    DoWhile {
        /// The condition.
        condition: Expr,
        /// The body.
        body: Box<Stmt>,
        /// The pragmas before the loop.
        pragmas: Vec<Pragma>,
    },
    /// `for (init; c; step) body`
    For {
        /// An expression or declaration statement.
        init: Option<Box<Stmt>>,
        /// The condition.
        condition: Option<Condition>,
        /// Evaluated after each round.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
        /// The pragmas before the loop.
        pragmas: Vec<Pragma>,
    },
    /// `for (T x : range) body`
    RangeFor {
        /// The variable, without an initializer.
        variable: Box<VarDecl>,
        /// Array to iterate over.
        range: Expr,
        /// The body.
        body: Box<Stmt>,
        /// The pragmas before the loop.
        pragmas: Vec<Pragma>,
    },
    /// `switch (c) body`
    Switch {
        /// The condition.
        condition: Condition,
        /// The body, almost always a block with [`StmtKind::Case`] labels in it.
        body: Box<Stmt>,
    },
    /// `case v: default: stmt`
    Case {
        /// At least one.
        labels: Vec<CaseLabel>,
        /// The labelled statement: no case itself.
        body: Box<Stmt>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;` (e may be a brace list)
    Return(Option<Expr>),
    /// `;`
    Empty,
}

/// A label of a switch.
#[derive(Clone, Debug)]
pub struct CaseLabel {
    /// The value, or the first one of a range; `None` for `default`.
    pub value: Option<Expr>,
    /// The last value of a range: `case 1 ... 5:`, an extension of GNU.
    pub last: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// The condition of `if`, `while`, `for`, `switch`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// An expression.
    Expr(Expr),
    /// `int x = f()`
    Var(Box<VarDecl>),
}

// ---------------------------------------------------------------------------------------------------------------
// Expressions

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of expression, with its parts.
    pub kind: ExprKind,
    /// All of it.
    pub span: Span,
}

/// Kind of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `1u`
    Int(IntLiteral),
    /// `1.0h`
    Float(FloatLiteral),
    /// `true`
    Bool(bool),
    /// `'a'`
    Char(i64),
    /// `"text"`
    Str(SmolStr),
    /// `nullptr`
    Nullptr,
    /// `this`
    This,
    /// A name.
    Path(Path),
    /// `(e)`
    Paren(Box<Expr>),
    /// `-e`, `e++`, `*e`, …
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operator in the source.
        op_span: Span,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a + b`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The operator in the source.
        op_span: Span,
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// `a = b`, `a += b`
    Assign {
        /// The operator before `=`, if any.
        op: Option<BinaryOp>,
        /// The operator in the source.
        op_span: Span,
        /// Left.
        lhs: Box<Expr>,
        /// Right; may be a brace list.
        rhs: Box<Expr>,
    },
    /// `c ? a : b`
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// When it holds.
        then: Box<Expr>,
        /// When it does not.
        otherwise: Box<Expr>,
    },
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// `f(args)`, or `T(args)` where `T` is a named type
    Call {
        /// Function, object or type.
        callee: Box<Expr>,
        /// The arguments; each may be a brace list.
        args: Vec<Expr>,
    },
    /// `float(x)` with a keyword type, `T{…}` with any type
    Construct {
        /// The type.
        ty: TypeExpr,
        /// The arguments.
        args: Vec<Expr>,
        /// With braces.
        braces: bool,
    },
    /// `{a, b}`, `{.x = 1}`
    InitList(Vec<InitItem>),
    /// `a[i]`
    Index {
        /// The array, pointer, vector or object.
        base: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `a.b`, `a->b`, `a.template f<T>`
    Member {
        /// The object.
        base: Box<Expr>,
        /// `->`
        arrow: bool,
        /// The member; more than one segment in `a.Base::f`.
        member: Path,
    },
    /// `a.*b`, `a->*b`
    MemberPointer {
        /// The object.
        base: Box<Expr>,
        /// `->*`
        arrow: bool,
        /// Position of the operator.
        op_span: Span,
        /// Pointer to the member.
        member: Box<Expr>,
    },
    /// `(T)e`, `static_cast<T>(e)`, …
    Cast {
        /// Kind of cast.
        kind: CastKind,
        /// To which type.
        ty: TypeExpr,
        /// Operand; a brace list in `(T){…}`.
        operand: Box<Expr>,
    },
    /// `sizeof(T)`
    SizeOfType(TypeExpr),
    /// `sizeof e`
    SizeOfExpr(Box<Expr>),
    /// `sizeof...(pack)`
    SizeOfPack(Ident),
    /// `alignof(T)`
    AlignOf(TypeExpr),
    /// `__builtin_offsetof(T, a.b[1])`: the member, of an [`ExprKind::Object`]
    OffsetOf(Box<Expr>),
    /// Some object of a type, in an operand that is not evaluated
    Object(TypeExpr),
    /// `[&](int x) { … }`
    Lambda(Box<Lambda>),
    /// `({ … })`
    Statements(Block),
    /// `e...` in an argument list
    PackExpansion(Box<Expr>),
    /// `(pack + ...)`, `(... + pack)`, `(init + ... + pack)`
    Fold {
        /// The operator; `None` for the comma.
        op: Option<BinaryOp>,
        /// Left of the operator; `None` where `...` stands first.
        lhs: Option<Box<Expr>>,
        /// Right of it; `None` where `...` stands last.
        rhs: Option<Box<Expr>>,
    },
    /// Something that could not be parsed; an error was reported.
    Error,
}

/// One item of a brace list.
#[derive(Clone, Debug)]
pub struct InitItem {
    /// `.x =`
    pub designator: Option<Ident>,
    /// `[first] =` or `[first ... last] =`
    pub index: Option<(Expr, Option<Expr>)>,
    /// The value; may be a brace list.
    pub value: Expr,
}

/// Kind of cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the cast of that name")]
pub enum CastKind {
    CStyle,
    Static,
    Reinterpret,
    Const,
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is named after its text")]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Deref,
    AddressOf,
    PreIncrement,
    PreDecrement,
    PostIncrement,
    PostDecrement,
}

impl UnaryOp {
    /// Its spelling.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
            UnaryOp::Deref => "*",
            UnaryOp::AddressOf => "&",
            UnaryOp::PreIncrement | UnaryOp::PostIncrement => "++",
            UnaryOp::PreDecrement | UnaryOp::PostDecrement => "--",
        }
    }
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is named after its text")]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

impl BinaryOp {
    /// Its spelling.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::LessEqual => "<=",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    /// `< > <= >= == !=`
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Less | Greater | LessEqual | GreaterEqual | Equal | NotEqual)
    }
}

/// A lambda expression.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// `[=]` or `[&]`
    pub default_capture: Option<CaptureMode>,
    /// The captures named one by one.
    pub captures: Vec<Capture>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// `mutable`
    pub is_mutable: bool,
    /// Result type, if written.
    pub result: Option<TypeExpr>,
    /// Its body.
    pub body: Block,
    /// `#pragma METAL fp …` in force where it is written.
    pub fp_pragmas: Vec<SmolStr>,
    /// All of it.
    pub span: Span,
}

/// Mode of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant says it")]
pub enum CaptureMode {
    ByCopy,
    ByReference,
}

/// One named capture: `x`, `&x`, `x = e`, `this`.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The name; `this` for the object.
    pub name: Ident,
    /// By value or by reference.
    pub mode: CaptureMode,
    /// `x = e`
    pub init: Option<Expr>,
    /// `x...`
    pub is_pack: bool,
}
