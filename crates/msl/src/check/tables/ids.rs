//! Indices into the tables.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(in crate::check) struct $name(pub(in crate::check) u32);
    )* };
}

ids! {
    /// A function or function template, before its template arguments are known.
    EntityId,
    /// A class template.
    ClassTemplateId,
    /// An alias template.
    AliasTemplateId,
    /// A variable template.
    VarTemplateId,
}
