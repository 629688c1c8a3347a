//! Macro expansion: recognizing a use, reading its arguments, and the stack of expansions being read.

use super::macros::{Builtin, Macro, MacroKind, Parameters};
use super::{Preprocessor, limits};
use crate::diagnostics::Diagnostic;
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, known};
use crate::source::{ExpansionId, Span};
use std::ops::Range;
use std::rc::Rc;

/// Tokens being read in place of a macro's name; they lie in the arena from `start` to `end`.
pub(super) struct Context {
    pub(super) start: usize,
    pub(super) next: usize,
    pub(super) end: usize,
    /// The macro that is disabled meanwhile. `None` for a barrier: tokens that are expanded on their own, as an
    /// argument or the operand of a directive, and never run on into what follows them.
    disables: Option<Rc<Macro>>,
}

impl Context {
    pub(super) fn is_barrier(&self) -> bool {
        self.disables.is_none()
    }
}

/// The arguments of one macro call.
#[derive(Default)]
pub(super) struct Arguments {
    pub(super) tokens: Vec<RawToken>,
    /// Each argument's tokens, as written.
    pub(super) written: Vec<Range<usize>>,
    expanded_tokens: Vec<RawToken>,
    /// Each argument's expanded tokens, where they are needed: `Ok` in `expanded_tokens`, `Err` as written.
    expanded: Vec<Option<Result<Range<usize>, Range<usize>>>>,
}

impl Arguments {
    /// The tokens of argument `index`, as written.
    pub(super) fn written(&self, index: usize) -> &[RawToken] {
        self.written.get(index).map_or(&[], |range| &self.tokens[range.clone()])
    }

    fn clear(&mut self) {
        self.tokens.clear();
        self.written.clear();
        self.expanded_tokens.clear();
        self.expanded.clear();
    }

    fn close(&mut self) {
        let start = self.written.last().map_or(0, |range| range.end);
        self.written.push(start..self.tokens.len());
    }
}

impl Preprocessor<'_> {
    /// The next token with all macros expanded.
    #[inline]
    pub(super) fn next_expanded(&mut self) -> Option<RawToken> {
        loop {
            let token = self.next_unexpanded()?;
            if token.kind != RawKind::Ident || token.has(RawToken::NO_EXPAND) {
                return Some(token);
            }
            if let Some(definition) = self.macro_named(token.symbol) {
                if definition.disabled.get() {
                    return Some(token.with(RawToken::NO_EXPAND));
                }
                let definition = Rc::clone(definition);
                if let Some(token) = self.enter_macro(token, definition) {
                    return Some(token);
                }
            } else if token.symbol == known::PRAGMA_OPERATOR {
                if let Some(pragma) = self.pragma_operator(token) {
                    return Some(pragma);
                }
            } else if token.symbol == known::DEFINED && self.in_condition {
                return Some(self.defined_operator(token));
            } else {
                return Some(token);
            }
        }
    }

    /// Puts the expansion of a macro in the place of its name. Gives a token where one takes its place for good: the
    /// name itself where it is no use of the macro, or a built-in's value.
    #[inline(never)]
    fn enter_macro(&mut self, name: RawToken, definition: Rc<Macro>) -> Option<RawToken> {
        if self.stopped {
            return Some(name);
        }
        match &definition.kind {
            MacroKind::Builtin(builtin) => Some(self.builtin(name, *builtin)),
            MacroKind::Object => {
                let start = self.arena.len();
                if self.charge(name, definition.body.len()) {
                    let expansion = self.add_expansion(name, &definition);
                    if definition.has_operators {
                        self.substitute(&definition, &mut Arguments::default(), expansion);
                    } else {
                        let body = definition.body.iter();
                        let in_expansion = |t: &RawToken| RawToken { span: Span { expansion, ..t.span }, ..*t };
                        self.arena.extend(body.map(in_expansion));
                    }
                    self.push_context(name, start, definition);
                }
                None
            }
            MacroKind::Function(parameters) => {
                if !self.next_is_parenthesis() {
                    return Some(name);
                }
                let mut arguments = self.argument_pool.pop().unwrap_or_default();
                let complete = self.collect(name, &definition, parameters, &mut arguments);
                if complete && self.charge(name, definition.body.len()) {
                    let start = self.arena.len();
                    let expansion = self.add_expansion(name, &definition);
                    self.substitute(&definition, &mut arguments, expansion);
                    self.push_context(name, start, Rc::clone(&definition));
                }
                arguments.clear();
                self.argument_pool.push(arguments);
                if complete { None } else { Some(name) }
            }
        }
    }

    fn add_expansion(&mut self, name: RawToken, definition: &Macro) -> ExpansionId {
        self.sources.add_expansion(crate::source::Expansion {
            macro_name: self.symbols.name(definition.name),
            call_site: name.span,
            definition: definition.definition,
        })
    }

    /// Counts `tokens` made by expanding `name`; `false` when they are too many.
    pub(super) fn charge(&mut self, name: RawToken, tokens: usize) -> bool {
        self.expanded_tokens += tokens + 1;
        if self.expanded_tokens > limits::EXPANDED_TOKENS {
            let limit = limits::EXPANDED_TOKENS;
            let message = format!("macro expansion makes too many tokens (more than {limit})");
            self.stop(Diagnostic::error("expansion-limit", self.sources.outermost(name.span), message));
        }
        !self.stopped
    }

    /// Makes a context of the arena's tokens from `start` on.
    fn push_context(&mut self, name: RawToken, start: usize, definition: Rc<Macro>) {
        let end = self.arena.len();
        if let Some(first) = self.arena[start..].first_mut() {
            *first = first.spaced_like(name);
        }
        if self.contexts.len() >= limits::OPEN_EXPANSIONS {
            let message = "macro expansion is nested too deeply";
            self.stop(Diagnostic::error("expansion-limit", self.sources.outermost(name.span), message));
        }
        definition.disabled.set(true);
        self.contexts.push(Context { start, next: start, end, disables: Some(definition) });
    }

    pub(super) fn pop_context(&mut self) {
        let Some(context) = self.contexts.pop() else {
            return;
        };
        self.arena.truncate(context.start);
        if let Some(definition) = context.disables {
            definition.disabled.set(false);
        }
    }

    /// True if `(` comes next, behind the ends of expansions and lines; consumes nothing.
    fn next_is_parenthesis(&self) -> bool {
        for context in self.contexts.iter().rev() {
            if context.next < context.end {
                return self.arena[context.next].is(Punct::LParen);
            }
            if context.is_barrier() {
                return false;
            }
        }
        let next = self.frames.last().and_then(|frame| frame.tokens.get(frame.next));
        next.is_some_and(|token| token.is(Punct::LParen))
    }

    /// Reads the arguments of a call; `false` when they do not fit the macro's parameters.
    fn collect(
        &mut self,
        name: RawToken,
        definition: &Macro,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> bool {
        let collecting = std::mem::replace(&mut self.collecting, true);
        let closing = self.read_arguments(parameters, arguments);
        self.collecting = collecting;
        let count = parameters.names.len();
        let required = count - usize::from(parameters.variadic);
        if count == 0 && arguments.written.len() == 1 && arguments.written(0).is_empty() {
            arguments.written.clear();
        }
        let given = arguments.written.len();
        let problem = match closing {
            None => Some(("unterminated-macro-call", name.span, "unterminated function-like macro invocation")),
            Some(closing) if given < required => {
                let message = "too few arguments provided to function-like macro invocation";
                Some(("macro-arguments", closing.span, message))
            }
            Some(closing) if given > count => {
                let extra = arguments.written.get(count).and_then(|range| arguments.tokens.get(range.start));
                let message = "too many arguments provided to function-like macro invocation";
                Some(("macro-arguments", extra.map_or(closing.span, |token| token.span), message))
            }
            Some(_) => None,
        };
        if let Some((id, span, message)) = problem {
            let note = format!("macro '{}' defined here", self.symbols.text(definition.name));
            self.report(Diagnostic::error(id, span, message).note(definition.definition, note));
        }
        arguments.written.resize(count.max(given), arguments.tokens.len()..arguments.tokens.len());
        arguments.expanded.resize(count, None);
        problem.is_none()
    }

    /// Reads from `(` to its `)`, which is given.
    fn read_arguments(&mut self, parameters: &Parameters, arguments: &mut Arguments) -> Option<RawToken> {
        self.next_unexpanded();
        let mut depth = 0_usize;
        loop {
            let mut token = self.next_unexpanded()?;
            match token.kind {
                RawKind::Punct(Punct::LParen) => depth += 1,
                RawKind::Punct(Punct::RParen) if depth == 0 => {
                    arguments.close();
                    return Some(token);
                }
                RawKind::Punct(Punct::RParen) => depth -= 1,
                RawKind::Punct(Punct::Comma) if depth == 0 => {
                    let last = arguments.written.len() + 1 == parameters.names.len();
                    if !(parameters.variadic && last) {
                        arguments.close();
                        continue;
                    }
                }
                // Reading on may end the expansion that disables the macro; the name stays painted even so.
                RawKind::Ident if self.macro_named(token.symbol).is_some_and(|m| m.disabled.get()) => {
                    token = token.with(RawToken::NO_EXPAND);
                }
                _ => {}
            }
            arguments.tokens.push(token);
        }
    }

    /// The tokens of argument `index` with all macros in it expanded.
    pub(super) fn expanded<'t>(&mut self, arguments: &'t mut Arguments, index: usize) -> &'t [RawToken] {
        if arguments.expanded.get(index).is_some_and(Option::is_none) {
            let written = arguments.written[index].clone();
            let range = if self.may_expand(&arguments.tokens[written.clone()]) {
                let start = arguments.expanded_tokens.len();
                self.expand_alone(&arguments.tokens[written], &mut arguments.expanded_tokens);
                Ok(start..arguments.expanded_tokens.len())
            } else {
                Err(written)
            };
            arguments.expanded[index] = Some(range);
        }
        match arguments.expanded.get(index) {
            Some(Some(Ok(range))) => &arguments.expanded_tokens[range.clone()],
            Some(Some(Err(range))) => &arguments.tokens[range.clone()],
            _ => &[],
        }
    }

    fn may_expand(&self, tokens: &[RawToken]) -> bool {
        tokens.iter().any(|token| {
            token.kind == RawKind::Ident
                && (self.macro_named(token.symbol).is_some()
                    || token.symbol == known::PRAGMA_OPERATOR
                    || self.in_condition && token.symbol == known::DEFINED)
        })
    }

    /// Expands `tokens` as if nothing stood behind them.
    pub(super) fn expand_alone(&mut self, tokens: &[RawToken], expanded: &mut Vec<RawToken>) {
        if let Some(&first) = tokens.first()
            && (self.argument_depth >= limits::ARGUMENT_DEPTH || !self.charge(first, tokens.len()))
        {
            let message = "macro arguments are nested too deeply";
            self.stop(Diagnostic::error("expansion-limit", self.sources.outermost(first.span), message));
            return;
        }
        let start = self.arena.len();
        self.arena.extend_from_slice(tokens);
        let end = self.arena.len();
        let depth = self.contexts.len();
        self.contexts.push(Context { start, next: start, end, disables: None });
        self.argument_depth += 1;
        while let Some(token) = self.next_expanded() {
            expanded.push(token);
        }
        self.argument_depth -= 1;
        while self.contexts.len() > depth {
            self.pop_context();
        }
    }

    /// The value of a built-in macro; its argument, if it takes one, is consumed.
    fn builtin(&mut self, name: RawToken, builtin: Builtin) -> RawToken {
        let text = match builtin {
            Builtin::File => {
                let file = self.place_of(name.span).file;
                format!("\"{}\"", file.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Builtin::Line => self.place_of(name.span).line.to_string(),
            Builtin::Counter => {
                self.counter += 1;
                (self.counter - 1).to_string()
            }
            Builtin::IncludeLevel => self.frames.len().saturating_sub(1).to_string(),
            Builtin::HasInclude | Builtin::HasAttribute | Builtin::HasFunction | Builtin::HasFeature => {
                u8::from(self.has_operator(name, builtin)).to_string()
            }
        };
        let kind = if builtin == Builtin::File { RawKind::Str } else { RawKind::Number };
        self.made_token(kind, &text, name)
    }
}
