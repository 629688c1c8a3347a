//! Template arguments as text, for names and messages.

use crate::check::Checker;
use crate::check::tables::TemplateArg;
use crate::types::Ty;

impl<'a> Checker<'a> {
    /// `<float, 4>`, as one would write it.
    pub(in crate::check) fn args_text(&self, args: &[TemplateArg]) -> String {
        format!("<{}>", self.args_list(args))
    }

    fn args_list(&self, args: &[TemplateArg]) -> String {
        let mut texts = Vec::new();
        for arg in args {
            match arg {
                TemplateArg::Pack(args) if args.is_empty() => {}
                TemplateArg::Pack(args) => texts.push(self.args_list(args)),
                arg => texts.push(self.arg_text(arg)),
            }
        }
        texts.join(", ")
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
            TemplateArg::UnknownValue => "<dependent>".into(),
            TemplateArg::Function(id) => self.program.function(*id).name.to_string(),
            TemplateArg::Template(id) => self.class_templates[id.0 as usize].name.to_string(),
            TemplateArg::Pack(args) => self.args_list(args),
        }
    }
}
