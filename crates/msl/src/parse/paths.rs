//! Names with `::` and `<…>`, and their meanings.

use super::ast::{BinaryOp, Expr, ExprKind, FunctionKind, Path, PathSegment, TemplateArg, TypeExpr, TypeExprKind};
use super::names::{Name, NameKind, ScopeId};
use super::{Attempt, Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use smol_str::SmolStr;

/// Position of a path, as far as it matters for parsing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PathPlace {
    /// In an expression, or where a type may be meant.
    Ordinary,
    /// Behind `typename`, `struct` and the like: it names a type, so `<` opens an argument list.
    Type,
    /// Behind `.` or `->`.
    Member,
}

/// Meaning of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Denotes {
    /// A type, or a class template without arguments, which inside its class is one.
    Type(Option<ScopeId>),
    /// A variable, a function, or a template of one.
    Value,
    Namespace(ScopeId),
    /// It depends on template parameters, or was never declared.
    Unknown,
}

impl Denotes {
    pub(super) fn is_type(self) -> bool {
        matches!(self, Denotes::Type(_))
    }
}

/// A path, with its meaning as far as the parser knows.
pub(super) struct ParsedPath {
    pub(super) path: Path,
    pub(super) denotes: Denotes,
    /// Kind of function that the last segment names.
    pub(super) kind: FunctionKind,
    /// The type in `operator T`.
    pub(super) conversion: Option<TypeExpr>,
    /// Meaning of the part before the last `::`.
    pub(super) qualifier: Option<Denotes>,
}

/// Scope of the lookup of a segment.
#[derive(Clone, Copy)]
enum Context {
    Unqualified,
    In(ScopeId),
    /// Nowhere: it depends on template parameters.
    Dependent,
}

impl Parser {
    /// A name that can begin a path.
    pub(super) fn at_path(&self) -> bool {
        match self.kind() {
            TokenKind::Ident(_) => true,
            TokenKind::Punct(Punct::ColonColon) => self.at_path_segment_nth(1),
            TokenKind::Keyword(Keyword::Decltype) => self.at_decltype_path(),
            _ => false,
        }
    }

    /// `decltype(e)::`
    fn at_decltype_path(&self) -> bool {
        let token = |position: usize| self.tokens.get(position).map(|token| &token.kind);
        let closing = self.closing.get(&(self.position + 1));
        closing.is_some_and(|closing| token(closing + 1) == Some(&TokenKind::Punct(Punct::ColonColon)))
    }

    fn at_path_segment_nth(&self, n: usize) -> bool {
        use TokenKind::{Ident, Keyword as Word};
        let next = self.nth(n);
        matches!(next, Ident(_) | Word(Keyword::Operator | Keyword::Template)) || self.at_nth(n, Punct::Tilde)
    }

    /// `a::b<c>::d`
    pub(super) fn path(&mut self, place: PathPlace) -> Parse<ParsedPath> {
        let start = self.span();
        let global = self.eat(Punct::ColonColon);
        let mut context = if global { Context::In(ScopeId::ROOT) } else { Context::Unqualified };
        let mut segments: Vec<PathSegment> = Vec::new();
        let mut qualifier = None;
        if self.at_keyword(Keyword::Decltype) {
            segments.push(self.decltype_segment()?);
            self.expect(Punct::ColonColon)?;
            qualifier = Some(Denotes::Unknown);
            context = Context::Dependent;
        }
        loop {
            let has_keyword = (place == PathPlace::Member || !segments.is_empty() || global)
                && self.eat_keyword(Keyword::Template);
            let (name, span, kind, conversion) = self.path_segment_name()?;
            let found = match context {
                Context::Unqualified if place == PathPlace::Member && !self.at(Punct::ColonColon) => None,
                Context::Unqualified => self.names.lookup(self.scope, &name),
                Context::In(scope) => self.names.lookup_member(scope, &name),
                Context::Dependent => None,
            };
            let is_free = matches!(context, Context::Unqualified) && place != PathPlace::Member;
            let args = self.opt_segment_arguments(&name, found, has_keyword, place, is_free)?;
            let mut denotes = denotes(found, args.is_some());
            if name == UNDERLYING_TYPE && found.is_none() {
                denotes = Denotes::Type(None);
            }
            segments.push(PathSegment { name, span, args });
            if !(self.at(Punct::ColonColon) && self.at_path_segment_nth(1)) {
                let denotes = if matches!(kind, FunctionKind::Plain) { denotes } else { Denotes::Value };
                let path = Path { global, is_elaborated: false, segments, span: start.to(self.last_span) };
                return Ok(ParsedPath { path, denotes, kind, conversion, qualifier });
            }
            self.bump();
            qualifier = Some(denotes);
            context = match denotes {
                Denotes::Type(Some(scope)) | Denotes::Namespace(scope) => Context::In(scope),
                _ => Context::Dependent,
            };
        }
    }

    /// `decltype(e)` at the beginning of a path.
    fn decltype_segment(&mut self) -> Parse<PathSegment> {
        let span = self.span();
        let TypeExprKind::Decltype(inner) = self.nested(Self::decltype)?.kind else {
            return Err(self.fail("expected unqualified-id"));
        };
        Ok(PathSegment { name: "decltype".into(), span, args: Some(vec![TemplateArg::Expr(*inner)]) })
    }

    /// A plain name, `operator+`, `operator T` or `~name`.
    fn path_segment_name(&mut self) -> Parse<(SmolStr, Span, FunctionKind, Option<TypeExpr>)> {
        let span = self.span();
        if let Some(name) = self.at_identifier() {
            let name = name.clone();
            self.bump();
            return Ok((name, span, FunctionKind::Plain, None));
        }
        if self.at_keyword(Keyword::Operator) {
            return self.operator_function_name();
        }
        if self.at(Punct::Tilde) && self.at_identifier_nth(1) {
            self.bump();
            let name = self.at_identifier().cloned().unwrap_or_default();
            self.bump();
            let name = smol_str::format_smolstr!("~{name}");
            return Ok((name, span.to(self.last_span), FunctionKind::Destructor, None));
        }
        Err(self.fail("expected unqualified-id"))
    }

    /// `<…>` behind a name, where it is an argument list and no comparison.
    fn opt_segment_arguments(
        &mut self,
        name: &SmolStr,
        found: Option<Name>,
        has_keyword: bool,
        place: PathPlace,
        is_free: bool,
    ) -> Parse<Option<Vec<TemplateArg>>> {
        use NameKind::{ClassTemplate, FunctionTemplate, VariableTemplate};
        if self.at(Punct::LParen) && found.is_none() && is_type_trait(name) {
            return self.type_trait_operands().map(Some);
        }
        if !self.at(Punct::Less) {
            return Ok(None);
        }
        let is_template =
            matches!(found, Some(Name { kind: ClassTemplate | FunctionTemplate | VariableTemplate, .. }));
        if has_keyword || is_template || (place == PathPlace::Type && found.is_none()) {
            return self.template_argument_list().map(Some);
        }
        let may_be_template = match place {
            PathPlace::Member => is_free || self.names.is_member_template(name),
            _ => found.is_none(),
        };
        if !may_be_template {
            return Ok(None);
        }
        Ok(self.attempt(Attempt::TemplateArguments, |p| {
            let args = p.template_argument_list()?;
            let plausible = args.iter().all(is_plausible_argument) && p.at_end_of_template_id(&args, place);
            if plausible { Ok(args) } else { Err(Failed) }
        }))
    }

    /// True at a token that may follow an argument list, and hardly ever the operand of a comparison.
    fn at_end_of_template_id(&self, args: &[TemplateArg], place: PathPlace) -> bool {
        use Punct::*;
        let all_types = args.iter().all(|arg| matches!(arg, TemplateArg::Type(_)));
        match self.kind() {
            TokenKind::Punct(punct) => matches!(
                punct,
                LParen
                    | ColonColon
                    | LBrace
                    | Greater
                    | Shr
                    | Comma
                    | RParen
                    | RBrace
                    | Semi
                    | Ellipsis
                    | Star
                    | And
            ),
            TokenKind::Ident(_) | TokenKind::Keyword(_) => all_types || place != PathPlace::Member,
            _ => false,
        }
    }
}

/// Built-in type traits, which take types in parentheses.
fn is_type_trait(name: &str) -> bool {
    name.starts_with("__is_") || name.starts_with("__has_") || name == UNDERLYING_TYPE
}

/// The trait that returns a type.
const UNDERLYING_TYPE: &str = "__underlying_type";

fn denotes(found: Option<Name>, has_args: bool) -> Denotes {
    match found {
        None => Denotes::Unknown,
        Some(Name { kind: NameKind::Namespace, scope: Some(scope) }) => Denotes::Namespace(scope),
        Some(Name { kind: NameKind::Type | NameKind::ClassTemplate, scope }) => Denotes::Type(scope),
        Some(Name { kind: NameKind::Value, .. }) if has_args => Denotes::Unknown,
        Some(_) => Denotes::Value,
    }
}

/// `a < b && c > (d)` is two comparisons.
fn is_plausible_argument(arg: &TemplateArg) -> bool {
    let TemplateArg::Expr(Expr { kind: ExprKind::Binary { op, .. }, .. }) = arg else {
        return true;
    };
    !op.is_comparison() && !matches!(op, BinaryOp::And | BinaryOp::Or)
}
