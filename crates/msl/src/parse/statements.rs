//! Statements.

use super::ast::{Block, CaseLabel, Condition, Decl, DeclKind, Expr, ExprKind, Stmt, StmtKind, VarDecl};
use super::declarators::{Named, Parens};
use super::names::{Name, NameKind, ScopeKind};
use super::specifiers::{DeclSpecifiers, DeclarationContext};
use super::{Failed, Parse, Parser};
use crate::diagnostics::Severity;
use crate::lex::token::{Keyword, Pragma, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::Subject;

impl Parser {
    /// `{ … }`, in the current scope.
    pub(super) fn block(&mut self) -> Parse<Block> {
        let opening = self.span();
        self.expect(Punct::LBrace)?;
        let mut stmts = Vec::new();
        let outer = self.fp_pragmas.len();
        while !self.at(Punct::RBrace) && !self.at_end() {
            self.fp_pragmas_here(&mut stmts);
            stmts.push(self.statement_or_skip());
        }
        self.fp_pragmas.truncate(outer);
        // The end of the file was reported; the block ends there.
        let _ = self.expect_closing(Punct::RBrace, Punct::LBrace, opening);
        Ok(Block { stmts, span: opening.to(self.last_span) })
    }

    /// The pragmas about floating point before the next statement.
    fn fp_pragmas_here(&mut self, stmts: &mut Vec<Stmt>) {
        for pragma in self.pragmas.get(&self.position).into_iter().flatten() {
            if let Pragma::Fp(words) = pragma {
                self.fp_pragmas.push(words.clone());
                stmts.push(Stmt { kind: StmtKind::FpPragma(words.clone()), span: self.tokens[self.position].span });
            }
        }
    }

    fn statement_or_skip(&mut self) -> Stmt {
        self.or_skip(|p| p.nested(Self::statement))
    }

    /// A statement; after an error, the rest is skipped and an empty statement takes its place.
    fn or_skip(&mut self, statement: impl FnOnce(&mut Self) -> Parse<Stmt>) -> Stmt {
        let (before, scope, start) = (self.position, self.scope, self.span());
        let statement = statement(self);
        self.scope = scope;
        match statement {
            Ok(statement) => statement,
            Err(Failed) => {
                self.skip_failed(before);
                if self.position == before && !self.at(Punct::RBrace) {
                    self.bump();
                }
                Stmt { kind: StmtKind::Empty, span: start }
            }
        }
    }

    fn statement(&mut self) -> Parse<Stmt> {
        let start = self.span();
        let position = self.position;
        while (self.at_attribute_brackets() || self.at_keyword(Keyword::Attribute))
            && self.skip_statement_attributes()?
        {}
        let pragmas = self.pragmas.get(&position).cloned().unwrap_or_default();
        if matches!(self.kind(), TokenKind::Keyword(Keyword::For | Keyword::While | Keyword::Do)) {
            self.annotated_loops.insert(position);
        }
        let kind = match *self.kind() {
            TokenKind::Punct(Punct::LBrace) => StmtKind::Block(self.scoped_block()?),
            TokenKind::Punct(Punct::Semi) => {
                self.bump();
                StmtKind::Empty
            }
            TokenKind::Keyword(keyword) => self.keyword_statement(keyword, pragmas)?,
            TokenKind::Ident(_) if self.at_nth(1, Punct::Colon) => return self.label(),
            _ => self.declaration_or_expression()?,
        };
        Ok(Stmt { kind, span: start.to(self.last_span) })
    }

    /// Reports pragmas about loops that stand before something else.
    pub(super) fn refuse_stray_loop_pragmas(&mut self) {
        // After a syntax error, loops may have been skipped.
        if self.gave_up || self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return;
        }
        let of_loop = |pragmas: &[Pragma]| pragmas.iter().any(Pragma::is_of_loop);
        let stray = self
            .pragmas
            .iter()
            .filter(|(position, pragmas)| of_loop(pragmas) && !self.annotated_loops.contains(*position));
        let mut stray: Vec<usize> = stray.map(|(position, _)| *position).collect();
        stray.sort_unstable();
        for position in stray {
            let span = self.tokens[position.min(self.tokens.len() - 1)].span;
            self.error("pragma", span, "expected a for, while, or do-while loop to follow '#pragma unroll'");
        }
    }

    pub(super) fn scoped_block(&mut self) -> Parse<Block> {
        let scope = self.names.add_scope(ScopeKind::Block, Some(self.scope));
        self.in_scope(scope, Self::block)
    }

    /// `[[likely]]` and kin before a statement are ignored; before a declaration they belong to it.
    fn skip_statement_attributes(&mut self) -> Parse<bool> {
        let mark = self.mark();
        self.opt_attributes_of(Subject::Statement)?;
        if self.at_declaration() {
            self.reset(mark);
            return Ok(false);
        }
        Ok(true)
    }

    fn keyword_statement(&mut self, keyword: Keyword, pragmas: Vec<Pragma>) -> Parse<StmtKind> {
        match keyword {
            Keyword::If => self.in_new_scope(Self::if_statement),
            Keyword::While => self.in_new_scope(|p| p.while_statement(pragmas)),
            Keyword::Do => self.do_statement(pragmas),
            Keyword::For => self.in_new_scope(|p| p.for_statement(pragmas)),
            Keyword::Switch => self.in_new_scope(Self::switch_statement),
            Keyword::Case | Keyword::Default => self.labelled_statement(),
            Keyword::Break => Ok(self.jump_statement(StmtKind::Break, "expected ';' after break statement")),
            Keyword::Continue => {
                Ok(self.jump_statement(StmtKind::Continue, "expected ';' after continue statement"))
            }
            Keyword::Return => self.return_statement(),
            Keyword::Goto => {
                self.unsupported("'goto' is not supported in Metal");
                Err(Failed)
            }
            Keyword::Try => self.try_block(),
            Keyword::Asm => {
                self.unsupported("'asm' is not supported in Metal");
                Err(Failed)
            }
            _ => self.declaration_or_expression(),
        }
    }

    fn in_new_scope<T>(&mut self, production: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.names.add_scope(ScopeKind::Block, Some(self.scope));
        self.in_scope(scope, production)
    }

    fn declaration_or_expression(&mut self) -> Parse<StmtKind> {
        let start = self.position;
        if self.at_declaration() {
            let mut decls = Vec::new();
            let result = self.declaration(DeclarationContext::Block, &mut decls);
            if result.is_err() && decls.is_empty() {
                return Err(Failed);
            }
            if result.is_err() {
                self.skip_failed(start);
            }
            return Ok(StmtKind::Decl(decls));
        }
        let expr = self.expression()?;
        self.expect_semicolon("expected ';' after expression");
        Ok(StmtKind::Expr(expr))
    }

    /// The statement after a condition, a label or `else`.
    fn substatement(&mut self) -> Box<Stmt> {
        if self.at(Punct::RBrace) || self.at_end() {
            let span = self.span();
            self.error("syntax", span, "expected statement");
            return Box::new(Stmt { kind: StmtKind::Empty, span });
        }
        // A name declared here is not visible outside, even without braces. Braces are no level of their own.
        let is_block = self.at(Punct::LBrace);
        Box::new(self.in_new_scope(|p| if is_block { p.or_skip(Self::statement) } else { p.statement_or_skip() }))
    }

    /// `if (a) b; else if (c) d; else e;`: a chain of these is no nesting.
    fn if_statement(&mut self) -> Parse<StmtKind> {
        self.chain(Self::if_chain)
    }

    fn if_chain(&mut self) -> Parse<StmtKind> {
        let mut parts = vec![self.if_part()?];
        let mut otherwise = None;
        while self.eat_keyword(Keyword::Else) {
            if !self.at_keyword(Keyword::If) {
                otherwise = Some(self.substatement());
                break;
            }
            self.descend()?;
            // Names in a condition are visible in what follows `else`: one scope serves the chain.
            let (before, start) = (self.position, self.span());
            match self.if_part() {
                Ok(part) => parts.push(part),
                Err(Failed) => {
                    self.skip_failed(before);
                    otherwise = Some(Box::new(Stmt { kind: StmtKind::Empty, span: start }));
                    break;
                }
            }
        }
        let end = self.last_span;
        while let Some(IfPart { start, is_constexpr, init, condition, then }) = parts.pop() {
            let kind = StmtKind::If { is_constexpr, init, condition, then, otherwise };
            if parts.is_empty() {
                return Ok(kind);
            }
            otherwise = Some(Box::new(Stmt { kind, span: start.to(end) }));
        }
        Err(Failed)
    }

    fn if_part(&mut self) -> Parse<IfPart> {
        let start = self.span();
        self.bump();
        let is_constexpr = self.eat_keyword(Keyword::Constexpr);
        let (init, condition) = self.parenthesized_condition("'if'")?;
        Ok(IfPart { start, is_constexpr, init, condition, then: self.substatement() })
    }

    fn while_statement(&mut self, pragmas: Vec<Pragma>) -> Parse<StmtKind> {
        self.bump();
        let (_, condition) = self.parenthesized_condition("'while'")?;
        let body = self.substatement();
        Ok(StmtKind::While { condition, body, pragmas })
    }

    fn switch_statement(&mut self) -> Parse<StmtKind> {
        self.bump();
        let start = self.span();
        let (init, condition) = self.parenthesized_condition("'switch'")?;
        let body = self.substatement();
        let switch = StmtKind::Switch { condition, body };
        let Some(init) = init else { return Ok(switch) };
        // `switch (init; c)` is a block of the two.
        let span = start.to(self.last_span);
        Ok(StmtKind::Block(Block { stmts: vec![*init, Stmt { kind: switch, span }], span }))
    }

    fn do_statement(&mut self, pragmas: Vec<Pragma>) -> Parse<StmtKind> {
        self.bump();
        let body = self.substatement();
        if !self.eat_keyword(Keyword::While) {
            return Err(self.fail("expected 'while' in do/while loop"));
        }
        let opening = self.span();
        self.expect_after(Punct::LParen, "'do/while'")?;
        let condition = self.expression()?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        self.expect_semicolon("expected ';' after do/while statement");
        Ok(StmtKind::DoWhile { condition, body, pragmas })
    }

    /// `(init; c)`; where it is wrong, the statement behind it is still read.
    fn parenthesized_condition(&mut self, after: &str) -> Parse<(Option<Box<Stmt>>, Condition)> {
        let opening = self.span();
        self.expect_after(Punct::LParen, after)?;
        let result = self.init_and_condition().and_then(|found| {
            self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
            Ok(found)
        });
        result.or_else(|Failed| {
            let is_closed = self.skip_past_parenthesis();
            let error = Expr { kind: ExprKind::Error, span: opening };
            if is_closed || self.at(Punct::LBrace) { Ok((None, Condition::Expr(error))) } else { Err(Failed) }
        })
    }

    fn init_and_condition(&mut self) -> Parse<(Option<Box<Stmt>>, Condition)> {
        let start = self.span();
        if self.eat(Punct::Semi) {
            return Ok((None, self.condition()?));
        }
        if !self.at_declaration() {
            let expr = self.expression()?;
            if !self.eat(Punct::Semi) {
                return Ok((None, Condition::Expr(expr)));
            }
            let init = Stmt { kind: StmtKind::Expr(expr), span: start.to(self.last_span) };
            return Ok((Some(Box::new(init)), self.condition()?));
        }
        let specifiers = self.decl_specifiers(DeclarationContext::Block, &[])?;
        let mut variable = self.condition_variable(&specifiers)?;
        if !(self.at(Punct::Semi) || self.at(Punct::Comma)) {
            return Ok((None, Condition::Var(Box::new(variable))));
        }
        let mut decls = Vec::new();
        loop {
            decls.push(Decl { kind: DeclKind::Var(variable), span: start.to(self.last_span) });
            if !self.eat(Punct::Comma) {
                break;
            }
            variable = self.condition_variable(&specifiers)?;
        }
        self.expect_semicolon("expected ';' at end of declaration");
        let init = Stmt { kind: StmtKind::Decl(decls), span: start.to(self.last_span) };
        Ok((Some(Box::new(init)), self.condition()?))
    }

    /// An expression, or a variable with its initializer.
    fn condition(&mut self) -> Parse<Condition> {
        if !self.at_declaration() {
            return self.expression().map(Condition::Expr);
        }
        let specifiers = self.decl_specifiers(DeclarationContext::Block, &[])?;
        self.condition_variable(&specifiers).map(|variable| Condition::Var(Box::new(variable)))
    }

    fn condition_variable(&mut self, specifiers: &DeclSpecifiers) -> Parse<VarDecl> {
        let mut variable = self.single_variable(specifiers)?;
        variable.init = self.opt_initializer()?;
        let is_init = self.at(Punct::Semi) || self.at(Punct::Comma);
        if variable.init.is_none() && !is_init {
            return Err(self.fail("variable declaration in condition must have an initializer"));
        }
        Ok(variable)
    }

    /// A variable without its initializer, in a condition or a range-based `for`.
    fn single_variable(&mut self, specifiers: &DeclSpecifiers) -> Parse<VarDecl> {
        let base = self.required_type(specifiers, "expected a type")?;
        let mut declarator = self.declarator_with(Named::Yes, Parens::OrInitializer)?;
        let name = declarator.name.take().map(|parsed| parsed.path);
        if let Some(name) = name.as_ref().and_then(|path| path.as_ident()) {
            self.names.declare(self.scope, name.clone(), Name::new(NameKind::Value));
        }
        let mut attributes = specifiers.attributes.clone();
        attributes.append(&mut declarator.attributes);
        self.place_attributes(&attributes, Subject::Variable);
        let bindings = std::mem::take(&mut declarator.bindings);
        let ty = declarator.apply(base);
        let specifiers = specifiers.specifiers;
        Ok(VarDecl { name, bindings, ty, init: None, specifiers, attributes, bit_width: None, template: None })
    }

    fn for_statement(&mut self, pragmas: Vec<Pragma>) -> Parse<StmtKind> {
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::LParen, "'for'")?;
        match self.for_head(opening) {
            Ok(head) => {
                let body = self.substatement();
                Ok(match head {
                    ForHead::Range(variable, range) => StmtKind::RangeFor { variable, range, body, pragmas },
                    ForHead::Loop(init, condition, step) => StmtKind::For { init, condition, step, body, pragmas },
                })
            }
            Err(Failed) => {
                // Skip the rest of the head, which has semicolons in it, and still read the body.
                while !self.at(Punct::RBrace) && !self.at_end() && !self.skip_past_parenthesis() {
                    if !self.eat(Punct::Semi) {
                        break;
                    }
                }
                let body = self.substatement();
                Ok(StmtKind::For { init: None, condition: None, step: None, body, pragmas })
            }
        }
    }

    fn for_head(&mut self, opening: Span) -> Parse<ForHead> {
        let start = self.span();
        let mut init = None;
        if self.at(Punct::Semi) {
            self.bump();
        } else if self.at_declaration() {
            let mark = self.mark();
            if let Ok(specifiers) = self.decl_specifiers(DeclarationContext::Block, &[])
                && let Ok(variable) = self.single_variable(&specifiers)
                && self.eat(Punct::Colon)
            {
                return self.range(variable, opening);
            }
            self.reset(mark);
            let mut decls = Vec::new();
            self.declaration(DeclarationContext::Block, &mut decls)?;
            if self.diagnostics.len() > mark.diagnostics {
                return Err(Failed);
            }
            init = Some(Box::new(Stmt { kind: StmtKind::Decl(decls), span: start.to(self.last_span) }));
        } else {
            let expr = self.expression()?;
            self.for_semicolon()?;
            init = Some(Box::new(Stmt { kind: StmtKind::Expr(expr), span: start.to(self.last_span) }));
        }
        let condition = if self.at(Punct::Semi) { None } else { Some(self.condition()?) };
        self.for_semicolon()?;
        let step = if self.at(Punct::RParen) { None } else { Some(self.expression()?) };
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(ForHead::Loop(init, condition, step))
    }

    fn range(&mut self, variable: VarDecl, opening: Span) -> Parse<ForHead> {
        let range = self.initializer_clause()?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(ForHead::Range(Box::new(variable), range))
    }

    fn for_semicolon(&mut self) -> Parse<()> {
        if self.eat(Punct::Semi) { Ok(()) } else { Err(self.fail("expected ';' in 'for' statement specifier")) }
    }

    /// `case 1: case 2: default: body`; any number of labels is no nesting.
    fn labelled_statement(&mut self) -> Parse<StmtKind> {
        let mut labels = Vec::new();
        loop {
            let label = match *self.kind() {
                TokenKind::Keyword(Keyword::Case) => self.case_label()?,
                TokenKind::Keyword(Keyword::Default) => self.default_label()?,
                _ => return Ok(StmtKind::Case { labels, body: self.substatement() }),
            };
            labels.push(label);
        }
    }

    fn case_label(&mut self) -> Parse<CaseLabel> {
        let start = self.span();
        self.bump();
        let value = self.conditional_expression()?;
        let last = match self.eat(Punct::Ellipsis) {
            true => Some(self.conditional_expression()?),
            false => None,
        };
        self.expect_after(Punct::Colon, "'case'")?;
        Ok(CaseLabel { value: Some(value), last, span: start.to(self.last_span) })
    }

    fn default_label(&mut self) -> Parse<CaseLabel> {
        let start = self.span();
        self.bump();
        self.expect_after(Punct::Colon, "'default'")?;
        Ok(CaseLabel { value: None, last: None, span: start.to(self.last_span) })
    }

    fn jump_statement(&mut self, kind: StmtKind, message: &str) -> StmtKind {
        self.bump();
        self.expect_semicolon(message);
        kind
    }

    fn return_statement(&mut self) -> Parse<StmtKind> {
        self.bump();
        let value = if self.at(Punct::Semi) || self.at(Punct::RBrace) {
            None
        } else if self.at(Punct::LBrace) {
            Some(self.braced_list()?)
        } else {
            Some(self.expression()?)
        };
        self.expect_semicolon("expected ';' after return statement");
        Ok(StmtKind::Return(value))
    }

    /// `name:`, which only `goto` could use.
    fn label(&mut self) -> Parse<Stmt> {
        self.unsupported("labels are not supported in Metal");
        self.bump();
        self.bump();
        Ok(*self.substatement())
    }

    /// Refuses `try` but parses its block.
    fn try_block(&mut self) -> Parse<StmtKind> {
        self.unsupported("cannot use 'try' with exceptions disabled");
        self.bump();
        let block = self.scoped_block()?;
        while self.eat_keyword(Keyword::Catch) {
            self.skip_balanced();
            if self.at(Punct::LBrace) {
                self.skip_balanced();
            }
        }
        Ok(StmtKind::Block(block))
    }
}

/// `if (c) then`, up to `else`.
struct IfPart {
    start: Span,
    is_constexpr: bool,
    init: Option<Box<Stmt>>,
    condition: Condition,
    then: Box<Stmt>,
}

enum ForHead {
    Range(Box<VarDecl>, Expr),
    Loop(Option<Box<Stmt>>, Option<Condition>, Option<Expr>),
}
