//! Tokens as the parser sees them, after preprocessing.

use crate::source::Span;
use smol_str::SmolStr;

/// A token and where it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    /// Kind of token, with its value.
    pub kind: TokenKind,
    /// Its text in the source.
    pub span: Span,
}

/// Kind of token.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// An identifier that is not a keyword.
    Ident(SmolStr),
    /// A keyword.
    Keyword(Keyword),
    /// An integer literal.
    Int(IntLiteral),
    /// A floating-point literal.
    Float(FloatLiteral),
    /// A character literal's value.
    Char(i64),
    /// A string literal; adjacent ones are already joined.
    Str(SmolStr),
    /// An operator or separator.
    Punct(Punct),
    /// A pragma that the code generator wants to know about; it stands before the statement it belongs to.
    Pragma(Pragma),
    /// The end of the program; always the last token.
    Eof,
}

/// An integer literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntLiteral {
    /// Its value.
    pub value: u64,
    /// It has a `u` suffix.
    pub unsigned: bool,
    /// It has an `l` (or `ll`) suffix.
    pub long: bool,
    /// It was written in decimal, which keeps it signed where it fits.
    pub decimal: bool,
}

/// A floating-point literal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloatLiteral {
    /// Its value.
    pub value: f64,
    /// Its type by suffix: `f` or none is `float`, `h` is `half`, `bf` is `bfloat`.
    pub suffix: FloatSuffix,
}

/// The suffix of a floating-point literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatSuffix {
    /// No suffix: `float`, as Metal has no double.
    None,
    /// `f`
    Float,
    /// `h`
    Half,
    /// `bf`
    BFloat,
}

/// A pragma that is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pragma {
    /// `#pragma unroll`, `#pragma clang loop unroll(enable)`: unroll completely if that is possible, else in part.
    Unroll,
    /// `#pragma clang loop unroll(full)`: unroll completely or not at all.
    UnrollFull,
    /// `#pragma unroll(4)`, `#pragma clang loop unroll_count(4)`.
    UnrollCount(u32),
    /// `#pragma nounroll`, `#pragma clang loop unroll(disable)`.
    UnrollDisable,
    /// `#pragma METAL fp math_mode(safe|relaxed|fast)` or `contract(off|on|fast)`: the words after `fp`. Also
    /// `#pragma STDC FP_CONTRACT`, as `contract(…)`.
    Fp(SmolStr),
    /// `#pragma pack`: most alignment of the members of structs from here on.
    Pack(Option<u8>),
    /// `#pragma clang diagnostic` and kin.
    Diagnostic(DiagnosticPragma),
}

impl Pragma {
    /// True if it belongs to the loop behind it.
    pub fn is_of_loop(&self) -> bool {
        matches!(self, Pragma::Unroll | Pragma::UnrollFull | Pragma::UnrollCount(_) | Pragma::UnrollDisable)
    }
}

/// A pragma that turns warnings off or on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DiagnosticPragma {
    /// `diagnostic push`
    Push,
    /// `diagnostic pop`
    Pop,
    /// `diagnostic ignored "-Wname"` and kin: the name of a group, without `-W`.
    Set(SmolStr, WarningSetting),
    /// `system_header`: no warnings from here to the end of the file.
    SystemHeader,
}

/// Treatment of a warning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each variant is the word in the pragma")]
pub enum WarningSetting {
    Ignored,
    Warning,
    Error,
}

macro_rules! keywords {
    ($($variant:ident $text:literal,)*) => {
        /// A keyword of C++14 with Metal's additions.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "each variant is named after its text")]
        pub enum Keyword { $($variant,)* }

        impl Keyword {
            /// The keyword spelled `text`.
            #[allow(clippy::should_implement_trait, reason = "not a failure when it is no keyword")]
            pub fn from_str(text: &str) -> Option<Keyword> {
                match Keyword::plain_spelling(text) { $($text => Some(Keyword::$variant),)* _ => None }
            }

            /// GNU's other spellings of a keyword, made plain.
            fn plain_spelling(text: &str) -> &str {
                match text {
                    "__restrict__" => "__restrict",
                    "__inline" | "__inline__" => "inline",
                    "__const" | "__const__" => "const",
                    "__volatile" | "__volatile__" => "volatile",
                    "__signed" | "__signed__" => "signed",
                    "__alignof" | "__alignof__" | "_Alignof" => "alignof",
                    "__attribute" => "__attribute__",
                    "__asm" | "__asm__" => "asm",
                    "_Static_assert" => "static_assert",
                    "__typeof" => "__typeof__",
                    text => text,
                }
            }

            /// Its spelling.
            pub fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text,)* }
            }
        }
    };
}

keywords! {
    Alignas "alignas", Alignof "alignof", Asm "asm", Attribute "__attribute__", Auto "auto", BFloat "bfloat",
    Bool "bool", Break "break", Case "case", Catch "catch", Char "char", Class "class", Const "const",
    ConstCast "const_cast", Constant "constant", Constexpr "constexpr", Continue "continue", Decltype "decltype",
    Default "default", Delete "delete", Device "device", Do "do", Double "double", DynamicCast "dynamic_cast",
    Else "else", Enum "enum", Explicit "explicit", Extern "extern", False "false", Float "float", For "for",
    Fragment "fragment", Friend "friend", Goto "goto", Half "half", If "if", Inline "inline", Int "int",
    Kernel "kernel", Long "long", Mutable "mutable", Namespace "namespace", New "new", Noexcept "noexcept",
    Nullptr "nullptr", ObjectData "object_data", Operator "operator", Private "private", Protected "protected",
    Public "public", RayData "ray_data", Register "register", ReinterpretCast "reinterpret_cast",
    Restrict "__restrict", Return "return", Short "short", Signed "signed", Sizeof "sizeof", Static "static",
    StaticAssert "static_assert", StaticCast "static_cast", Struct "struct", Switch "switch", Template "template",
    This "this", ThreadLocal "thread_local", Thread "thread", Threadgroup "threadgroup",
    ThreadgroupImageblock "threadgroup_imageblock", Throw "throw", True "true", Try "try", Typedef "typedef",
    Typeid "typeid", Typename "typename", Typeof "__typeof__", Union "union", Unsigned "unsigned", Using "using", Vertex "vertex",
    Virtual "virtual", Void "void", Volatile "volatile", WcharT "wchar_t", While "while",
}

macro_rules! puncts {
    ($($variant:ident $text:literal,)*) => {
        /// An operator or separator.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "each variant is named after its text")]
        pub enum Punct { $($variant,)* }

        impl Punct {
            /// All of them, longest first, so that the first match is the right one.
            pub const ALL: &'static [(&'static str, Punct)] = &[$(($text, Punct::$variant),)*];

            /// Its spelling.
            pub fn text(self) -> &'static str {
                match self { $(Punct::$variant => $text,)* }
            }
        }
    };
}

// `>>`, `>>=` and `>=` are single tokens; the parser splits them where they close template argument lists.
puncts! {
    ShlAssign "<<=", ShrAssign ">>=", Ellipsis "...",
    ColonColon "::", Arrow "->", Increment "++", Decrement "--", Shl "<<", Shr ">>", LessEqual "<=",
    GreaterEqual ">=", EqualEqual "==", NotEqual "!=", AndAnd "&&", OrOr "||", PlusAssign "+=", MinusAssign "-=",
    StarAssign "*=", SlashAssign "/=", PercentAssign "%=", AndAssign "&=", OrAssign "|=", XorAssign "^=", HashHash "##",
    LBrace "{", RBrace "}", LBracket "[", RBracket "]", LParen "(", RParen ")", Semi ";", Colon ":", Question "?",
    Dot ".", Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Caret "^", And "&", Or "|", Tilde "~", Not "!",
    Assign "=", Less "<", Greater ">", Comma ",", Hash "#", At "@", Backslash "\\",
}
