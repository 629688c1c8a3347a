//! Rules about the declaration of a function that need no types: specifiers, qualifiers, operators.

use super::ast::*;
use super::paths::Denotes;
use super::specifiers::{DeclSpecifiers, DeclarationContext};
use super::{GUIDE, Parser};
use crate::lex::token::Punct;

impl Parser {
    /// Reports specifiers and qualifiers that this function cannot have.
    pub(super) fn check_function_specifiers(
        &mut self,
        context: DeclarationContext,
        specifiers: &DeclSpecifiers,
        qualifier: Option<&Denotes>,
        function: &FunctionDecl,
    ) {
        let name = function.name.last();
        let is_in_class = context == DeclarationContext::Class && !specifiers.is_friend;
        let is_outside_member =
            !is_in_class && function.name.segments.len() > 1 && !matches!(qualifier, Some(Denotes::Namespace(_)));
        let is_member = is_in_class || is_outside_member;
        let class = self.names.declaring_scope(self.scope);
        let names_class = is_in_class && self.names.class_name(class) == Some(&name.name);
        let is_constructor = matches!(function.kind, FunctionKind::Constructor);
        let is_plain = matches!(function.kind, FunctionKind::Plain);
        let mut errors = Vec::new();
        if names_class
            && ((is_plain && specifiers.base.is_some()) || (is_constructor && !specifiers.quals.is_empty()))
        {
            errors.push("constructor cannot have a return type".to_string());
        }
        let is_guide = name.name.starts_with(GUIDE);
        if specifiers.specifiers.is_explicit && !is_guide {
            if !is_in_class {
                errors.push("'explicit' can only be specified inside the class definition".into());
            } else if !is_constructor && !matches!(function.kind, FunctionKind::Conversion) {
                errors.push("'explicit' can only be applied to a constructor or conversion function".into());
            }
        }
        if specifiers.specifiers.is_static && is_outside_member && self.is_class(qualifier) {
            errors.push("'static' can only be specified inside the class definition".into());
        }
        let quals = function.method_quals;
        let qual = if quals.is_const { "const" } else { "volatile" };
        if quals.is_const || quals.is_volatile {
            match () {
                () if !is_member => errors.push(format!("non-member function cannot have '{qual}' qualifier")),
                () if specifiers.specifiers.is_static => {
                    errors.push(format!("static member function cannot have '{qual}' qualifier"));
                }
                () if is_constructor => errors.push(format!("'{qual}' qualifier is not allowed on a constructor")),
                () => {}
            }
        }
        if let FunctionKind::Operator(_) = function.kind {
            let is_method = is_member && !specifiers.specifiers.is_static;
            errors.extend(operator_mistake(function, is_member, is_method));
        }
        if self.at(Punct::Colon) && !is_constructor {
            errors.push("only constructors take base initializers".into());
        }
        for message in errors {
            self.error("function", name.span, message);
        }
    }

    /// `override` and `final` are for virtual functions, which are an error themselves.
    pub(super) fn refuse_virtual_words(
        &mut self,
        context: DeclarationContext,
        function: &FunctionDecl,
        words: &[Ident],
    ) {
        for word in words.iter().filter(|_| !function.specifiers.is_virtual) {
            let message = match context {
                DeclarationContext::Class => {
                    format!("only virtual member functions can be marked '{}'", word.name)
                }
                _ => format!("'{}' specifier is not allowed outside a class definition", word.name),
            };
            self.error("function", word.span, message);
        }
    }

    /// True if the name before `::` is certainly a class.
    fn is_class(&self, qualifier: Option<&Denotes>) -> bool {
        qualifier.is_some_and(|denotes| !matches!(denotes, Denotes::Namespace(_) | Denotes::Unknown))
    }
}

/// Number of operands that an operator can have.
#[derive(Clone, Copy, PartialEq)]
enum Arity {
    Unary,
    Binary,
    Either,
    Any,
}

/// A wrong number of operands, a default argument, or a member-only operator outside of a class.
fn operator_mistake(function: &FunctionDecl, is_member: bool, is_method: bool) -> Option<String> {
    let name = &function.name.last().name;
    let symbol = name.strip_prefix("operator")?.trim();
    if !is_member && matches!(symbol, "=" | "[]" | "()" | "->") {
        return Some(format!("overloaded '{name}' must be a non-static member function"));
    }
    let is_void =
        |param: &Param| param.name.is_none() && matches!(param.ty.kind, TypeExprKind::Builtin(BuiltinType::Void));
    let written = match &*function.params {
        [only] if is_void(only) => 0,
        params => params.len(),
    };
    if symbol != "()" && function.params.iter().any(|param| param.default.is_some()) {
        return Some(format!("parameter of overloaded '{name}' cannot have a default argument"));
    }
    let is_pack = |param: &Param| param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_));
    let arity = match symbol {
        "()" => Arity::Any,
        "+" | "-" | "*" | "&" | "++" | "--" => Arity::Either,
        "!" | "~" | "->" => Arity::Unary,
        "[]" | "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "&=" | "|=" | "<<=" | ">>=" | "/" | "%" | "^"
        | "|" | "<<" | ">>" | "<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||" | "," | "->*" => Arity::Binary,
        _ => Arity::Any,
    };
    let operands = written + usize::from(is_method);
    let fits = match arity {
        Arity::Unary => operands == 1,
        Arity::Binary => operands == 2,
        Arity::Either => operands == 1 || operands == 2,
        Arity::Any => true,
    };
    if fits || function.params.iter().any(is_pack) {
        return None;
    }
    if symbol == "[]" && operands > 2 {
        return Some(format!("overloaded '{name}' cannot have more than one parameter before C++23"));
    }
    let kind = match arity {
        Arity::Unary => "a unary operator",
        Arity::Binary => "a binary operator",
        _ => "a unary or binary operator",
    };
    let s = if written == 1 { "" } else { "s" };
    Some(format!("overloaded '{name}' must be {kind} (has {written} parameter{s})"))
}
