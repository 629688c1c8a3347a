//! Templates and their arguments.

use super::Tables;
use super::ids::{AliasTemplateId, ClassTemplateId, EntityId, VarTemplateId};
use super::scopes::ScopeId;
use crate::parse::ast;
use crate::program::{FunctionId, GlobalId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, StructId, Ty};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

/// A class template.
pub(in crate::check) struct ClassTemplate<'a> {
    pub(in crate::check) name: SmolStr,
    /// The scope it is declared in.
    pub(in crate::check) scope: ScopeId,
    /// Its parameters, as the definition names them once it is seen.
    pub(in crate::check) header: &'a ast::TemplateHeader,
    /// Other declarations, which may hold default arguments.
    pub(in crate::check) other_headers: Vec<&'a ast::TemplateHeader>,
    /// The definition.
    pub(in crate::check) definition: Option<&'a ast::ClassDecl>,
    pub(in crate::check) specializations: Specializations<'a, &'a ast::ClassDecl>,
    pub(in crate::check) instances: HashMap<Vec<TemplateArg>, StructId>,
    /// Members defined outside the class.
    pub(in crate::check) outside_members: Vec<&'a ast::FunctionDecl>,
    /// Values of static data members that are given outside the class.
    pub(in crate::check) outside_values: Vec<&'a ast::VarDecl>,
    pub(in crate::check) span: Span,
}

impl ClassTemplate<'_> {
    pub(in crate::check) fn all_params_have_defaults(&self) -> bool {
        self.header.params.iter().enumerate().all(|(index, param)| {
            let has_default = ast::TemplateParam::has_default;
            let elsewhere =
                self.other_headers.iter().filter_map(|header| header.params.get(index)).any(has_default);
            param.is_pack || has_default(param) || elsewhere
        })
    }
}

/// The specializations of a template.
pub(in crate::check) struct Specializations<'a, D> {
    /// Explicit ones by their arguments: thousands of them would take too long to compare with those of each instance.
    explicit: HashMap<Vec<TemplateArg>, Specialization<'a, D>>,
    /// Partial ones, and explicit ones whose arguments are not known.
    others: Vec<Specialization<'a, D>>,
}

impl<D> Default for Specializations<'_, D> {
    fn default() -> Self {
        Specializations { explicit: HashMap::default(), others: Vec::new() }
    }
}

impl<'a, D: Copy> Specializations<'a, D> {
    pub(in crate::check) fn is_empty(&self) -> bool {
        self.explicit.is_empty() && self.others.is_empty()
    }

    /// Adds one; `args` are those of an explicit one.
    pub(in crate::check) fn add(&mut self, args: Option<&[TemplateArg]>, specialization: Specialization<'a, D>) {
        match args.filter(|args| !args.iter().any(TemplateArg::is_dependent)) {
            Some(args) => drop(self.explicit.insert(keys(args), specialization)),
            None => self.others.push(specialization),
        }
    }

    /// The explicit one with these arguments.
    pub(in crate::check) fn explicit(&self, args: &[TemplateArg]) -> Option<Specialization<'a, D>> {
        (!self.explicit.is_empty()).then(|| self.explicit.get(&keys(args)).copied())?
    }

    pub(in crate::check) fn others(&self) -> &[Specialization<'a, D>] {
        &self.others
    }
}

/// Arguments of which no two are the same for a template and yet differ ([`TemplateArg::is_same`]).
fn keys(args: &[TemplateArg]) -> Vec<TemplateArg> {
    let key = |arg: &TemplateArg| match arg {
        TemplateArg::Type(ty) => {
            let space = ty.space.filter(|space| *space != AddressSpace::Thread);
            TemplateArg::Type(QualTy { space, ..*ty })
        }
        TemplateArg::Int(_, value) => TemplateArg::Int(Ty::INT, *value),
        TemplateArg::Pack(args) => TemplateArg::Pack(keys(args)),
        other => other.clone(),
    };
    args.iter().map(key).collect()
}

/// A partial or explicit specialization: `header` has no parameters for an explicit one.
#[derive(Clone, Copy)]
pub(in crate::check) struct Specialization<'a, D> {
    pub(in crate::check) header: &'a ast::TemplateHeader,
    pub(in crate::check) args: &'a [ast::TemplateArg],
    pub(in crate::check) decl: D,
    pub(in crate::check) scope: ScopeId,
}

/// An alias template.
pub(in crate::check) struct AliasTemplate<'a> {
    pub(in crate::check) decl: &'a ast::AliasDecl,
    pub(in crate::check) header: &'a ast::TemplateHeader,
    pub(in crate::check) scope: ScopeId,
    pub(in crate::check) instances: HashMap<Vec<TemplateArg>, QualTy>,
}

/// A variable template.
pub(in crate::check) struct VarTemplate<'a> {
    pub(in crate::check) name: SmolStr,
    pub(in crate::check) decl: &'a ast::VarDecl,
    pub(in crate::check) header: &'a ast::TemplateHeader,
    pub(in crate::check) scope: ScopeId,
    pub(in crate::check) specializations: Specializations<'a, &'a ast::VarDecl>,
    pub(in crate::check) instances: HashMap<Vec<TemplateArg>, Option<GlobalId>>,
}

impl TemplateArg {
    /// The value of a constant.
    pub(in crate::check) fn constant(&self) -> Option<(Ty, Value)> {
        match self {
            TemplateArg::Int(Ty::BOOL, value) => Some((Ty::BOOL, Value::Bool(*value != 0))),
            TemplateArg::Int(ty, value) => Some((*ty, Value::Int(*value))),
            TemplateArg::Object(ty, members) => {
                let values = members.iter().map(|member| member.constant().map(|(_, value)| value));
                Some((*ty, Value::Aggregate(values.collect::<Option<_>>()?)))
            }
            _ => None,
        }
    }

    /// True if it depends on a parameter that is not known yet.
    pub(in crate::check) fn is_dependent(&self) -> bool {
        match self {
            TemplateArg::Type(ty) => ty.ty == Ty::DEPENDENT,
            TemplateArg::UnknownValue => true,
            TemplateArg::Pack(args) | TemplateArg::Object(_, args) => args.iter().any(TemplateArg::is_dependent),
            TemplateArg::Int(..) | TemplateArg::Function(_) | TemplateArg::Template(_) => false,
        }
    }

    /// True if both are the same for a template: `thread` adds nothing to a type, and the type of a number is that of
    /// the parameter.
    pub(in crate::check) fn is_same(&self, other: &TemplateArg) -> bool {
        match (self, other) {
            (TemplateArg::Int(_, a), TemplateArg::Int(_, b)) => a == b,
            (TemplateArg::Type(a), TemplateArg::Type(b)) => {
                let space = |ty: &QualTy| ty.space.filter(|space| *space != AddressSpace::Thread);
                QualTy { space: space(a), ..*a } == QualTy { space: space(b), ..*b }
            }
            (a, b) => a == b,
        }
    }
}

/// A template argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) enum TemplateArg {
    Type(QualTy),
    /// A value of an integer, enum or `bool` type.
    Int(Ty, i128),
    /// An object of a class: the values of its members, which are of these types or such objects.
    Object(Ty, Vec<TemplateArg>),
    /// A value that depends on a parameter not known yet.
    UnknownValue,
    /// A function, for a parameter that is a function pointer.
    Function(FunctionId),
    Template(ClassTemplateId),
    Pack(Vec<TemplateArg>),
}

impl<'a> Tables<'a> {
    pub(in crate::check) fn class_template(&self, id: ClassTemplateId) -> &ClassTemplate<'a> {
        &self.class_templates[id.0 as usize]
    }

    pub(in crate::check) fn class_template_mut(&mut self, id: ClassTemplateId) -> &mut ClassTemplate<'a> {
        &mut self.class_templates[id.0 as usize]
    }

    pub(in crate::check) fn add_class_template(&mut self, template: ClassTemplate<'a>) -> ClassTemplateId {
        self.class_templates.push(template);
        ClassTemplateId(self.class_templates.len() as u32 - 1)
    }

    pub(in crate::check) fn alias_template(&self, id: AliasTemplateId) -> &AliasTemplate<'a> {
        &self.alias_templates[id.0 as usize]
    }

    pub(in crate::check) fn alias_template_mut(&mut self, id: AliasTemplateId) -> &mut AliasTemplate<'a> {
        &mut self.alias_templates[id.0 as usize]
    }

    pub(in crate::check) fn add_alias_template(&mut self, template: AliasTemplate<'a>) -> AliasTemplateId {
        self.alias_templates.push(template);
        AliasTemplateId(self.alias_templates.len() as u32 - 1)
    }

    pub(in crate::check) fn var_template(&self, id: VarTemplateId) -> &VarTemplate<'a> {
        &self.var_templates[id.0 as usize]
    }

    pub(in crate::check) fn var_template_mut(&mut self, id: VarTemplateId) -> &mut VarTemplate<'a> {
        &mut self.var_templates[id.0 as usize]
    }

    pub(in crate::check) fn add_var_template(&mut self, template: VarTemplate<'a>) -> VarTemplateId {
        self.var_templates.push(template);
        VarTemplateId(self.var_templates.len() as u32 - 1)
    }
}

impl Tables<'_> {
    pub(in crate::check) fn constructor_guides(&self, id: ClassTemplateId) -> Option<&[EntityId]> {
        self.constructor_guides.get(&id).map(Vec::as_slice)
    }

    pub(in crate::check) fn set_constructor_guides(&mut self, id: ClassTemplateId, guides: Vec<EntityId>) {
        self.constructor_guides.insert(id, guides);
    }
}
