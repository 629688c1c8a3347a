//! Deduction: the template arguments that make a written parameter type equal to the type of an argument.
//!
//! Patterns are matched as written, name by name, in the scope where the template is declared. A part that cannot be
//! deduced (`typename T::type`, an alias, an expression) matches anything here: the caller substitutes the deduced
//! arguments and compares, so a wrong guess never survives.

use crate::check::Checker;
use crate::check::names::builtin_type;
use crate::check::tables::{ClassTemplateId, NativeTemplate, ScopeId, Symbol, TemplateArg};
use crate::parse::ast::{self, TemplateParamKind, TypeExprKind};
use crate::parse::names_in::names_in_type;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};
use smol_str::SmolStr;

/// A deduction in progress.
#[derive(Clone)]
pub(in crate::check) struct Deduction<'a> {
    pub(in crate::check) params: &'a [ast::TemplateParam],
    /// Scope of the template's declaration, for the other names in the pattern.
    pub(in crate::check) scope: ScopeId,
    pub(in crate::check) bound: Vec<Option<TemplateArg>>,
    /// Number of leading parameters with explicit arguments: nothing is deduced for them.
    pub(in crate::check) explicit: usize,
    /// A parameter with two different deduced arguments.
    pub(in crate::check) conflict: Option<(usize, TemplateArg, TemplateArg)>,
}

/// Required agreement of qualifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum Match {
    /// A function argument: `const` may be added.
    Convertible,
    /// A template argument.
    Exact,
}

impl<'a> Deduction<'a> {
    pub(in crate::check) fn new(header: &'a ast::TemplateHeader, scope: ScopeId) -> Deduction<'a> {
        Deduction {
            params: &header.params,
            scope,
            bound: vec![None; header.params.len()],
            explicit: 0,
            conflict: None,
        }
    }

    pub(in crate::check) fn param_named(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|param| param.name.as_ref().is_some_and(|n| n.name == name))
    }

    /// The packs among the parameters with these names that have no arguments yet.
    pub(in crate::check) fn open_packs(&self, names: &[&SmolStr]) -> Vec<usize> {
        let is_named =
            |param: &ast::TemplateParam| param.name.as_ref().is_some_and(|name| names.contains(&&name.name));
        let is_open = |&index: &usize| self.params[index].is_pack && self.bound[index].is_none();
        (0..self.params.len()).filter(is_open).filter(|&index| is_named(&self.params[index])).collect()
    }

    pub(in crate::check) fn bind(&mut self, index: usize, arg: TemplateArg) -> bool {
        match &self.bound[index] {
            None => {
                self.bound[index] = Some(arg);
                true
            }
            Some(old) => {
                let same = old.is_same(&arg) || old.is_dependent() || arg.is_dependent();
                if !same {
                    self.conflict = Some((index, old.clone(), arg));
                }
                same
            }
        }
    }
}

impl<'a> Checker<'a> {
    /// Matches a written type with a type.
    pub(in crate::check) fn deduce_type(
        &mut self,
        pattern: &'a ast::TypeExpr,
        actual: QualTy,
        how: Match,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        if actual.ty.is_unknown() && !matches!(pattern.kind, TypeExprKind::Named(_)) {
            return true;
        }
        match &pattern.kind {
            TypeExprKind::Named(path) => self.deduce_named(path, actual, how, deduction),
            TypeExprKind::Qualified { quals, inner } => {
                let mut rest = actual;
                if quals.is_const {
                    if how == Match::Exact && !actual.is_const {
                        return false;
                    }
                    rest.is_const = false;
                }
                if quals.is_volatile {
                    if how == Match::Exact && !actual.is_volatile {
                        return false;
                    }
                    rest.is_volatile = false;
                }
                if quals.coherence.is_some() {
                    if how == Match::Exact && actual.coherence != quals.coherence {
                        return false;
                    }
                    rest.coherence = None;
                }
                if let Some(space) = quals.space {
                    if actual.space != Some(space) {
                        return false;
                    }
                    rest.space = None;
                    // Constant memory is read-only without `const`: `constant T &` takes it from the argument.
                    rest.is_const &= how == Match::Exact || space != AddressSpace::Constant;
                }
                self.deduce_type(inner, rest, how, deduction)
            }
            TypeExprKind::Pointer(inner) => match *self.tables.types().kind(actual.ty) {
                TyKind::Pointer(pointee) => self.deduce_type(inner, pointee, how, deduction),
                _ => false,
            },
            TypeExprKind::Reference { inner, .. } => match *self.tables.types().kind(actual.ty) {
                TyKind::Reference { to, .. } => self.deduce_type(inner, to, how, deduction),
                _ if how == Match::Convertible => self.deduce_type(inner, actual, how, deduction),
                _ => false,
            },
            TypeExprKind::Array { element, length } => match *self.tables.types().kind(actual.ty) {
                TyKind::Array { element: actual_element, len } => {
                    let quals = actual.with_ty(actual_element);
                    if !self.deduce_type(element, quals, how, deduction) {
                        return false;
                    }
                    match (length.as_deref(), len) {
                        (None, _) => true,
                        (Some(length), Some(len)) => {
                            self.deduce_value(length, &TemplateArg::Int(Ty::ULONG, i128::from(len)), deduction)
                        }
                        (Some(_), None) => false,
                    }
                }
                _ => false,
            },
            TypeExprKind::MemberPointer { class, inner } => match self.tables.types().member_pointer(actual.ty) {
                Some((of, member)) => {
                    let of = QualTy::plain(self.tables.struct_type(of));
                    let is_function = self.tables.types().is_function(member.ty);
                    let member = if is_function { QualTy::plain(member.ty) } else { member };
                    self.deduce_type(inner, member, how, deduction) && self.deduce_named(class, of, how, deduction)
                }
                None => false,
            },
            TypeExprKind::Function { result, params, .. } => match self.tables.types().kind(actual.ty).clone() {
                TyKind::Function { result: actual_result, params: actual_params } => {
                    self.deduce_type(result, QualTy::plain(actual_result), how, deduction)
                        && self.deduce_function_params(params, &actual_params, how, deduction)
                }
                _ => false,
            },
            TypeExprKind::Builtin(builtin) => {
                how == Match::Convertible
                    || builtin_type(&self.tables, &mut self.diagnostics, *builtin, pattern.span) == actual
            }
            TypeExprKind::PackExpansion(inner) => self.deduce_type(inner, actual, how, deduction),
            TypeExprKind::Auto
            | TypeExprKind::DecltypeAuto
            | TypeExprKind::Decltype(_)
            | TypeExprKind::Typeof(_)
            | TypeExprKind::Class(_)
            | TypeExprKind::Enum(_) => true,
        }
    }

    /// `R(A, Rest...)`
    fn deduce_function_params(
        &mut self,
        params: &'a [ast::Param],
        actual: &[Ty],
        how: Match,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let is_pack = |p: &ast::Param| p.is_pack || matches!(p.ty.kind, TypeExprKind::PackExpansion(_));
        let (fixed, pack) = match params.split_last() {
            Some((last, fixed)) if is_pack(last) => (fixed, Some(last)),
            _ => (params, None),
        };
        if actual.len() < fixed.len() || (pack.is_none() && actual.len() != fixed.len()) {
            return false;
        }
        let (first, rest) = actual.split_at(fixed.len());
        for (param, actual) in fixed.iter().zip(first) {
            if !self.deduce_type(&param.ty, QualTy::plain(*actual), how, deduction) {
                return false;
            }
        }
        let Some(pack) = pack else { return true };
        let mut names = Vec::new();
        names_in_type(&pack.ty, &mut names);
        let packs = deduction.open_packs(&names);
        let mut collected: Vec<Vec<TemplateArg>> = vec![Vec::new(); packs.len()];
        for actual in rest {
            let mut one = deduction.clone();
            if !self.deduce_type(&pack.ty, QualTy::plain(*actual), how, &mut one) {
                return false;
            }
            for (slot, &index) in collected.iter_mut().zip(&packs) {
                slot.extend(one.bound[index].take());
            }
        }
        collected.into_iter().zip(packs).all(|(args, index)| deduction.bind(index, TemplateArg::Pack(args)))
    }

    pub(super) fn deduce_named(
        &mut self,
        path: &'a ast::Path,
        actual: QualTy,
        how: Match,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        if let Some(name) = path.as_ident()
            && let Some(index) = deduction.param_named(name)
        {
            return match deduction.params[index].kind {
                TemplateParamKind::Type { .. } => {
                    // `const` that the pattern does not take away belongs to the argument.
                    deduction.bind(index, TemplateArg::Type(actual))
                }
                _ => false,
            };
        }
        let Some(args) = &path.last().args else { return true };
        if path.segments.len() == 1
            && let Some(index) = deduction.param_named(&path.last().name)
        {
            return self.deduce_template_template(index, args, actual, deduction);
        }
        let scope = deduction.scope;
        let Ok(Some(found)) = self.in_scope(scope, |this| this.resolve_path(path)) else { return true };
        if actual.ty.is_unknown() {
            return true;
        }
        match found.symbol {
            Symbol::NativeTemplate(native) => self.deduce_native(native, args, actual.ty, deduction),
            Symbol::ClassTemplate(template) => match self.instance_of(actual.ty, template, how) {
                Some(actual_args) => self.deduce_args(args, &actual_args, deduction),
                None => false,
            },
            Symbol::AliasTemplate(id) => {
                // Through the alias: deduce its own parameters, then match them with its arguments.
                let alias = self.tables.alias_template(id);
                let (ty, mut inner) = (&alias.decl.ty, Deduction::new(alias.header, alias.scope));
                if !self.deduce_type(ty, actual, how, &mut inner) {
                    return false;
                }
                match inner.bound.into_iter().collect::<Option<Vec<TemplateArg>>>() {
                    Some(bound) => self.deduce_args(args, &bound, deduction),
                    None => true,
                }
            }
            Symbol::Type(ty) => {
                let template =
                    self.tables.types().struct_id(ty.ty).and_then(|id| self.tables.class(id).template.clone());
                match template.and_then(|(template, _)| self.instance_of(actual.ty, template, how)) {
                    Some(actual_args) => self.deduce_args(args, &actual_args, deduction),
                    None => false,
                }
            }
            _ => true,
        }
    }

    fn deduce_template_template(
        &mut self,
        index: usize,
        args: &'a [ast::TemplateArg],
        actual: QualTy,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let Some(id) = self.tables.types().struct_id(actual.ty) else { return actual.ty.is_unknown() };
        let Some((template, actual_args)) = self.tables.class(id).template.clone() else { return false };
        deduction.bind(index, TemplateArg::Template(template)) && self.deduce_args(args, &actual_args, deduction)
    }

    /// The arguments of `template` of which `ty`, or for function arguments one of its bases, is the instance.
    fn instance_of(&mut self, ty: Ty, template: ClassTemplateId, how: Match) -> Option<Vec<TemplateArg>> {
        let mut candidates: Vec<StructId> = vec![self.tables.types().struct_id(ty)?];
        while let Some(id) = candidates.pop() {
            if let Some((of, args)) = &self.tables.class(id).template
                && *of == template
            {
                return Some(args.clone());
            }
            if how == Match::Convertible {
                self.complete_class(id);
                candidates.extend(self.tables.class(id).bases.iter().copied());
            }
        }
        None
    }

    fn deduce_native(
        &mut self,
        native: NativeTemplate,
        args: &'a [ast::TemplateArg],
        actual: Ty,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let int = |value: u8| TemplateArg::Int(Ty::INT, i128::from(value));
        let of = |ty: Ty| TemplateArg::Type(QualTy::plain(ty));
        let actual_args = match (native, self.tables.types().kind(actual).clone()) {
            (NativeTemplate::Vec, TyKind::Vector { element, len }) => vec![of(element), int(len)],
            (NativeTemplate::PackedVec, TyKind::PackedVector { element, len }) => vec![of(element), int(len)],
            (NativeTemplate::Matrix, TyKind::Matrix { element, columns, rows }) => {
                vec![of(element), int(columns), int(rows)]
            }
            (NativeTemplate::SimdgroupMatrix, TyKind::SimdgroupMatrix { element }) => {
                vec![of(element), int(8), int(8)]
            }
            (NativeTemplate::Atomic, TyKind::Atomic(element)) => vec![of(element)],
            (NativeTemplate::ShapeOf | NativeTemplate::ElementOf, _) => return true,
            _ => return false,
        };
        self.deduce_args(args, &actual_args, deduction)
    }
}
