//! Written types.

use super::compound_types::{pointer_to, qualify, reference_to};
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{NativeTemplate, Symbol, Tables};
use crate::check::templates::MADE_UP;
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, BuiltinType, TypeExpr, TypeExprKind};
use crate::preprocess::LanguageVersion;
use crate::program::Value;
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

pub(in crate::check) const ERROR: QualTy = QualTy::plain(Ty::ERROR);

pub(in crate::check) const DEPENDENT: QualTy = QualTy::plain(Ty::DEPENDENT);

impl<'a> Checker<'a> {
    /// The type that `written` names; [`Ty::ERROR`] after an error.
    pub(in crate::check) fn resolve_type(&mut self, written: &'a TypeExpr) -> QualTy {
        let resolved = self.nested(written.span, |this| this.resolve_type_kind(written));
        resolved.unwrap_or(ERROR)
    }

    fn resolve_type_kind(&mut self, written: &'a TypeExpr) -> QualTy {
        match &written.kind {
            TypeExprKind::Builtin(builtin) => {
                builtin_type(&self.tables, &mut self.diagnostics, *builtin, written.span)
            }
            TypeExprKind::Named(path) => self.resolve_type_path(path),
            TypeExprKind::Auto | TypeExprKind::DecltypeAuto => {
                if let Some(binding) = self.position.auto() {
                    return binding;
                }
                self.diagnostics.error("auto-not-allowed", written.span, "'auto' not allowed here");
                ERROR
            }
            TypeExprKind::Decltype(expr) => self.resolve_decltype(expr),
            TypeExprKind::Typeof(expr) => self.resolve_typeof(expr),
            TypeExprKind::Class(decl) => self.declare_class(decl).map_or(ERROR, QualTy::plain),
            TypeExprKind::Enum(decl) => self.declare_enum(decl).map_or(ERROR, QualTy::plain),
            TypeExprKind::Pointer(inner) => {
                let pointee = self.resolve_type(inner);
                pointer_to(&mut self.tables, &mut self.diagnostics, pointee, written.span)
            }
            TypeExprKind::Reference { inner, rvalue } => {
                let to = self.resolve_type(inner);
                let to = match *rvalue && self.is_plain_argument(inner, to) {
                    true => to.in_space(AddressSpace::Thread),
                    false => to,
                };
                reference_to(&mut self.tables, &mut self.diagnostics, to, *rvalue, written.span)
            }
            TypeExprKind::Array { element, length } => {
                let element = self.resolve_type(element);
                self.array_of(element, length.as_deref(), written.span)
            }
            TypeExprKind::MemberPointer { class, inner } => self.member_pointer_to(class, inner),
            TypeExprKind::Function { result, params, .. } => {
                let result = self.resolve_type(result).ty;
                let params = self.function_type_params(params);
                QualTy::plain(self.tables.types_mut().intern(TyKind::Function { result, params }))
            }
            TypeExprKind::Qualified { quals, inner } => {
                let inner = self.resolve_type(inner);
                qualify(&mut self.diagnostics, inner, *quals, written.span)
            }
            TypeExprKind::PackExpansion(_) => {
                self.diagnostics.error("pack", written.span, "pack expansion is not allowed here");
                ERROR
            }
        }
    }

    /// True for a template parameter that stands for a type without an address space: `T &&` takes a value of it, which
    /// is in thread memory.
    fn is_plain_argument(&self, written: &ast::TypeExpr, ty: QualTy) -> bool {
        let name = match &written.kind {
            TypeExprKind::Named(path) => path.as_ident(),
            TypeExprKind::Qualified { inner, .. } => return self.is_plain_argument(inner, ty),
            _ => None,
        };
        let is_type = !ty.ty.is_unknown() && !matches!(self.tables.types().kind(ty.ty), TyKind::Reference { .. });
        let is_parameter = |name: &SmolStr| self.tables.scopes().is_template_parameter(self.position.scope(), name);
        ty.space.is_none() && is_type && name.is_some_and(is_parameter)
    }

    fn resolve_type_path(&mut self, path: &'a ast::Path) -> QualTy {
        if let [ast::PathSegment { name, args: Some(args), .. }] = &*path.segments
            && name == "__underlying_type"
            && let [arg] = &**args
        {
            let Some(ty) = self.type_argument(arg) else { return ERROR };
            return match self.tables.types().enum_id(ty.ty) {
                Some(id) => QualTy::plain(self.tables.types().enum_(id).underlying),
                None if ty.ty.is_unknown() => ty,
                None => {
                    self.diagnostics.error(
                        "not-an-enum",
                        path.span,
                        format!(
                            "only enumeration types have underlying types; '{}' is none",
                            self.tables.name_of(ty.ty)
                        ),
                    );
                    ERROR
                }
            };
        }
        let Ok(found) = self.resolve_path(path) else { return ERROR };
        let Some(found) = found else {
            self.undeclared(path, true);
            return ERROR;
        };
        let last = path.last();
        self.symbol_as_type(&found.symbol, last.args.as_deref(), last.span)
    }

    /// The type that a symbol names, with its template arguments, if any.
    pub(in crate::check) fn symbol_as_type(
        &mut self,
        symbol: &Symbol,
        args: Option<&'a [ast::TemplateArg]>,
        span: Span,
    ) -> QualTy {
        match (symbol, args) {
            (Symbol::Dependent, _) => DEPENDENT,
            (Symbol::Type(ty), None) => *ty,
            // The name of a class template inside its own definition, with arguments.
            (Symbol::Type(ty), Some(args)) => {
                let template =
                    self.tables.types().struct_id(ty.ty).and_then(|id| self.tables.class(id).template.clone());
                match template {
                    Some((template, _)) => self.class_template_type(template, args, span),
                    None if ty.ty.is_unknown() => *ty,
                    None => {
                        let message = format!("'{}' is not a template", self.tables.name_of(ty.ty));
                        self.diagnostics.error("not-a-template", span, message);
                        ERROR
                    }
                }
            }
            (Symbol::ClassTemplate(id), Some(args)) => self.class_template_type(*id, args, span),
            (Symbol::AliasTemplate(id), Some(args)) => self.alias_template_type(*id, args, span),
            (Symbol::NativeTemplate(native), Some(args)) => self.native_template_type(*native, args, span),
            (Symbol::ClassTemplate(id), None) => {
                let template = self.tables.class_template(*id);
                if template.all_params_have_defaults() {
                    return self.class_template_type(*id, &[], span);
                }
                let (name, declared) = (template.name.clone(), template.span);
                let message = format!("use of class template '{name}' requires template arguments");
                let diagnostic = Diagnostic::error("template-arguments", span, message);
                self.diagnostics.report(diagnostic.note(declared, "template is declared here"));
                ERROR
            }
            (Symbol::AliasTemplate(_) | Symbol::NativeTemplate(_), None) => {
                let name = self.tables.sources().text(span);
                let message = format!("use of template '{name}' requires template arguments");
                self.diagnostics.error("template-arguments", span, message);
                ERROR
            }
            (Symbol::Ambiguous, _) => {
                let name = self.tables.sources().text(span);
                self.diagnostics.error("ambiguous-name", span, format!("reference to '{name}' is ambiguous"));
                ERROR
            }
            (Symbol::Pack(_), _) => {
                self.diagnostics.error("pack", span, "the type contains an unexpanded parameter pack");
                ERROR
            }
            _ => {
                let name = self.tables.sources().text(span);
                let message = format!("'{name}' does not name a type");
                self.diagnostics.error("not-a-type", span, message);
                ERROR
            }
        }
    }

    fn native_template_type(&mut self, native: NativeTemplate, args: &'a [ast::TemplateArg], span: Span) -> QualTy {
        let expected = match native {
            NativeTemplate::Vec | NativeTemplate::PackedVec | NativeTemplate::ShapeOf => 2,
            NativeTemplate::Matrix | NativeTemplate::SimdgroupMatrix => 3,
            NativeTemplate::Atomic | NativeTemplate::ElementOf => 1,
        };
        if args.len() != expected {
            let few = if args.len() < expected { "few" } else { "many" };
            self.diagnostics.error(
                "template-arguments",
                span,
                format!("too {few} template arguments: {expected} expected"),
            );
            return ERROR;
        }
        let Some(first) = self.type_argument(&args[0]) else { return ERROR };
        let dimension = |this: &mut Self, index: usize| -> Option<Option<i128>> {
            this.value_argument(&args[index], Ty::INT).map(|value| match value {
                Value::Int(value) => Some(value),
                _ => None,
            })
        };
        if first.ty.is_unknown() {
            for arg in &args[1..] {
                if !self.is_type_argument(arg) {
                    self.value_argument(arg, Ty::INT);
                }
            }
            return first;
        }
        let element = first.ty;
        match native {
            NativeTemplate::Vec | NativeTemplate::PackedVec => {
                let Some(len) = dimension(self, 1) else { return ERROR };
                let Some(len) = len else { return DEPENDENT };
                if self.position.is_ordering() && len >= MADE_UP {
                    // A made-up length, equal to no other.
                    let len = 100 + (len - MADE_UP) as u8 % 100;
                    return QualTy::plain(self.tables.types_mut().intern(TyKind::Vector { element, len }));
                }
                if !self.tables.types().is_arithmetic(element) && !self.position.is_ordering() {
                    let message = format!("'{}' cannot be the element of a vector", self.tables.name_of(element));
                    self.diagnostics.error("vector-element", span, message);
                    return ERROR;
                }
                // Longer ones have no names of their own, and only the language's operators.
                let is_long = native == NativeTemplate::Vec && matches!(len, 8 | 16);
                if !(1..=4).contains(&len) && !is_long {
                    self.diagnostics.error(
                        "vector-size",
                        span,
                        format!("a vector has 1 to 4 components, 8 or 16, not {len}"),
                    );
                    return ERROR;
                }
                let len = len as u8;
                QualTy::plain(match native {
                    NativeTemplate::PackedVec if len > 1 => {
                        self.tables.types_mut().intern(TyKind::PackedVector { element, len })
                    }
                    _ => self.tables.types_mut().vector(element, len),
                })
            }
            NativeTemplate::Matrix => {
                let (Some(columns), Some(rows)) = (dimension(self, 1), dimension(self, 2)) else { return ERROR };
                let (Some(columns), Some(rows)) = (columns, rows) else { return DEPENDENT };
                let fits = |n: i128| (2..=4).contains(&n);
                if !fits(columns) || !fits(rows) || self.tables.types().float_kind(element).is_none() {
                    self.diagnostics.error(
                        "matrix",
                        span,
                        "a matrix has 2 to 4 columns and rows of floating-point numbers",
                    );
                    return ERROR;
                }
                let (columns, rows) = (columns as u8, rows as u8);
                QualTy::plain(self.tables.types_mut().intern(TyKind::Matrix { element, columns, rows }))
            }
            NativeTemplate::SimdgroupMatrix => {
                let (Some(columns), Some(rows)) = (dimension(self, 1), dimension(self, 2)) else { return ERROR };
                let (Some(columns), Some(rows)) = (columns, rows) else { return DEPENDENT };
                // Another element is an error only for variables: templates name such types and never use them.
                if (columns, rows) != (8, 8) || !self.tables.types().is_arithmetic(element) {
                    let message = "a simdgroup_matrix is 8x8, of half, bfloat or float";
                    self.diagnostics.error("simdgroup-matrix", span, message);
                    return ERROR;
                }
                QualTy::plain(self.tables.types_mut().intern(TyKind::SimdgroupMatrix { element }))
            }
            NativeTemplate::Atomic => {
                let allowed = [Ty::INT, Ty::UINT, Ty::BOOL, Ty::ULONG, Ty::LONG, Ty::FLOAT];
                if !allowed.contains(&element) {
                    let message = format!("'{}' cannot be atomic", self.tables.name_of(element));
                    self.diagnostics.error("atomic", span, message);
                    return ERROR;
                }
                QualTy::plain(self.tables.types_mut().intern(TyKind::Atomic(element)))
            }
            NativeTemplate::ShapeOf => {
                let Some(target) = self.type_argument(&args[1]) else { return ERROR };
                let len = self.tables.types().vector_parts(element).map_or(1, |(_, len)| len);
                QualTy::plain(self.tables.types_mut().vector(target.ty, len))
            }
            NativeTemplate::ElementOf => QualTy::plain(self.tables.types().element_of(element)),
        }
    }
}

pub(in crate::check) fn builtin_type(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    builtin: BuiltinType,
    span: Span,
) -> QualTy {
    QualTy::plain(match builtin {
        BuiltinType::Void => Ty::VOID,
        BuiltinType::Bool => Ty::BOOL,
        BuiltinType::Char => Ty::CHAR,
        BuiltinType::UChar => Ty::UCHAR,
        BuiltinType::Short => Ty::SHORT,
        BuiltinType::UShort => Ty::USHORT,
        BuiltinType::Int => Ty::INT,
        BuiltinType::UInt => Ty::UINT,
        BuiltinType::Long => Ty::LONG,
        BuiltinType::ULong => Ty::ULONG,
        BuiltinType::Half => Ty::HALF,
        BuiltinType::BFloat => {
            if tables.std() < LanguageVersion::new(3, 1) && !tables.is_in_stdlib(span) {
                let message = format!("'bfloat' needs Metal 3.1; this is {}", tables.std());
                diagnostics.error("bfloat", span, message);
            }
            Ty::BFLOAT
        }
        BuiltinType::Float => Ty::FLOAT,
        BuiltinType::Double => {
            diagnostics.error("double", span, "'double' is not supported in Metal");
            Ty::ERROR
        }
    })
}
