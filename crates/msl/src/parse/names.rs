//! The parser's names: just enough to tell types, templates and values apart.
//!
//! A tree of scopes, each a map from names to kinds. Overloads, access and accessibility do not matter here, and a
//! specialization's members count as its primary template's: the answer is a kind, never an entity.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smol_str::SmolStr;
use std::sync::Arc;

/// The built-in types that no header declares: names of scalar types.
pub const SCALAR_NAMES: &[&str] = &[
    "size_t",
    "ptrdiff_t",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
];

/// The built-in types that no header declares: other types without template parameters.
pub const OPAQUE_NAMES: &[&str] = &[
    "simdgroup_half8x8",
    "simdgroup_bfloat8x8",
    "simdgroup_float8x8",
    "atomic_int",
    "atomic_uint",
    "atomic_bool",
    "atomic_ulong",
    "atomic_float",
];

/// The class templates that no header declares.
pub const TEMPLATE_NAMES: &[&str] = &["vec", "packed_vec", "matrix", "simdgroup_matrix", "atomic"];

/// The elements of `float4` and kin.
pub const VECTOR_ELEMENTS: &[&str] =
    &["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat"];

/// Names with this prefix are alias templates, one for each way to derive a type from another.
pub const TEMPLATE_PREFIXES: &[&str] = &["__shape_of", "__element_of"];

/// A template parameter declared with a type with this prefix is a type parameter: one of a set that the checker knows.
pub const TYPE_SET_PREFIX: &str = "__each_";

/// All built-in types, known at global scope and in `metal`.
pub fn builtin_type_names() -> Vec<SmolStr> {
    let mut names: Vec<SmolStr> = SCALAR_NAMES.iter().chain(OPAQUE_NAMES).map(|&name| name.into()).collect();
    for element in VECTOR_ELEMENTS {
        for width in 2..=4 {
            names.push(smol_str::format_smolstr!("{element}{width}"));
            names.push(smol_str::format_smolstr!("packed_{element}{width}"));
        }
    }
    for element in ["half", "float"] {
        for (columns, rows) in (2..=4).flat_map(|columns| (2..=4).map(move |rows| (columns, rows))) {
            names.push(smol_str::format_smolstr!("{element}{columns}x{rows}"));
        }
    }
    names
}

/// Kind of entity behind a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameKind {
    Type,
    /// Or an alias template, or a template template parameter.
    ClassTemplate,
    FunctionTemplate,
    VariableTemplate,
    /// Or a function.
    Value,
    Namespace,
}

/// A known name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub(super) kind: NameKind,
    /// The members, of a namespace, class or enum.
    pub(super) scope: Option<ScopeId>,
}

impl Name {
    pub(super) fn new(kind: NameKind) -> Name {
        Name { kind, scope: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ScopeId(u32);

impl ScopeId {
    /// The global namespace.
    pub(super) const ROOT: ScopeId = ScopeId(0);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeKind {
    Namespace,
    Class,
    /// Template parameters: the declaration after them belongs to the scope around.
    Template,
    Block,
}

#[derive(Clone, Debug)]
struct Scope {
    kind: ScopeKind,
    parent: Option<ScopeId>,
    names: HashMap<SmolStr, Name>,
    /// Scopes whose names are visible here, too: base classes, `using namespace`, specializations.
    linked: Vec<ScopeId>,
    /// A class's own name, to recognize its constructors.
    class_name: Option<SmolStr>,
}

/// Copies share their scopes until one changes.
#[derive(Clone, Debug)]
pub(super) struct Names {
    scopes: Vec<Arc<Scope>>,
    /// Every name that is a template in some class: behind `.` and `->`, it may have an argument list.
    member_templates: HashSet<SmolStr>,
}

impl Names {
    pub(super) fn new() -> Names {
        let mut names = Names { scopes: Vec::new(), member_templates: HashSet::default() };
        let root = names.add_scope(ScopeKind::Namespace, None);
        let metal = names.open_namespace(root, Some("metal".into()), false);
        for scope in [root, metal] {
            for name in builtin_type_names() {
                names.declare(scope, name, Name::new(NameKind::Type));
            }
            for &name in TEMPLATE_NAMES {
                names.declare(scope, name.into(), Name::new(NameKind::ClassTemplate));
            }
        }
        names
    }

    pub(super) fn add_scope(&mut self, kind: ScopeKind, parent: Option<ScopeId>) -> ScopeId {
        let scope = Scope { kind, parent, names: HashMap::default(), linked: Vec::new(), class_name: None };
        self.scopes.push(Arc::new(scope));
        ScopeId(self.scopes.len() as u32 - 1)
    }

    fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    fn scope_mut(&mut self, id: ScopeId) -> &mut Scope {
        Arc::make_mut(&mut self.scopes[id.0 as usize])
    }

    pub(super) fn kind(&self, id: ScopeId) -> ScopeKind {
        self.scope(id).kind
    }

    pub(super) fn class_name(&self, id: ScopeId) -> Option<&SmolStr> {
        self.scope(id).class_name.as_ref()
    }

    /// The scope that a declaration inside `id` adds its name to.
    pub(super) fn declaring_scope(&self, mut id: ScopeId) -> ScopeId {
        while let Scope { kind: ScopeKind::Template, parent: Some(parent), .. } = self.scope(id) {
            id = *parent;
        }
        id
    }

    /// Makes the names of `from` visible in `into`.
    pub(super) fn link(&mut self, into: ScopeId, from: ScopeId) {
        if into != from && !self.scope(into).linked.contains(&from) {
            self.scope_mut(into).linked.push(from);
        }
    }

    /// A scope with the names of the template scopes around `scope`, inside `class`: for a member that is defined
    /// outside its class, perhaps with other parameter names.
    pub(super) fn member_definition_scope(&mut self, scope: ScopeId, class: ScopeId) -> ScopeId {
        let inner = self.add_scope(ScopeKind::Block, Some(class));
        let mut around = scope;
        while let Scope { kind: ScopeKind::Template, parent: Some(parent), .. } = *self.scope(around) {
            self.link(inner, around);
            around = parent;
        }
        inner
    }

    /// Opens a namespace, or opens it again.
    pub(super) fn open_namespace(&mut self, parent: ScopeId, name: Option<SmolStr>, inline: bool) -> ScopeId {
        if let Some(name) = &name
            && let Some(Name { kind: NameKind::Namespace, scope: Some(scope) }) = self.scope(parent).names.get(name)
        {
            return *scope;
        }
        let scope = self.add_scope(ScopeKind::Namespace, Some(parent));
        if inline || name.is_none() {
            self.link(parent, scope);
        }
        if let Some(name) = name {
            self.declare(parent, name, Name { kind: NameKind::Namespace, scope: Some(scope) });
        }
        scope
    }

    /// Makes a class known in `scope` and gives the scope for its members: the same one for each declaration.
    pub(super) fn open_class(
        &mut self,
        scope: ScopeId,
        name: &SmolStr,
        kind: NameKind,
        around: ScopeId,
    ) -> ScopeId {
        let known = self.scope(scope).names.get(name).filter(|known| known.kind == kind);
        // A class inside a class of the same name is another one, and no scope may be its own parent.
        let members = match known.and_then(|known| known.scope) {
            Some(members) if !self.is_around(members, around) => members,
            _ => self.unnamed_class(around),
        };
        let injected = Name { kind, scope: Some(members) };
        let class = self.scope_mut(members);
        class.parent = Some(around);
        class.class_name = Some(name.clone());
        self.declare(members, name.clone(), injected);
        self.declare(scope, name.clone(), injected);
        members
    }

    fn is_around(&self, outer: ScopeId, inner: ScopeId) -> bool {
        let mut current = Some(inner);
        while let Some(id) = current {
            if id == outer {
                return true;
            }
            current = self.scope(id).parent;
        }
        false
    }

    /// The scope of a specialization of `name`: its members are also found in the primary template.
    pub(super) fn open_specialization(
        &mut self,
        primary: Option<ScopeId>,
        name: &SmolStr,
        around: ScopeId,
    ) -> ScopeId {
        let members = self.unnamed_class(around);
        if let Some(primary) = primary {
            self.link(primary, members);
        }
        self.scope_mut(members).class_name = Some(name.clone());
        self.declare(members, name.clone(), Name { kind: NameKind::ClassTemplate, scope: Some(members) });
        members
    }

    pub(super) fn unnamed_class(&mut self, around: ScopeId) -> ScopeId {
        self.add_scope(ScopeKind::Class, Some(around))
    }

    /// Makes a name known in exactly this scope.
    pub(super) fn declare(&mut self, scope: ScopeId, name: SmolStr, new: Name) {
        let in_class = self.kind(scope) == ScopeKind::Class;
        if in_class && matches!(new.kind, NameKind::FunctionTemplate | NameKind::VariableTemplate) {
            self.member_templates.insert(name.clone());
        }
        let names = &mut self.scope_mut(scope).names;
        // One template among overloads is enough for `f<` to begin an argument list.
        let is_template = names.get(&name).is_some_and(|known| known.kind == NameKind::FunctionTemplate);
        if !(is_template && new.kind == NameKind::Value) {
            names.insert(name, new);
        }
    }

    pub(super) fn is_member_template(&self, name: &str) -> bool {
        self.member_templates.contains(name)
    }

    /// Looks a name up from `scope` outwards.
    pub(super) fn lookup(&self, scope: ScopeId, name: &str) -> Option<Name> {
        let mut current = Some(scope);
        let mut seen = Vec::new();
        while let Some(id) = current {
            if let Some(found) = self.find(id, name, &mut seen) {
                return Some(found);
            }
            current = self.scope(id).parent;
        }
        let is_builtin = TEMPLATE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        is_builtin.then_some(Name::new(NameKind::ClassTemplate))
    }

    /// Looks a name up as a member of `scope`.
    pub(super) fn lookup_member(&self, scope: ScopeId, name: &str) -> Option<Name> {
        let found = self.find(scope, name, &mut Vec::new());
        let is_builtin = || TEMPLATE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        found.or_else(|| is_builtin().then_some(Name::new(NameKind::ClassTemplate)))
    }

    fn find(&self, id: ScopeId, name: &str, seen: &mut Vec<ScopeId>) -> Option<Name> {
        let scope = self.scope(id);
        if let Some(found) = scope.names.get(name) {
            return Some(*found);
        }
        // Links may form circles.
        let mut waiting: Vec<ScopeId> = scope.linked.iter().rev().copied().collect();
        while let Some(linked) = waiting.pop() {
            if seen.contains(&linked) {
                continue;
            }
            seen.push(linked);
            let scope = self.scope(linked);
            if let Some(found) = scope.names.get(name) {
                return Some(*found);
            }
            waiting.extend(scope.linked.iter().rev());
        }
        None
    }
}
