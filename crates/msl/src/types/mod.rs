//! Types: interned, so that equal types are equal handles, with their layout and how they are written.

mod display;
mod layout;
mod space;

pub use layout::Layout;
pub(crate) use layout::LayoutRules;
pub use space::{AddressSpace, Coherence};

use crate::source::Span;
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

/// A type without qualifiers: a handle into [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ty(u32);

/// A struct, class or union in [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StructId(pub u32);

/// An enum in [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EnumId(pub u32);

/// A type with its qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QualTy {
    /// The type.
    pub ty: Ty,
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `coherent`
    pub coherence: Option<Coherence>,
    /// The address space, where one is given.
    pub space: Option<AddressSpace>,
}

impl QualTy {
    /// `ty` without qualifiers.
    pub const fn plain(ty: Ty) -> QualTy {
        QualTy { ty, is_const: false, is_volatile: false, coherence: None, space: None }
    }

    /// `const` added.
    pub fn constant(self) -> QualTy {
        QualTy { is_const: true, ..self }
    }

    /// In this address space.
    pub fn in_space(self, space: AddressSpace) -> QualTy {
        QualTy { space: Some(space), ..self }
    }

    /// Without `thread`, which is the space of objects that have no other.
    pub fn but_for_thread(self) -> QualTy {
        QualTy { space: self.space.filter(|space| *space != AddressSpace::Thread), ..self }
    }

    /// Another type with these qualifiers.
    pub fn with_ty(self, ty: Ty) -> QualTy {
        QualTy { ty, ..self }
    }
}

/// The integer types. `size_t` is `ulong`, `ptrdiff_t` is `long`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "each variant is the type of that name")]
pub enum IntKind {
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
}

impl IntKind {
    /// All of them.
    pub const ALL: [IntKind; 8] = [
        IntKind::Char,
        IntKind::UChar,
        IntKind::Short,
        IntKind::UShort,
        IntKind::Int,
        IntKind::UInt,
        IntKind::Long,
        IntKind::ULong,
    ];

    /// Its width.
    pub fn bits(self) -> u32 {
        match self {
            IntKind::Char | IntKind::UChar => 8,
            IntKind::Short | IntKind::UShort => 16,
            IntKind::Int | IntKind::UInt => 32,
            IntKind::Long | IntKind::ULong => 64,
        }
    }

    /// True if it has a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, IntKind::Char | IntKind::Short | IntKind::Int | IntKind::Long)
    }

    /// `value` modulo the type's range.
    pub fn wrap(self, value: i128) -> i128 {
        let shift = 128 - self.bits();
        if self.is_signed() { (value << shift) >> shift } else { ((value << shift) as u128 >> shift) as i128 }
    }

    /// Its name in Metal.
    pub fn name(self) -> &'static str {
        match self {
            IntKind::Char => "char",
            IntKind::UChar => "uchar",
            IntKind::Short => "short",
            IntKind::UShort => "ushort",
            IntKind::Int => "int",
            IntKind::UInt => "uint",
            IntKind::Long => "long",
            IntKind::ULong => "ulong",
        }
    }
}

/// The floating-point types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "each variant is the type of that name")]
pub enum FloatKind {
    Half,
    BFloat,
    Float,
}

impl FloatKind {
    /// All of them.
    pub const ALL: [FloatKind; 3] = [FloatKind::Half, FloatKind::BFloat, FloatKind::Float];

    /// Its name in Metal.
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::Half => "half",
            FloatKind::BFloat => "bfloat",
            FloatKind::Float => "float",
        }
    }
}

/// Kind of type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TyKind {
    /// The type after a reported error; fits everywhere.
    Error,
    /// Depends on a template parameter that is not known yet; fits everywhere.
    Dependent,
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// An integer.
    Int(IntKind),
    /// A floating-point number.
    Float(FloatKind),
    /// The type of `nullptr`.
    NullPtr,
    /// `vec<T, N>`
    Vector {
        /// The type of a component.
        element: Ty,
        /// 2, 3 or 4.
        len: u8,
    },
    /// `packed_vec<T, N>`
    PackedVector {
        /// The type of a component.
        element: Ty,
        /// 2, 3 or 4.
        len: u8,
    },
    /// `matrix<T, C, R>`
    Matrix {
        /// The type of a component.
        element: Ty,
        /// The number of columns.
        columns: u8,
        /// The number of rows.
        rows: u8,
    },
    /// `simdgroup_matrix<T, 8, 8>`
    SimdgroupMatrix {
        /// The type of a component.
        element: Ty,
    },
    /// `atomic<T>`
    Atomic(Ty),
    /// `T *`
    Pointer(QualTy),
    /// `T &`, `T &&`
    Reference {
        /// Referenced type.
        to: QualTy,
        /// `&&`
        rvalue: bool,
    },
    /// `T C::*`. For a member function, the qualifiers are those of its object.
    ///
    /// A pointer to data is the offset of the member plus one, so that zero is the null pointer.
    MemberPointer {
        /// Class of the member.
        class: StructId,
        /// Type of the member.
        member: QualTy,
    },
    /// `T[n]`; the qualifiers of the elements are those of the array.
    Array {
        /// The type of an element.
        element: Ty,
        /// The length; `None` for `T[]`.
        len: Option<u64>,
    },
    /// A struct, class or union.
    Struct(StructId),
    /// An enum.
    Enum(EnumId),
    /// A function.
    Function {
        /// Result type.
        result: Ty,
        /// Types of the parameters.
        params: Vec<Ty>,
    },
}

/// A struct, class or union.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name with template arguments, as in source code.
    pub name: SmolStr,
    /// The namespaces and classes around it, as in `mlx::steel::`; empty for what is global, or Metal's own.
    pub qualifier: SmolStr,
    /// The base class's part comes first, as fields with `is_base`.
    pub fields: Vec<Field>,
    /// `union`
    pub is_union: bool,
    /// Its definition was seen; the fields and the layout are known.
    pub is_complete: bool,
    /// A type of the graphics library without a layout of its own: a texture, a sampler.
    pub is_opaque: bool,
    /// Its size and alignment.
    pub layout: Layout,
    /// Bytes that it takes as a base class; members of the derived class may lie behind them.
    pub data_size: u64,
    /// A POD of C++11: trivial, and of standard layout.
    pub is_pod: bool,
    /// A class without members.
    pub is_empty: bool,
    /// Size of the largest empty class in it, itself included; 0 without one.
    pub largest_empty: u64,
    /// Its definition.
    pub span: Span,
}

/// A data member.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; empty for a base class, an anonymous struct or union and an unnamed bit-field.
    pub name: SmolStr,
    /// Its type; `is_const` where it is declared so.
    pub ty: QualTy,
    /// Its place in the struct, in bytes; for a bit-field that of the aligned unit of its type that holds it, which
    /// other members may share; for one that crosses units, as in a packed struct, that of its first byte.
    pub offset: u64,
    /// Alignment from `alignas`; 1 without it.
    pub min_align: u64,
    /// `__attribute__((packed))` of the field itself.
    pub is_packed: bool,
    /// `mutable`: it can be assigned in a constant object.
    pub is_mutable: bool,
    /// For a bit-field: its first bit, counted from `offset`, and its width.
    pub bits: Option<(u32, u32)>,
    /// It holds a base class.
    pub is_base: bool,
    /// Its attributes that reflection shows, such as `[[id(0)]]`.
    pub id: Option<u32>,
    /// Its declaration.
    pub span: Span,
}

impl Field {
    /// Returns true for an unnamed bit-field: no member, only room.
    pub fn is_padding(&self) -> bool {
        self.bits.is_some() && self.name.is_empty()
    }
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: SmolStr,
    /// The namespaces and classes around it, as in `mlx::steel::`.
    pub qualifier: SmolStr,
    /// `enum class`
    pub scoped: bool,
    /// The integer type is written, or implied by `enum class`.
    pub is_fixed: bool,
    /// The integer type that holds it.
    pub underlying: Ty,
    /// Its enumerators and their values.
    pub enumerators: Vec<(SmolStr, i128)>,
    /// Its definition.
    pub span: Span,
}

/// All types of a program.
#[derive(Clone, Debug)]
pub struct Types {
    kinds: Vec<TyKind>,
    index: HashMap<TyKind, Ty>,
    structs: Vec<Struct>,
    enums: Vec<Enum>,
}

macro_rules! well_known {
    ($($name:ident = $index:literal: $kind:expr,)*) => {
        impl Ty {
            $(#[doc = concat!("The type `", stringify!($name), "`.")] pub const $name: Ty = Ty($index);)*
        }
        const WELL_KNOWN: &[TyKind] = &[$($kind,)*];
    };
}

well_known! {
    ERROR = 0: TyKind::Error,
    DEPENDENT = 1: TyKind::Dependent,
    VOID = 2: TyKind::Void,
    BOOL = 3: TyKind::Bool,
    CHAR = 4: TyKind::Int(IntKind::Char),
    UCHAR = 5: TyKind::Int(IntKind::UChar),
    SHORT = 6: TyKind::Int(IntKind::Short),
    USHORT = 7: TyKind::Int(IntKind::UShort),
    INT = 8: TyKind::Int(IntKind::Int),
    UINT = 9: TyKind::Int(IntKind::UInt),
    LONG = 10: TyKind::Int(IntKind::Long),
    ULONG = 11: TyKind::Int(IntKind::ULong),
    HALF = 12: TyKind::Float(FloatKind::Half),
    BFLOAT = 13: TyKind::Float(FloatKind::BFloat),
    FLOAT = 14: TyKind::Float(FloatKind::Float),
    NULLPTR = 15: TyKind::NullPtr,
}

impl Ty {
    /// The integer type of this kind.
    pub fn int(kind: IntKind) -> Ty {
        Ty(Ty::CHAR.0 + kind as u32)
    }

    /// The floating-point type of this kind.
    pub fn float(kind: FloatKind) -> Ty {
        Ty(Ty::HALF.0 + kind as u32)
    }

    /// True after a reported error, or while a template parameter is not known: no further errors.
    pub fn is_unknown(self) -> bool {
        self == Ty::ERROR || self == Ty::DEPENDENT
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::new()
    }
}

impl Types {
    /// The well-known types alone.
    pub fn new() -> Types {
        let mut types =
            Types { kinds: Vec::new(), index: HashMap::default(), structs: Vec::new(), enums: Vec::new() };
        for kind in WELL_KNOWN {
            types.intern(kind.clone());
        }
        types
    }

    /// The handle for `kind`.
    pub fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.index.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        self.kinds.push(kind.clone());
        self.index.insert(kind, ty);
        ty
    }

    /// Kind of `ty`.
    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty.0 as usize]
    }

    /// `vec<element, len>`; the element itself for a length of 1.
    pub fn vector(&mut self, element: Ty, len: u8) -> Ty {
        if len == 1 || element.is_unknown() {
            return element;
        }
        self.intern(TyKind::Vector { element, len })
    }

    /// `vec<element, len>`, if the program names it.
    pub fn find_vector(&self, element: Ty, len: u8) -> Option<Ty> {
        self.index.get(&TyKind::Vector { element, len }).copied()
    }

    /// `pointee *`
    pub fn pointer(&mut self, pointee: QualTy) -> Ty {
        self.intern(TyKind::Pointer(pointee))
    }

    /// `to &`
    pub fn reference(&mut self, to: QualTy) -> Ty {
        self.intern(TyKind::Reference { to, rvalue: false })
    }

    /// `element[len]`
    pub fn array(&mut self, element: Ty, len: Option<u64>) -> Ty {
        self.intern(TyKind::Array { element, len })
    }

    /// Adds a struct that is not complete yet.
    pub fn add_struct(&mut self, definition: Struct) -> (StructId, Ty) {
        let id = StructId(self.structs.len() as u32);
        self.structs.push(definition);
        (id, self.intern(TyKind::Struct(id)))
    }

    /// Adds an enum.
    pub fn add_enum(&mut self, definition: Enum) -> (EnumId, Ty) {
        let id = EnumId(self.enums.len() as u32);
        self.enums.push(definition);
        (id, self.intern(TyKind::Enum(id)))
    }

    /// The struct with this id.
    pub fn struct_(&self, id: StructId) -> &Struct {
        &self.structs[id.0 as usize]
    }

    /// The struct with this id, to complete it.
    pub fn struct_mut(&mut self, id: StructId) -> &mut Struct {
        &mut self.structs[id.0 as usize]
    }

    /// The enum with this id.
    pub fn enum_(&self, id: EnumId) -> &Enum {
        &self.enums[id.0 as usize]
    }

    /// The enum with this id, to complete it.
    pub fn enum_mut(&mut self, id: EnumId) -> &mut Enum {
        &mut self.enums[id.0 as usize]
    }

    /// The number of types; a measure of memory.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Never: the well-known types are always there.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    // --- questions ---------------------------------------------------------------------------------------------

    /// The integer kind of an integer, `bool` excluded.
    pub fn int_kind(&self, ty: Ty) -> Option<IntKind> {
        match self.kind(ty) {
            TyKind::Int(kind) => Some(*kind),
            _ => None,
        }
    }

    /// The kind of a floating-point scalar.
    pub fn float_kind(&self, ty: Ty) -> Option<FloatKind> {
        match self.kind(ty) {
            TyKind::Float(kind) => Some(*kind),
            _ => None,
        }
    }

    /// `bool` or an integer.
    pub fn is_integral(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Bool | TyKind::Int(_))
    }

    /// `bool`, an integer or a floating-point number.
    pub fn is_arithmetic(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Bool | TyKind::Int(_) | TyKind::Float(_))
    }

    /// The element and length of a vector, packed or not.
    pub fn vector_parts(&self, ty: Ty) -> Option<(Ty, u8)> {
        match *self.kind(ty) {
            TyKind::Vector { element, len } | TyKind::PackedVector { element, len } => Some((element, len)),
            _ => None,
        }
    }

    /// A packed vector's plain form; every other type as it is.
    pub fn unpacked(&mut self, ty: Ty) -> Ty {
        match *self.kind(ty) {
            TyKind::PackedVector { element, len } => self.vector(element, len),
            _ => ty,
        }
    }

    /// The element of a vector, the scalar itself otherwise.
    pub fn element_of(&self, ty: Ty) -> Ty {
        self.vector_parts(ty).map_or(ty, |(element, _)| element)
    }

    /// Type behind a pointer.
    pub fn pointee(&self, ty: Ty) -> Option<QualTy> {
        match *self.kind(ty) {
            TyKind::Pointer(pointee) => Some(pointee),
            _ => None,
        }
    }

    /// Class and member of a pointer to a member.
    pub fn member_pointer(&self, ty: Ty) -> Option<(StructId, QualTy)> {
        match *self.kind(ty) {
            TyKind::MemberPointer { class, member } => Some((class, member)),
            _ => None,
        }
    }

    /// Returns true for a function.
    pub fn is_function(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Function { .. })
    }

    /// The struct, if it is one.
    pub fn struct_id(&self, ty: Ty) -> Option<StructId> {
        match *self.kind(ty) {
            TyKind::Struct(id) => Some(id),
            _ => None,
        }
    }

    /// The enum, if it is one.
    pub fn enum_id(&self, ty: Ty) -> Option<EnumId> {
        match *self.kind(ty) {
            TyKind::Enum(id) => Some(id),
            _ => None,
        }
    }

    /// Type behind a reference; every other type as it is.
    pub fn referent(&self, ty: QualTy) -> QualTy {
        match *self.kind(ty.ty) {
            TyKind::Reference { to, .. } => to,
            _ => ty,
        }
    }
}
