//! Macros, and those that exist from the start.

use super::{MathFunctions, MathMode, Preprocessor, behind};
use crate::diagnostics::Diagnostic;
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, Symbol};
use crate::source::Span;
use crate::vocabulary;
use rustc_hash::FxHashMap as HashMap;
use std::cell::Cell;
use std::rc::Rc;

/// A macro.
pub(super) struct Macro {
    pub(super) name: Symbol,
    /// The name in its definition.
    pub(super) definition: Span,
    pub(super) kind: MacroKind,
    pub(super) body: Box<[RawToken]>,
    /// The body has `#`, `##` or `__VA_OPT__`.
    pub(super) has_operators: bool,
    /// It is being expanded, and its name is left alone meanwhile.
    pub(super) disabled: Cell<bool>,
}

/// MacroKind of macro, by the text that follows its name in a use.
#[derive(PartialEq)]
pub(super) enum MacroKind {
    /// Nothing.
    Object,
    /// Arguments.
    Function(Parameters),
    /// This preprocessor computes it.
    Builtin(Builtin),
}

#[derive(PartialEq, Default)]
pub(super) struct Parameters {
    pub(super) names: Vec<Symbol>,
    indices: HashMap<Symbol, usize>,
    /// The last one takes all the arguments that are left.
    pub(super) variadic: bool,
}

impl Parameters {
    /// Adds a parameter; false if there is one of that name.
    pub(super) fn add(&mut self, name: Symbol) -> bool {
        let index = self.names.len();
        self.names.push(name);
        self.indices.insert(name, index).is_none()
    }

    pub(super) fn index_of(&self, name: Symbol) -> Option<usize> {
        self.indices.get(&name).copied()
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Builtin {
    File,
    Line,
    Counter,
    IncludeLevel,
    HasInclude,
    HasAttribute,
    HasFunction,
    HasFeature,
}

const BUILTINS: &[(&str, Builtin)] = &[
    ("__FILE__", Builtin::File),
    ("__LINE__", Builtin::Line),
    ("__COUNTER__", Builtin::Counter),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("__has_include", Builtin::HasInclude),
    ("__has_attribute", Builtin::HasAttribute),
    ("__has_cpp_attribute", Builtin::HasAttribute),
    ("__has_builtin", Builtin::HasFunction),
    ("__has_feature", Builtin::HasFeature),
    ("__has_extension", Builtin::HasFeature),
];

const FEATURES: &[&str] = &[
    "cxx_alias_templates",
    "cxx_alignas",
    "cxx_alignof",
    "cxx_attributes",
    "cxx_auto_type",
    "cxx_binary_literals",
    "cxx_constexpr",
    "cxx_decltype",
    "cxx_default_function_template_args",
    "cxx_defaulted_functions",
    "cxx_deleted_functions",
    "cxx_explicit_conversions",
    "cxx_generalized_initializers",
    "cxx_inline_namespaces",
    "cxx_nonstatic_member_init",
    "cxx_noexcept",
    "cxx_nullptr",
    "cxx_override_control",
    "cxx_range_for",
    "cxx_raw_string_literals",
    "cxx_reference_qualified_functions",
    "cxx_relaxed_constexpr",
    "cxx_rvalue_references",
    "cxx_static_assert",
    "cxx_strong_enums",
    "cxx_trailing_return",
    "cxx_unicode_literals",
    "cxx_unrestricted_unions",
    "cxx_user_literals",
    "cxx_variable_templates",
    "cxx_variadic_templates",
    "cxx_decltype_auto",
    "cxx_aggregate_nsdmi",
    "cxx_return_type_deduction",
    "attribute_ext_vector_type",
];

/// Functions of clang that the headers define.
const FUNCTIONS: &[&str] = &[
    "__builtin_abs",
    "__builtin_add_overflow",
    "__builtin_assume",
    "__builtin_bit_cast",
    "__builtin_bitreverse32",
    "__builtin_bitreverse64",
    "__builtin_bswap16",
    "__builtin_bswap32",
    "__builtin_bswap64",
    "__builtin_clz",
    "__builtin_clzl",
    "__builtin_clzll",
    "__builtin_constant_p",
    "__builtin_convertvector",
    "__builtin_ctz",
    "__builtin_ctzl",
    "__builtin_ctzll",
    "__builtin_expect",
    "__builtin_expect_with_probability",
    "__builtin_fabsf",
    "__builtin_ffs",
    "__builtin_ffsl",
    "__builtin_ffsll",
    "__builtin_huge_valf",
    "__builtin_inff",
    "__builtin_isfinite",
    "__builtin_isinf",
    "__builtin_isnan",
    "__builtin_mul_overflow",
    "__builtin_offsetof",
    "__builtin_parity",
    "__builtin_popcount",
    "__builtin_popcountl",
    "__builtin_popcountll",
    "__builtin_rotateleft32",
    "__builtin_rotateleft64",
    "__builtin_rotateright32",
    "__builtin_rotateright64",
    "__builtin_shufflevector",
    "__builtin_sub_overflow",
    "__builtin_unreachable",
];

impl Builtin {
    /// The answer of `__has_attribute(name)` and the like.
    pub(super) fn has(self, name: &str) -> bool {
        let name = name.strip_prefix("__").and_then(|n| n.strip_suffix("__")).unwrap_or(name);
        match self {
            // An attribute that is an error is none to test for.
            Builtin::HasAttribute => vocabulary::any_attribute(name)
                .is_some_and(|word| !matches!(word.effect, vocabulary::Effect::Refused(_))),
            Builtin::HasFeature => FEATURES.contains(&name),
            Builtin::HasFunction => FUNCTIONS.contains(&name),
            _ => false,
        }
    }
}

impl Preprocessor<'_> {
    pub(super) fn macro_named(&self, name: Symbol) -> Option<&Rc<Macro>> {
        self.macros.get(name.0 as usize)?.as_ref()
    }

    /// The place for the macro `name`.
    pub(super) fn macro_slot(&mut self, name: Symbol) -> &mut Option<Rc<Macro>> {
        let index = name.0 as usize;
        if self.macros.len() <= index {
            self.macros.resize(index + 1, None);
        }
        &mut self.macros[index]
    }

    pub(super) fn define_builtins(&mut self) {
        for &(text, builtin) in BUILTINS {
            let name = self.symbols.intern(text);
            *self.macro_slot(name) = Some(Rc::new(Macro {
                name,
                definition: Span::default(),
                kind: MacroKind::Builtin(builtin),
                body: Box::default(),
                has_operators: false,
                disabled: Cell::new(false),
            }));
        }
    }

    /// The text of the file `<built-in>`.
    pub(super) fn predefined(&self) -> String {
        let std = self.options.std;
        let cplusplus = if std.major >= 4 { "201703L" } else { "201402L" };
        let version = std.major * 100 + std.minor * 10;
        let bfloat = if (std.major, std.minor) >= (3, 1) { "#define __HAVE_BFLOAT__ 1\n" } else { "" };
        let tensor = if (std.major, std.minor) >= (4, 0) { "#define __HAVE_TENSOR__ 1\n" } else { "" };
        let math = match self.options.math {
            MathMode::Safe | MathMode::Relaxed => "#define __FINITE_MATH_ONLY__ 0\n",
            MathMode::Fast => "#define __FINITE_MATH_ONLY__ 1\n#define __FAST_MATH__ 1\n",
        };
        let functions = self.options.math_functions.unwrap_or(MathFunctions::of_mode(self.options.math));
        let functions = match functions {
            MathFunctions::Fast => "#define __METAL_MATH_FP32_FUNCTIONS_FAST__ 1\n",
            MathFunctions::Precise => "",
        };
        format!(
            "{}#define __METAL_VERSION__ {version}\n#define __cplusplus {cplusplus}\n{bfloat}{tensor}{math}{functions}",
            include_str!("predefined.h")
        )
    }

    /// The text of the file `<command line>`. As in clang, a definition ends with its first line.
    pub(super) fn command_line_definitions(&self) -> String {
        let mut text = String::new();
        for (name, body) in &self.options.defines {
            let body = body.as_deref().unwrap_or("1");
            let line = format!("{name} {body}");
            let line = line.lines().next().unwrap_or("").trim_end_matches('\\');
            text.push_str("#define ");
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// `__has_include(…)`, `__has_attribute(…)` and the like.
    pub(super) fn has_operator(&mut self, name: RawToken, builtin: Builtin) -> bool {
        let text = self.symbols.name(name.symbol);
        let Some(open) = self.next_unexpanded().filter(|token| token.is(Punct::LParen)) else {
            self.error("condition", behind(name), format!("missing '(' after '{text}'"));
            return false;
        };
        let mut tokens = Vec::new();
        let mut depth = 0_usize;
        loop {
            let Some(token) = self.next_unexpanded() else {
                let place = behind(*tokens.last().unwrap_or(&open));
                let error = Diagnostic::error("condition", place, format!("missing ')' after '{text}'"));
                self.report(error.note(open.span, "to match this '('"));
                return false;
            };
            match token.kind {
                RawKind::Punct(Punct::LParen) => depth += 1,
                RawKind::Punct(Punct::RParen) if depth == 0 => break,
                RawKind::Punct(Punct::RParen) => depth -= 1,
                _ => {}
            }
            tokens.push(token);
        }
        if builtin == Builtin::HasInclude {
            return self.has_include(open, &tokens);
        }
        let Some(feature) = tokens.iter().rev().find(|token| token.kind == RawKind::Ident) else {
            self.error("condition", behind(open), format!("builtin feature check macro '{text}' requires a name"));
            return false;
        };
        builtin.has(self.symbols.text(feature.symbol))
    }
}
