//! Types as text, in messages and reflection: `const device float *`, `float4`, `packed_half3`, `Tile<8>`.

use super::{QualTy, Ty, TyKind, Types};

impl Types {
    /// `ty` as one would write it.
    pub fn name(&self, ty: Ty) -> String {
        self.qualified_name(QualTy::plain(ty))
    }

    /// `ty` as one would write it from outside of all namespaces: `mlx::steel::GEMMParams`.
    pub fn full_name(&self, ty: Ty) -> String {
        Names { types: self, is_full: true, functions: 0 }.declare(QualTy::plain(ty), String::new())
    }

    /// `ty` with its qualifiers, as one would write it.
    pub fn qualified_name(&self, ty: QualTy) -> String {
        Names { types: self, is_full: false, functions: 0 }.declare(ty, String::new())
    }
}

/// Writes types.
#[derive(Clone, Copy)]
struct Names<'t> {
    types: &'t Types,
    /// With the namespaces and classes around them.
    is_full: bool,
    /// Number of function types around the one at hand.
    functions: u32,
}

/// Deepest nesting of function types that is written out: `T(T, T)` over itself doubles the text.
const MAX_FUNCTIONS: u32 = 8;

impl Names<'_> {
    /// The declaration of `inner` (a name, or a declarator around one) with type `ty`.
    fn declare(&self, ty: QualTy, inner: String) -> String {
        let spaced = |text: String| if inner.is_empty() { text } else { format!("{text} {inner}") };
        match self.types.kind(ty.ty) {
            TyKind::Pointer(pointee) => {
                let quals = trailing_qualifiers(ty);
                let needs_parens =
                    matches!(self.types.kind(pointee.ty), TyKind::Function { .. } | TyKind::Array { .. });
                let star = if needs_parens { format!("(*{quals}{inner})") } else { format!("*{quals}{inner}") };
                self.declare(*pointee, star)
            }
            TyKind::Reference { to, rvalue } => {
                let ampersand = if *rvalue { "&&" } else { "&" };
                let needs_parens = matches!(self.types.kind(to.ty), TyKind::Function { .. } | TyKind::Array { .. });
                let text = format!("{ampersand}{inner}");
                self.declare(*to, if needs_parens { format!("({text})") } else { text })
            }
            TyKind::MemberPointer { class, member } => {
                let class = self.types.struct_(*class);
                let star =
                    format!("{}::*{}{inner}", self.around(&class.qualifier, &class.name), trailing_qualifiers(ty));
                if !self.types.is_function(member.ty) {
                    return self.declare(*member, star);
                }
                let function = self.declare(QualTy::plain(member.ty), format!("({star})"));
                format!("{function}{}", if member.is_const { " const" } else { "" })
            }
            TyKind::Array { element, len } => {
                let len = len.map_or(String::new(), |n| n.to_string());
                self.declare(ty.with_ty(*element), format!("{inner}[{len}]"))
            }
            TyKind::Function { .. } if self.functions == MAX_FUNCTIONS => spaced("...".into()),
            TyKind::Function { result, params } => {
                let inside = Names { functions: self.functions + 1, ..*self };
                let params: Vec<String> =
                    params.iter().map(|&p| inside.declare(QualTy::plain(p), String::new())).collect();
                inside.declare(QualTy::plain(*result), format!("{inner}({})", params.join(", ")))
            }
            _ => spaced(format!("{}{}", leading_qualifiers(ty), self.simple_name(ty.ty))),
        }
    }

    fn simple_name(&self, ty: Ty) -> String {
        match self.types.kind(ty) {
            TyKind::Error => "<error>".into(),
            TyKind::Dependent => "<dependent>".into(),
            TyKind::Void => "void".into(),
            TyKind::Bool => "bool".into(),
            TyKind::Int(kind) => kind.name().into(),
            TyKind::Float(kind) => kind.name().into(),
            TyKind::NullPtr => "nullptr_t".into(),
            TyKind::Vector { element, len } => format!("{}{len}", self.simple_name(*element)),
            TyKind::PackedVector { element, len } => format!("packed_{}{len}", self.simple_name(*element)),
            TyKind::Matrix { element, columns, rows } => {
                format!("{}{columns}x{rows}", self.simple_name(*element))
            }
            TyKind::SimdgroupMatrix { element } => format!("simdgroup_{}8x8", self.simple_name(*element)),
            TyKind::Atomic(element) => format!("atomic_{}", self.simple_name(*element)),
            TyKind::Struct(id) => {
                let class = self.types.struct_(*id);
                self.around(&class.qualifier, &class.name)
            }
            TyKind::Enum(id) => {
                let enumeration = self.types.enum_(*id);
                self.around(&enumeration.qualifier, &enumeration.name)
            }
            TyKind::Pointer(_)
            | TyKind::Reference { .. }
            | TyKind::MemberPointer { .. }
            | TyKind::Array { .. }
            | TyKind::Function { .. } => self.declare(QualTy::plain(ty), String::new()),
        }
    }

    fn around(&self, qualifier: &str, name: &str) -> String {
        if self.is_full { format!("{qualifier}{name}") } else { name.to_owned() }
    }
}

fn leading_qualifiers(ty: QualTy) -> String {
    let mut text = String::new();
    if ty.is_const {
        text.push_str("const ");
    }
    if ty.is_volatile {
        text.push_str("volatile ");
    }
    if let Some(coherence) = ty.coherence {
        text.push_str(coherence.text());
        text.push(' ');
    }
    if let Some(space) = ty.space {
        text.push_str(space.text());
        text.push(' ');
    }
    text
}

fn trailing_qualifiers(ty: QualTy) -> String {
    let text = leading_qualifiers(ty);
    if text.is_empty() { text } else { format!(" {text}") }
}
