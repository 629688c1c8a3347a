//! Function bodies, and those of member functions, which are read when their class is complete.
//!
//! A member function's body may use members that are declared after it, and without knowing those the parser could
//! not tell types from values. So inside a class a body is skipped and noted down; after the outermost class's
//! closing brace the parser comes back to it.

use super::ast::{Block, Decl, DeclKind, FunctionDecl, Init, MemberInit, TypeExpr, TypeExprKind};
use super::names::{ScopeId, ScopeKind};
use super::paths::PathPlace;
use super::{Parse, Parser};
use crate::lex::token::Pragma;
use crate::lex::token::Punct;
use smol_str::SmolStr;

/// A body that was skipped.
pub(super) struct LateBody {
    /// The position of its `{`, or of the `:` before a constructor's initializers.
    pub(super) start: usize,
    /// Scope of the function's parameters.
    pub(super) scope: ScopeId,
    /// The indices of the members that lead to the function, the innermost first.
    pub(super) path: Vec<usize>,
}

impl Parser {
    /// Initializers, if it is a constructor, and the block; in the scope of the parameters.
    pub(super) fn function_body(&mut self, function: &mut FunctionDecl) -> Parse<()> {
        let open_classes = std::mem::replace(&mut self.open_classes, 0);
        let start = self.position;
        let outer = self.fp_pragmas.clone();
        if outer.is_empty() {
            self.fp_pragmas = self.fp_pragmas_before(start);
        }
        function.fp_pragmas = self.fp_pragmas.clone();
        let result = self.member_inits_and_block();
        self.open_classes = open_classes;
        self.fp_pragmas = outer;
        self.forget_fp_pragmas(start, self.position);
        let (member_inits, block) = result?;
        function.member_inits = member_inits;
        function.body = Some(block);
        Ok(())
    }

    /// The pragmas about floating point that a body at `start` begins with: those of the file before it.
    pub(super) fn fp_pragmas_before(&self, start: usize) -> Vec<SmolStr> {
        let mut found: Vec<(usize, SmolStr)> = Vec::new();
        for (&position, pragmas) in self.pragmas.iter().filter(|(position, _)| **position <= start) {
            for pragma in pragmas {
                if let Pragma::Fp(words) = pragma {
                    found.push((position, words.clone()));
                }
            }
        }
        found.sort_by_key(|(position, _)| *position);
        found.into_iter().map(|(_, words)| words).collect()
    }

    /// Those in a body belong to it alone.
    fn forget_fp_pragmas(&mut self, start: usize, end: usize) {
        for (_, pragmas) in self.pragmas.iter_mut().filter(|(position, _)| **position > start && **position < end) {
            pragmas.retain(|pragma| !matches!(pragma, Pragma::Fp(_)));
        }
    }

    fn member_inits_and_block(&mut self) -> Parse<(Vec<MemberInit>, Block)> {
        let member_inits = if self.eat(Punct::Colon) { self.member_inits()? } else { Vec::new() };
        if !self.at(Punct::LBrace) {
            return Err(self.fail("expected '{'"));
        }
        // The outermost block of a function shares its parameters' scope in C++; a scope of its own is as good here.
        let scope = self.names.add_scope(ScopeKind::Block, Some(self.scope));
        let block = self.with_greater_closing(false, |p| p.in_scope(scope, Self::block))?;
        Ok((member_inits, block))
    }

    /// `a(1), b{2}`
    fn member_inits(&mut self) -> Parse<Vec<MemberInit>> {
        let mut inits = Vec::new();
        loop {
            let name = self.path(PathPlace::Type)?.path;
            let start = self.span();
            let init = if self.at(Punct::LBrace) {
                let args = self.braced_arguments()?;
                Init::Brace(args, start.to(self.last_span))
            } else if self.at(Punct::LParen) {
                let args = self.parenthesized_arguments()?;
                Init::Paren(args, start.to(self.last_span))
            } else {
                return Err(self.fail("expected '{' or '('"));
            };
            let is_pack = self.eat(Punct::Ellipsis);
            inits.push(MemberInit { name, init, is_pack });
            if !self.eat(Punct::Comma) {
                return Ok(inits);
            }
        }
    }

    /// Skips the tokens that [`Self::function_body`] would read.
    pub(super) fn skip_function_body(&mut self) -> Parse<()> {
        if self.eat(Punct::Colon) {
            loop {
                self.path(PathPlace::Type)?;
                if !(self.at(Punct::LBrace) || self.at(Punct::LParen)) {
                    return Err(self.fail("expected '{' or '('"));
                }
                self.skip_balanced();
                self.eat(Punct::Ellipsis);
                if !self.eat(Punct::Comma) {
                    break;
                }
            }
        }
        let opening = self.span();
        if !self.at(Punct::LBrace) {
            return Err(self.fail("expected '{'"));
        }
        if self.closing_position().is_none() {
            self.jump(self.tokens.len() - 1);
            return Err(self.expected_closing(Punct::RBrace, Punct::LBrace, opening));
        }
        self.skip_balanced();
        Ok(())
    }

    /// Comes back to the bodies of a complete class.
    pub(super) fn late_bodies(&mut self, late: Vec<LateBody>, members: &mut [Decl]) {
        for body in late {
            let Some(function) = function_at(members, &body.path) else {
                continue;
            };
            let (position, last_span) = (self.position, self.last_span);
            self.jump(body.start);
            // A failure was reported, and the body stays empty: the class is still useful.
            let _ = self.in_scope(body.scope, |p| p.function_body(function));
            if self.gave_up {
                return;
            }
            self.jump(position);
            self.last_span = last_span;
        }
    }
}

/// The function that `path` leads to through nested classes.
fn function_at<'a>(members: &'a mut [Decl], path: &[usize]) -> Option<&'a mut FunctionDecl> {
    let (&index, inner) = path.split_last()?;
    function_in(members.get_mut(index)?, inner)
}

fn function_in<'a>(decl: &'a mut Decl, inner: &[usize]) -> Option<&'a mut FunctionDecl> {
    match &mut decl.kind {
        DeclKind::Friend(befriended) => function_in(befriended, inner),
        DeclKind::Function(function) if inner.is_empty() => Some(function),
        DeclKind::Class(class) => function_at(class.members.as_mut()?, inner),
        DeclKind::Var(variable) => function_at(members_in(&mut variable.ty)?, inner),
        DeclKind::Alias(alias) => function_at(members_in(&mut alias.ty)?, inner),
        _ => None,
    }
}

/// The members of the class that is defined inside a type.
fn members_in(ty: &mut TypeExpr) -> Option<&mut Vec<Decl>> {
    match &mut ty.kind {
        TypeExprKind::Class(class) => class.members.as_mut(),
        TypeExprKind::Pointer(inner)
        | TypeExprKind::Reference { inner, .. }
        | TypeExprKind::Array { element: inner, .. }
        | TypeExprKind::Qualified { inner, .. } => members_in(inner),
        _ => None,
    }
}
