//! Methods of textures that their `access` does not have.

use crate::check::Checker;
use crate::check::tables::{EntityId, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::types::TyKind;

/// The values of `metal::access`, in the order of the header.
const ACCESSES: [&str; 4] = ["sample", "read", "write", "read_write"];

impl<'a> Checker<'a> {
    /// Refuses `write` on a texture that is only read, and the like (specification, 2.9).
    pub(super) fn refuse_texture_access(&mut self, method: EntityId, span: Span) {
        let entity = self.tables.entity(method);
        let Some(class) = entity.class.filter(|_| entity.builtin.is_some()) else { return };
        let Some((_, args)) = &self.tables.class(class).template else { return };
        let access = args.iter().find_map(|arg| match arg {
            TemplateArg::Int(ty, value) => match self.tables.types().kind(*ty) {
                TyKind::Enum(id) if self.tables.types().enum_(*id).name == "access" => usize::try_from(*value).ok(),
                _ => None,
            },
            _ => None,
        });
        let Some(access) = access.and_then(|access| ACCESSES.get(access)) else { return };
        let needed: &[&str] = match entity.name.as_str() {
            name if name.starts_with("sample") || name.starts_with("gather") || name.starts_with("calculate_") => {
                &["sample"]
            }
            name if name.starts_with("read") => &["sample", "read", "read_write"],
            name if name.starts_with("write") || name.starts_with("atomic_") => &["write", "read_write"],
            "fence" => &["read_write"],
            _ => return,
        };
        if needed.contains(access) {
            return;
        }
        let (name, declared) = (entity.name.clone(), entity.span);
        let needed: Vec<String> = needed.iter().map(|access| format!("'access::{access}'")).collect();
        let message = format!("no matching member function for call to '{name}'");
        let note = format!("candidate disabled: the texture has 'access::{access}', not {}", needed.join(" or "));
        self.diagnostics.report(Diagnostic::error("texture-access", span, message).note(declared, note));
    }
}
