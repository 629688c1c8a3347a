//! Names of functions that libraries share: as the Itanium C++ ABI mangles them, with Metal's address spaces as vendor
//! qualifiers (`_Z3sumPU9MTLdeviceKfj` is `sum(device const float *, uint)`).
//!
//! Names of template instances, such as `tile<8>`, are mangled as if they were plain ones: equal in all libraries of
//! this compiler, and others than Apple's.

use msl::Program;
use msl::program::FunctionId;
use msl::types::{AddressSpace, Coherence, FloatKind, IntKind, QualTy, Ty, TyKind};

/// The symbol of a function at namespace scope.
pub(crate) fn symbol(program: &Program, id: FunctionId) -> String {
    let function = program.function(id);
    let mut mangler = Mangler { program, out: "_Z".into(), seen: Vec::new() };
    mangler.name(&parts(&function.name), false);
    for param in &function.params {
        mangler.ty(function.locals[param.0 as usize].ty.ty);
    }
    if function.params.is_empty() {
        mangler.out.push('v');
    }
    mangler.out
}

/// The name of a type's `typeinfo`, by which metadata refer to it: `_ZTSN3mlx5steel10GEMMParamsE`.
pub(super) fn type_name(program: &Program, ty: Ty) -> String {
    let mut mangler = Mangler { program, out: "_ZTS".into(), seen: Vec::new() };
    mangler.ty(ty);
    mangler.out
}

struct Mangler<'p> {
    program: &'p Program,
    out: String,
    /// Parts that were written and can be referred to, without abbreviations.
    seen: Vec<String>,
}

impl Mangler<'_> {
    /// Writes a part, or a reference to it if it was written before. `key` is its text without abbreviations.
    fn part(&mut self, key: String, write: impl FnOnce(&mut Self)) {
        match self.seen.iter().position(|seen| *seen == key) {
            Some(0) => self.out.push_str("S_"),
            Some(position) => {
                let number = base36(position - 1);
                self.out.push_str(&format!("S{number}_"));
            }
            None => {
                write(self);
                self.seen.push(key);
            }
        }
    }

    /// A name in namespaces. The name of a type can be referred to, and so can the namespaces around any name.
    fn name(&mut self, parts: &[String], is_type: bool) {
        let [outer @ .., last] = parts else { return };
        let write = |this: &mut Self| match outer {
            [] => this.out.push_str(last),
            outer => {
                this.out.push('N');
                this.namespace(outer);
                this.out.push_str(last);
                this.out.push('E');
            }
        };
        match is_type {
            true => self.part(nested(parts), write),
            false => write(self),
        }
    }

    fn namespace(&mut self, parts: &[String]) {
        let [outer @ .., last] = parts else { return };
        self.part(parts.concat(), |this| {
            this.namespace(outer);
            this.out.push_str(last);
        });
    }

    fn ty(&mut self, ty: Ty) {
        if let Some(letters) = self.builtin(ty) {
            self.out.push_str(letters);
            return;
        }
        let types = &self.program.types;
        let key = self.key(ty);
        match types.kind(ty).clone() {
            TyKind::Struct(id) => {
                let class = types.struct_(id);
                self.name(&parts(&format!("{}{}", class.qualifier, class.name)), true);
            }
            TyKind::Enum(id) => {
                let class = types.enum_(id);
                self.name(&parts(&format!("{}{}", class.qualifier, class.name)), true);
            }
            TyKind::Vector { element, len } => self.part(key, |this| {
                this.out.push_str(&format!("Dv{len}_"));
                this.ty(element);
            }),
            TyKind::Pointer(to) => self.part(key, |this| {
                this.out.push('P');
                this.qualified(to);
            }),
            TyKind::Reference { to, rvalue } => self.part(key, |this| {
                this.out.push(if rvalue { 'O' } else { 'R' });
                this.qualified(to);
            }),
            TyKind::MemberPointer { class, member } => self.part(key, |this| {
                let class = this.program.types.struct_(class);
                this.out.push('M');
                this.name(&parts(&format!("{}{}", class.qualifier, class.name)), true);
                match this.program.types.is_function(member.ty) {
                    true if member.is_const => this.out.push('K'),
                    true => {}
                    false => return this.qualified(member),
                }
                this.ty(member.ty);
            }),
            TyKind::Array { element, len } => self.part(key, |this| {
                this.out.push_str(&format!("A{}_", len.map(|len| len.to_string()).unwrap_or_default()));
                this.ty(element);
            }),
            TyKind::Function { result, params } => self.part(key, |this| {
                this.out.push('F');
                this.ty(result);
                params.iter().for_each(|param| this.ty(*param));
                if params.is_empty() {
                    this.out.push('v');
                }
                this.out.push('E');
            }),
            TyKind::Matrix { element, columns, rows } => {
                self.template("matrix", element, &format!("Li{columns}ELi{rows}E"), key);
            }
            TyKind::SimdgroupMatrix { element } => self.template("simdgroup_matrix", element, "Li8ELi8E", key),
            TyKind::Atomic(element) => self.template("_atomic", element, "", key),
            // `packed_float3`, and types that no parameter has.
            _ => self.part(key.clone(), |this| this.out.push_str(&key)),
        }
    }

    /// A class template of Metal's library, with a last argument that is `void`.
    fn template(&mut self, name: &str, element: Ty, numbers: &str, key: String) {
        self.part(key, |this| {
            this.out.push('N');
            let template = ["5metal".to_owned(), source_name(name)];
            this.part(template.concat(), |this| {
                this.namespace(&template[..1]);
                this.out.push_str(&template[1]);
            });
            this.out.push('I');
            this.ty(element);
            this.out.push_str(numbers);
            this.out.push_str("vEE");
        });
    }

    /// A type behind a pointer. Its qualifiers and the type are one part.
    fn qualified(&mut self, ty: QualTy) {
        match qualifiers(ty) {
            qualifiers if qualifiers.is_empty() => self.ty(ty.ty),
            qualifiers => self.part(format!("{qualifiers}{}", self.key(ty.ty)), |this| {
                this.out.push_str(&qualifiers);
                this.ty(ty.ty);
            }),
        }
    }

    /// The letters of a type that is never abbreviated.
    fn builtin(&self, ty: Ty) -> Option<&'static str> {
        Some(match self.program.types.kind(ty) {
            TyKind::Void => "v",
            TyKind::Bool => "b",
            TyKind::Int(kind) => match kind {
                IntKind::Char => "c",
                IntKind::UChar => "h",
                IntKind::Short => "s",
                IntKind::UShort => "t",
                IntKind::Int => "i",
                IntKind::UInt => "j",
                IntKind::Long => "l",
                IntKind::ULong => "m",
            },
            TyKind::Float(FloatKind::Half) => "Dh",
            TyKind::Float(FloatKind::BFloat) => "DF16b",
            TyKind::Float(FloatKind::Float) => "f",
            TyKind::NullPtr => "Dn",
            _ => return None,
        })
    }

    /// A type without abbreviations.
    fn key(&self, ty: Ty) -> String {
        if let Some(letters) = self.builtin(ty) {
            return letters.into();
        }
        let types = &self.program.types;
        match types.kind(ty) {
            TyKind::Struct(id) => {
                let class = types.struct_(*id);
                nested(&parts(&format!("{}{}", class.qualifier, class.name)))
            }
            TyKind::Enum(id) => {
                let class = types.enum_(*id);
                nested(&parts(&format!("{}{}", class.qualifier, class.name)))
            }
            TyKind::Vector { element, len } => format!("Dv{len}_{}", self.key(*element)),
            TyKind::Pointer(to) => format!("P{}{}", qualifiers(*to), self.key(to.ty)),
            TyKind::Reference { to, rvalue } => {
                format!("{}{}{}", if *rvalue { 'O' } else { 'R' }, qualifiers(*to), self.key(to.ty))
            }
            TyKind::MemberPointer { class, member } => {
                let class = types.struct_(*class);
                let class = nested(&parts(&format!("{}{}", class.qualifier, class.name)));
                format!("M{class}{}{}", qualifiers(*member), self.key(member.ty))
            }
            TyKind::Array { element, len } => format!("A{len:?}_{}", self.key(*element)),
            TyKind::Function { result, params } => {
                let params: String = params.iter().map(|param| self.key(*param)).collect();
                format!("F{}{params}E", self.key(*result))
            }
            _ => source_name(&types.name(ty)),
        }
    }
}

fn qualifiers(ty: QualTy) -> String {
    let space = match ty.space {
        Some(AddressSpace::Device) => "U9MTLdevice",
        Some(AddressSpace::Constant) => "U11MTLconstant",
        Some(AddressSpace::Threadgroup) => "U14MTLthreadgroup",
        // Thread memory has no qualifier before Metal 4.1, and the others are none of compute functions.
        _ => "",
    };
    // Constant memory is `const`, written or not.
    let is_const = ty.is_const || ty.space == Some(AddressSpace::Constant);
    let coherence = match ty.coherence {
        Some(Coherence::Device) => "U15device_coherent",
        Some(Coherence::System) => "U15system_coherent",
        None => "",
    };
    format!("{coherence}{space}{}{}", if ty.is_volatile { "V" } else { "" }, if is_const { "K" } else { "" })
}

/// The parts of a qualified name, each with its length. A `::` in template arguments separates nothing.
fn parts(name: &str) -> Vec<String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    let bytes = name.as_bytes();
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                parts.push(source_name(&name[start..at]));
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(source_name(&name[start..]));
    parts.retain(|part| part != "0");
    parts
}

fn source_name(text: &str) -> String {
    let plain = text.replace(|c: char| !(c.is_alphanumeric() || c == '_'), "_");
    format!("{}{plain}", plain.len())
}

fn nested(parts: &[String]) -> String {
    if parts.len() > 1 { format!("N{}E", parts.concat()) } else { parts.concat() }
}

fn base36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36] as char);
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(source: &str) -> Vec<String> {
        let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
        let compilation = msl::compile_source("test.metal", &text, &msl::Options::default());
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        let program = &compilation.program;
        program.external_functions.iter().map(|id| symbol(program, *id)).collect()
    }

    #[test]
    fn functions_have_the_symbols_of_the_itanium_abi() {
        for (declaration, expected) in [
            ("void f();", "_Z1fv"),
            ("float scale(float x, uint n);", "_Z5scalefj"),
            ("extern half f(bfloat x, half y);", "_Z1fDF16bDh"),
            ("namespace a { namespace b { int f(long x); } }", "_ZN1a1b1fEl"),
            ("float sum(device const float *x, uint n);", "_Z3sumPU9MTLdeviceKfj"),
            // As in public output of Apple's compiler: a repeated pointer, and a vector behind one.
            (
                "void f(device const bfloat *a, device const bfloat *b, device bfloat *c, device uint *d, uint3 e, uint3 g);",
                "_Z1fPU9MTLdeviceKDF16bS0_PU9MTLdeviceDF16bPU9MTLdevicejDv3_jS5_",
            ),
            (
                "namespace n { void f(device float4 *a, thread float4 *b, int c); }",
                "_ZN1n1fEPU9MTLdeviceDv4_fPS0_i",
            ),
            ("struct Params { int n; }; void f(constant Params &p, Params q);", "_Z1fRU11MTLconstantK6ParamsS_"),
            ("namespace n { struct S { int n; }; void f(S a, thread S *b); }", "_ZN1n1fENS_1SEPS0_"),
            ("void f(threadgroup float *x);", "_Z1fPU14MTLthreadgroupf"),
            ("enum class E { a }; int f(E e);", "_Z1f1E"),
            (
                "void f(device atomic_uint *a, device atomic_int *b);",
                "_Z1fPU9MTLdeviceN5metal7_atomicIjvEEPU9MTLdeviceNS0_IivEE",
            ),
        ] {
            assert_eq!(symbols(declaration), [expected], "{declaration}");
        }
    }

    #[test]
    fn only_functions_that_other_files_see_have_one() {
        let none = "static float a(float x) { return x; }\nnamespace { float b(float x) { return x; } }\n\
                    inline float c(float x) { return x; }\nconstexpr float d(float x) { return x; }\n\
                    template <typename T> T e(T x) { return x; }\nstruct S { float f() { return 1; } };\n\
                    [[visible]] float g(float x) { return x; }\nkernel void h() { e(1.0f); }\n\
                    static float i(float x);\nfloat i(float x) { return x; }";
        assert_eq!(symbols(none), Vec::<String>::new());
    }
}
