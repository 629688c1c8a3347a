//! `#define` and `#undef`.

use super::macros::{Macro, MacroKind, Parameters};
use super::{Preprocessor, behind};
use crate::diagnostics::Diagnostic;
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, Symbol, known};
use crate::source::Span;
use std::cell::Cell;
use std::rc::Rc;

/// Boxed, as it is large and rare.
type Problem = Box<Diagnostic>;

fn problem(id: &'static str, span: Span, message: impl Into<String>) -> Problem {
    Box::new(Diagnostic::error(id, span, message))
}

impl Preprocessor<'_> {
    /// `#define`; `keyword` is the word itself.
    pub(super) fn define(&mut self, keyword: RawToken, line: &[RawToken]) {
        let Some(name) = self.macro_name(keyword, line) else {
            return;
        };
        match self.definition(name, &line[1..]) {
            Ok(definition) => self.install(name, definition),
            Err(problem) => self.report(*problem),
        }
    }

    pub(super) fn undef(&mut self, keyword: RawToken, line: &[RawToken]) {
        let Some(name) = self.macro_name(keyword, line) else {
            return;
        };
        self.extra_tokens("undef", &line[1..]);
        if let Some(old) = self.macro_slot(name.symbol).take()
            && matches!(old.kind, MacroKind::Builtin(_))
        {
            self.warning("builtin-macro-redefined", name.span, "undefining builtin macro");
        }
    }

    /// The name that a directive is about.
    pub(super) fn macro_name(&mut self, keyword: RawToken, line: &[RawToken]) -> Option<RawToken> {
        match line.first() {
            Some(name) if name.kind == RawKind::Ident && name.symbol == known::DEFINED => {
                self.error("macro-name", name.span, "'defined' cannot be used as a macro name");
                None
            }
            Some(&name) if name.kind == RawKind::Ident => Some(name),
            Some(other) => {
                self.error("macro-name", other.span, "macro name must be an identifier");
                None
            }
            None => {
                self.error("macro-name", behind(keyword), "macro name missing");
                None
            }
        }
    }

    fn install(&mut self, name: RawToken, definition: Macro) {
        if let Some(old) = self.macro_named(name.symbol) {
            if matches!(old.kind, MacroKind::Builtin(_)) {
                self.warning("builtin-macro-redefined", name.span, "redefining builtin macro");
            } else if !same_definition(old, &definition) {
                let message = format!("'{}' macro redefined", self.symbols.text(name.symbol));
                let warning = Diagnostic::warning("macro-redefined", name.span, message)
                    .note(old.definition, "previous definition is here");
                self.report(warning);
            }
        }
        *self.macro_slot(name.symbol) = Some(Rc::new(definition));
    }

    /// The macro that `#define name` followed by `rest` defines.
    fn definition(&mut self, name: RawToken, rest: &[RawToken]) -> Result<Macro, Problem> {
        let mut parameters = None;
        let mut body = rest;
        match rest.first() {
            Some(first) if first.is(Punct::LParen) && !first.leading_space() => {
                let (list, after) = self.parameters(*first, &rest[1..])?;
                parameters = Some(list);
                body = after;
            }
            Some(first) if !first.leading_space() => {
                let message = "ISO C99 requires whitespace after the macro name";
                self.warning("macro-whitespace", first.span, message);
            }
            _ => {}
        }
        let function = parameters.is_some();
        let parameters = parameters.unwrap_or_default();
        let (body, has_operators) = self.body(body, function.then_some(&parameters))?;
        let kind = if function { MacroKind::Function(parameters) } else { MacroKind::Object };
        let disabled = Cell::new(false);
        Ok(Macro { name: name.symbol, definition: name.span, kind, body: body.into(), has_operators, disabled })
    }

    /// The parameters behind `open`, and the tokens behind their `)`.
    fn parameters<'t>(
        &mut self,
        open: RawToken,
        mut rest: &'t [RawToken],
    ) -> Result<(Parameters, &'t [RawToken]), Problem> {
        let mut parameters = Parameters::default();
        let missing =
            |last: RawToken| problem("macro-parameters", behind(last), "missing ')' in macro parameter list");
        let mut last = open;
        loop {
            let Some((&token, after)) = rest.split_first() else {
                return Err(missing(last));
            };
            match token.kind {
                RawKind::Punct(Punct::RParen) if parameters.names.is_empty() => {
                    return Ok((parameters, after));
                }
                RawKind::Punct(Punct::Ellipsis) => {
                    parameters.add(known::VA_ARGS);
                    parameters.variadic = true;
                }
                RawKind::Ident if token.symbol == known::VA_ARGS => {
                    let message = "__VA_ARGS__ can only appear in the expansion of a C99 variadic macro";
                    return Err(problem("macro-parameters", token.span, message));
                }
                RawKind::Ident => {
                    if !parameters.add(token.symbol) {
                        let name = self.symbols.text(token.symbol);
                        let message = format!("duplicate macro parameter name '{name}'");
                        return Err(problem("macro-parameters", token.span, message));
                    }
                }
                RawKind::Punct(Punct::RParen) => {
                    let message = "expected identifier in macro parameter list";
                    return Err(problem("macro-parameters", token.span, message));
                }
                _ => {
                    let message = "invalid token in macro parameter list";
                    return Err(problem("macro-parameters", token.span, message));
                }
            }
            (last, rest) = (token, after);
            // GNU: `args...` names the variadic parameter.
            if let Some((&dots, after)) = rest.split_first()
                && dots.is(Punct::Ellipsis)
                && !parameters.variadic
            {
                parameters.variadic = true;
                (last, rest) = (dots, after);
            }
            let Some((&token, after)) = rest.split_first() else {
                return Err(missing(last));
            };
            match token.kind {
                RawKind::Punct(Punct::RParen) => return Ok((parameters, after)),
                RawKind::Punct(Punct::Comma) if !parameters.variadic => {}
                _ if parameters.variadic => return Err(missing(last)),
                _ => {
                    let message = "expected comma in macro parameter list";
                    return Err(problem("macro-parameters", token.span, message));
                }
            }
            (last, rest) = (token, after);
        }
    }

    /// The body in the form that `substitute` reads: parameters by index, `#` and `##` as flags of their operands,
    /// `__VA_OPT__` with the number of items inside. Also returns true if there are such operators.
    fn body(
        &mut self,
        tokens: &[RawToken],
        parameters: Option<&Parameters>,
    ) -> Result<(Vec<RawToken>, bool), Problem> {
        let mut body: Vec<RawToken> = Vec::with_capacity(tokens.len());
        let mut has_operators = false;
        // Index of the open `__VA_OPT__` in the body, and the number of parentheses open inside.
        let mut va_opt: Option<(usize, usize)> = None;
        // The item that `##` would follow: a closed `__VA_OPT__` counts as one, with its last item.
        let mut closed_va_opt = None;
        let mut i = 0;
        while let Some(&token) = tokens.get(i) {
            i += 1;
            let after_va_opt = closed_va_opt.take();
            match token.kind {
                RawKind::Punct(Punct::HashHash) => {
                    let at_start = body.is_empty() || va_opt.is_some_and(|(at, _)| at + 1 == body.len());
                    let at_end = tokens.get(i).is_none();
                    if at_start || at_end {
                        let place = if at_start { "start" } else { "end" };
                        let message = format!("'##' cannot appear at {place} of macro expansion");
                        return Err(problem("macro-body", token.span, message));
                    }
                    has_operators = true;
                    if let Some(item) = body.last_mut() {
                        item.flags |= RawToken::PASTE_LEFT;
                    }
                    if let Some(item) = after_va_opt.and_then(|at: usize| body.get_mut(at)) {
                        item.flags |= RawToken::PASTE_LEFT;
                    }
                    continue;
                }
                RawKind::Punct(Punct::Hash) if parameters.is_some() => {
                    let index = tokens.get(i).and_then(|next| index_of(next, parameters));
                    let (Some(index), Some(next)) = (index, tokens.get(i)) else {
                        let message = "'#' is not followed by a macro parameter";
                        return Err(problem("macro-body", token.span, message));
                    };
                    i += 1;
                    has_operators = true;
                    body.push(parameter(*next, index).spaced_like(token).with(RawToken::STRINGIFY));
                }
                RawKind::Ident if token.symbol == known::VA_OPT && parameters.is_some_and(|p| p.variadic) => {
                    if va_opt.is_some() {
                        let message = "__VA_OPT__ cannot be nested within its own replacement tokens";
                        return Err(problem("macro-body", token.span, message));
                    }
                    if !tokens.get(i).is_some_and(|next| next.is(Punct::LParen)) {
                        let message = "missing '(' following __VA_OPT__";
                        return Err(problem("macro-body", behind(token), message));
                    }
                    i += 1;
                    has_operators = true;
                    va_opt = Some((body.len(), 0));
                    body.push(RawToken { kind: RawKind::VaOpt, symbol: Symbol(0), ..token });
                }
                _ => {
                    if let Some((at, depth)) = va_opt.as_mut() {
                        match token.kind {
                            RawKind::Punct(Punct::LParen) => *depth += 1,
                            RawKind::Punct(Punct::RParen) if *depth == 0 => {
                                body[*at].symbol = Symbol((body.len() - *at - 1) as u32);
                                closed_va_opt = Some(*at);
                                va_opt = None;
                                continue;
                            }
                            RawKind::Punct(Punct::RParen) => *depth -= 1,
                            _ => {}
                        }
                    }
                    if token.symbol == known::VA_ARGS
                        && token.kind == RawKind::Ident
                        && index_of(&token, parameters).is_none()
                    {
                        let message = "__VA_ARGS__ can only appear in the expansion of a C99 variadic macro";
                        self.warning("variadic-macros", token.span, message);
                    }
                    body.push(index_of(&token, parameters).map_or(token, |index| parameter(token, index)));
                }
            }
        }
        if let Some((at, _)) = va_opt {
            let message = "unterminated __VA_OPT__ replacement list; missing ')'";
            return Err(problem("macro-body", body[at].span, message));
        }
        Ok((body, has_operators))
    }
}

fn index_of(token: &RawToken, parameters: Option<&Parameters>) -> Option<usize> {
    parameters?.index_of(token.symbol).filter(|_| token.kind == RawKind::Ident)
}

fn parameter(token: RawToken, index: usize) -> RawToken {
    RawToken { kind: RawKind::Parameter, symbol: Symbol(index as u32), ..token }
}

/// Two definitions are the same if their tokens are, and have space between them in the same places.
fn same_definition(old: &Macro, new: &Macro) -> bool {
    let same = |(i, (a, b)): (usize, (&RawToken, &RawToken))| {
        let ignored = if i == 0 { RawToken::LEADING_SPACE } else { 0 } | RawToken::START_OF_LINE;
        a.kind == b.kind && a.symbol == b.symbol && (a.flags ^ b.flags) & !ignored == 0
    };
    old.kind == new.kind && old.body.len() == new.body.len() && old.body.iter().zip(&new.body).enumerate().all(same)
}
