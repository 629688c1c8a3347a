//! Scopes, and the meanings of names in them.

use super::Tables;
use super::ids::{AliasTemplateId, ClassTemplateId, EntityId, VarTemplateId};
use super::native::NativeTemplate;
use super::templates::TemplateArg;
use crate::program::{GlobalId, LocalId, Value};
use crate::types::{QualTy, StructId, Ty};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

/// A scope in [`Scopes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) struct ScopeId(pub(super) u32);

impl ScopeId {
    /// The global namespace.
    pub(in crate::check) const GLOBAL: ScopeId = ScopeId(0);
}

/// Kind of scope.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::check) enum ScopeKind {
    /// A namespace, with its full name (empty for the global one).
    Namespace(SmolStr),
    /// The members of a class.
    Class(StructId),
    /// The parameters of a template.
    Template,
    /// A function's parameters, or a block.
    Block,
    /// The outermost block of a branch, loop or switch: it cannot declare the names of the condition around it again.
    Controlled,
}

#[derive(Debug)]
pub(in crate::check) struct Scope {
    pub(in crate::check) parent: Option<ScopeId>,
    pub(in crate::check) kind: ScopeKind,
    names: HashMap<SmolStr, Symbol>,
    /// Namespaces named by `using namespace`, and inline ones.
    using: Vec<ScopeId>,
}

/// Meaning of a name.
#[derive(Clone, Debug)]
pub(in crate::check) enum Symbol {
    Namespace(ScopeId),
    Type(QualTy),
    ClassTemplate(ClassTemplateId),
    AliasTemplate(AliasTemplateId),
    VarTemplate(VarTemplateId),
    NativeTemplate(NativeTemplate),
    Functions(Vec<EntityId>),
    Global(GlobalId),
    Local(LocalId),
    /// A captured variable inside a lambda: a field of the closure.
    Capture(u32),
    /// An enumerator or a template's value parameter.
    Value(Ty, Value),
    /// A data member, by its position in the class that owns the scope.
    Field(u32),
    /// A template parameter pack.
    Pack(Vec<TemplateArg>),
    /// A function parameter pack.
    LocalPack(Vec<LocalId>),
    /// Different entities from several namespaces in use.
    Ambiguous,
    /// The meaning depends on template parameters.
    Dependent,
}

impl Symbol {
    /// True if both are the same entity, found twice.
    fn is_same(&self, other: &Symbol) -> bool {
        match (self, other) {
            (Symbol::Global(a), Symbol::Global(b)) => a == b,
            (Symbol::Type(a), Symbol::Type(b)) => a == b,
            (Symbol::Value(a, x), Symbol::Value(b, y)) => a == b && x == y,
            (Symbol::ClassTemplate(a), Symbol::ClassTemplate(b)) => a == b,
            (Symbol::AliasTemplate(a), Symbol::AliasTemplate(b)) => a == b,
            (Symbol::VarTemplate(a), Symbol::VarTemplate(b)) => a == b,
            (Symbol::Namespace(a), Symbol::Namespace(b)) => a == b,
            _ => false,
        }
    }
}

#[derive(Debug)]
pub(in crate::check) struct Scopes {
    scopes: Vec<Scope>,
}

impl Scopes {
    pub(in crate::check) fn new() -> Scopes {
        let kind = ScopeKind::Namespace(SmolStr::default());
        Scopes { scopes: vec![Scope { parent: None, kind, names: HashMap::default(), using: Vec::new() }] }
    }

    pub(in crate::check) fn add(&mut self, parent: ScopeId, kind: ScopeKind) -> ScopeId {
        self.scopes.push(Scope { parent: Some(parent), kind, names: HashMap::default(), using: Vec::new() });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    /// Removes a scope that is not needed any more, if none was added after it.
    pub(in crate::check) fn remove_last(&mut self, id: ScopeId) {
        if id.0 as usize + 1 == self.scopes.len() {
            self.scopes.pop();
        }
    }

    pub(in crate::check) fn get(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// Sets the meaning of `name`; returns its old meaning in this very scope.
    pub(in crate::check) fn insert(&mut self, scope: ScopeId, name: SmolStr, symbol: Symbol) -> Option<Symbol> {
        self.scopes[scope.0 as usize].names.insert(name, symbol)
    }

    /// Meaning of `name` in this very scope.
    pub(in crate::check) fn own(&self, scope: ScopeId, name: &str) -> Option<&Symbol> {
        self.get(scope).names.get(name)
    }

    /// The declaration that keeps `scope` from declaring `name`: one of its own, or that of a condition around it.
    pub(in crate::check) fn conflicting(&self, scope: ScopeId, name: &str) -> Option<&Symbol> {
        let this = self.get(scope);
        let around = this.parent.filter(|_| this.kind == ScopeKind::Controlled);
        self.own(scope, name).or_else(|| self.own(around?, name))
    }

    /// True if `name` is a template parameter in `scope`.
    pub(in crate::check) fn is_template_parameter(&self, scope: ScopeId, name: &str) -> bool {
        let mut next = Some(scope);
        while let Some(id) = next {
            let this = self.get(id);
            match this.kind {
                ScopeKind::Namespace(_) => return false,
                ScopeKind::Template if this.names.contains_key(name) => return true,
                _ => next = this.parent,
            }
        }
        false
    }

    /// All names of this very scope, for suggestions; in no particular order.
    pub(in crate::check) fn names(&self, scope: ScopeId) -> impl Iterator<Item = &SmolStr> {
        self.get(scope).names.keys()
    }

    pub(in crate::check) fn add_using(&mut self, scope: ScopeId, namespace: ScopeId) {
        let using = &mut self.scopes[scope.0 as usize].using;
        if scope != namespace && !using.contains(&namespace) {
            using.push(namespace);
        }
    }

    /// Adds a function to the overloads of `name`. Returns the other meaning of `name` if that is not a function.
    pub(in crate::check) fn add_function(
        &mut self,
        scope: ScopeId,
        name: &SmolStr,
        entity: EntityId,
    ) -> Option<Symbol> {
        match self.scopes[scope.0 as usize].names.entry(name.clone()).or_insert(Symbol::Functions(Vec::new())) {
            Symbol::Functions(entities) => {
                entities.push(entity);
                None
            }
            // Named by a `using` declaration, too: which function is meant depends on a base.
            Symbol::Dependent => None,
            // A constructor-like name hides nothing: a function may share its name with a class.
            symbol @ Symbol::Type(_) => {
                *symbol = Symbol::Functions(vec![entity]);
                None
            }
            other => Some(other.clone()),
        }
    }

    /// Meaning of `name` in a namespace or block scope and in the namespaces it uses; overloads are merged.
    pub(in crate::check) fn find_in(&self, scope: ScopeId, name: &str) -> Option<Symbol> {
        let own = self.own(scope, name);
        if self.get(scope).using.is_empty() {
            return own.cloned();
        }
        if let Some(symbol) = own
            && !matches!(symbol, Symbol::Functions(_))
        {
            return Some(symbol.clone());
        }
        let mut visited = vec![scope];
        let mut functions = Vec::new();
        let mut other = None;
        self.collect(scope, name, &mut visited, &mut functions, &mut other);
        if functions.is_empty() { other } else { Some(Symbol::Functions(functions)) }
    }

    fn collect(
        &self,
        scope: ScopeId,
        name: &str,
        visited: &mut Vec<ScopeId>,
        functions: &mut Vec<EntityId>,
        other: &mut Option<Symbol>,
    ) {
        match self.own(scope, name) {
            Some(Symbol::Functions(entities)) => {
                for entity in entities {
                    if !functions.contains(entity) {
                        functions.push(*entity);
                    }
                }
            }
            Some(symbol) => match other {
                Some(earlier) if !earlier.is_same(symbol) => *other = Some(Symbol::Ambiguous),
                Some(_) => {}
                None => *other = Some(symbol.clone()),
            },
            None => {}
        }
        for &used in &self.get(scope).using {
            if !visited.contains(&used) {
                visited.push(used);
                self.collect(used, name, visited, functions, other);
            }
        }
    }

    /// The scope that declares `name`, as seen from `scope`.
    fn declaring(&self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        let mut next = Some(scope);
        while let Some(scope) = next {
            let around = self.get(scope);
            let mut seen = std::iter::once(&scope).chain(&around.using);
            if let Some(found) = seen.find(|scope| self.own(**scope, name).is_some()) {
                return Some(*found);
            }
            next = around.parent;
        }
        None
    }

    /// The innermost namespace around `scope`.
    pub(in crate::check) fn enclosing_namespace(&self, mut scope: ScopeId) -> ScopeId {
        loop {
            let this = self.get(scope);
            match (&this.kind, this.parent) {
                (ScopeKind::Namespace(_), _) | (_, None) => return scope,
                (_, Some(parent)) => scope = parent,
            }
        }
    }

    /// The full name of a namespace with a trailing `::`, empty for the global one.
    pub(in crate::check) fn namespace_prefix(&self, scope: ScopeId) -> String {
        match &self.get(self.enclosing_namespace(scope)).kind {
            ScopeKind::Namespace(name) if !name.is_empty() => format!("{name}::"),
            _ => String::new(),
        }
    }
}

impl Tables<'_> {
    pub(in crate::check) fn add_local_constant(&mut self, scope: ScopeId, name: SmolStr, ty: Ty, value: Value) {
        self.local_constants.insert((scope, name), (ty, value));
    }

    pub(in crate::check) fn local_constant(&self, scope: ScopeId, name: &SmolStr) -> Option<(Ty, Value)> {
        self.local_constants.get(&(scope, name.clone())).cloned()
    }

    /// The class between `scope` and the block around it that declares `name`: the variable is one of another function.
    pub(in crate::check) fn class_before(&self, scope: ScopeId, name: &str) -> Option<(StructId, ScopeId)> {
        let (mut next, mut between) = (Some(scope), None);
        while let Some(id) = next {
            let this = self.scopes().get(id);
            if this.names.contains_key(name) {
                return between.map(|class| (class, id));
            }
            if let ScopeKind::Class(class) = this.kind {
                between = between.or(Some(class));
            }
            next = this.parent;
        }
        None
    }

    pub(in crate::check) fn align_alias(&mut self, scope: ScopeId, name: SmolStr, align: u64) {
        self.aligned_aliases.insert((scope, name), align);
    }

    pub(in crate::check) fn has_aligned_aliases(&self) -> bool {
        !self.aligned_aliases.is_empty()
    }

    pub(in crate::check) fn declaring_scope(&self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        self.scopes().declaring(scope, name)
    }

    /// The alignment of an alias that `scope` declares; 1 without one.
    pub(in crate::check) fn aligned_alias(&self, scope: ScopeId, name: &SmolStr) -> u64 {
        self.aligned_aliases.get(&(scope, name.clone())).copied().unwrap_or(1)
    }
}
