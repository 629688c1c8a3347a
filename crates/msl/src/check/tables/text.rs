//! Names and template arguments as text, for messages.

use super::Tables;
use super::templates::TemplateArg;
use crate::program::Expr;
use crate::types::{AddressSpace, QualTy, Ty};

/// Longest list of template arguments in a name. Names are part of other names: without a limit, `Q<T, T>` over itself
/// doubles them.
const MAX_ARGS_TEXT: usize = 4096;

impl<'a> Tables<'a> {
    pub(in crate::check) fn name_of(&self, ty: Ty) -> String {
        self.types().name(ty)
    }

    /// The name of a type with its qualifiers. The thread address space is not written.
    pub(in crate::check) fn name_of_qual(&self, ty: QualTy) -> String {
        let space = ty.space.filter(|space| *space != AddressSpace::Thread);
        self.types().qualified_name(QualTy { space, ..ty })
    }

    /// The type of an expression; for a place with its qualifiers.
    pub(in crate::check) fn name_of_expr(&self, expr: &Expr) -> String {
        match expr.is_place {
            true => self.name_of_qual(expr.ty),
            false => self.name_of(expr.ty.ty),
        }
    }

    /// `<float, 4>`, as in source code; `<...>` for a very long list.
    pub(in crate::check) fn args_text(&self, args: &[TemplateArg]) -> String {
        let list = self.args_list(args);
        if list.len() > MAX_ARGS_TEXT { "<...>".into() } else { format!("<{list}>") }
    }

    fn args_list(&self, args: &[TemplateArg]) -> String {
        let mut texts = Vec::new();
        for arg in args {
            match arg {
                TemplateArg::Pack(args) if args.is_empty() => {}
                // Textures have it from Metal 3.2 on, and are named as before.
                TemplateArg::Int(ty, 0) if self.is_coherence(*ty) => {}
                TemplateArg::Pack(args) => texts.push(self.args_list(args)),
                arg => texts.push(self.arg_text(arg)),
            }
        }
        texts.join(", ")
    }

    /// True for `metal::memory_coherence`.
    fn is_coherence(&self, ty: Ty) -> bool {
        let definition = self.types().enum_id(ty).map(|id| self.types().enum_(id));
        definition.is_some_and(|found| found.name == "memory_coherence" && found.qualifier == "metal::")
    }

    pub(in crate::check) fn arg_text(&self, arg: &TemplateArg) -> String {
        match arg {
            TemplateArg::Type(ty) => self.name_of_qual(*ty),
            TemplateArg::Int(Ty::BOOL, value) => (*value != 0).to_string(),
            TemplateArg::Int(ty, value) => match self.types().enum_id(*ty) {
                Some(id) => {
                    let definition = self.types().enum_(id);
                    match definition.enumerators.iter().find(|(_, v)| v == value) {
                        Some((name, _)) => format!("{}::{name}", definition.name),
                        None => value.to_string(),
                    }
                }
                None => value.to_string(),
            },
            TemplateArg::Object(ty, members) => format!("{}{{{}}}", self.name_of(*ty), self.args_list(members)),
            TemplateArg::UnknownValue => "<dependent>".into(),
            TemplateArg::Function(id) => self.function(*id).name.to_string(),
            TemplateArg::Template(id) => self.class_template(*id).name.to_string(),
            TemplateArg::Pack(args) => self.args_list(args),
        }
    }
}
