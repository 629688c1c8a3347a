//! The function constants of a module and the values that go into them.

use super::error::{ConstantInfo, Error};
use super::fold::{calls, functions_with_prefix, initializer};
use crate::ir::{ModuleRef, Opcode, Operand, Rewrite, Type, Value, named};
use crate::metadata::{ORIGIN_CONSTANTS, ORIGIN_KERNEL};
use crate::metallib::data_type;
use abi::{ConstantKey, ConstantValue, Constants};
use inkwell::module::Module;
use std::collections::HashSet;
use std::ffi::CStr;

/// A function constant of a module.
pub(super) struct Constant {
    pub(super) info: ConstantInfo,
    /// The number of its entry in the module's list, if it has a variable; none when nothing reads it.
    entry: Option<usize>,
    /// True if code asks whether it is set.
    is_asked_for: bool,
    value: Option<ConstantValue>,
}

impl Constant {
    /// The variable for its value, of those that `globals` found.
    fn global<'m>(&self, globals: &[Option<Value<'m>>]) -> Option<Value<'m>> {
        globals.get(self.entry?).copied().flatten()
    }
}

/// The variables of the entries in the module's list of function constants. Passes may delete variables, and then the
/// entry names none.
fn globals<'m>(module: ModuleRef<'m>) -> Vec<Option<Value<'m>>> {
    let global = |operand: Option<Operand<'m>>| match operand {
        Some(Operand::Global(global)) => Some(global),
        _ => None,
    };
    named(module, LIST).into_iter().map(|node| global(node.operands().into_iter().next())).collect()
}

/// The module's list of function constants.
const LIST: &CStr = c"air.function_constants";

/// The function constants that a module lists, without values.
pub(super) fn find(module: &Module) -> Result<Vec<Constant>, Error> {
    let mut constants = Vec::new();
    for (number, node) in named(ModuleRef::of(module), LIST).into_iter().enumerate() {
        let operands = node.operands();
        let [global, Operand::Text(ty), Operand::Text(name), Operand::Int(index), ..] = &operands[..] else {
            return Err(malformed("an entry of the function constants is not {global, type, name, index, …}"));
        };
        let index =
            u32::try_from(*index).map_err(|_| malformed("the index of a function constant is too large"))?;
        let global = match global {
            Operand::Global(global) => Some(*global),
            _ => None,
        };
        let encoded = global.and_then(|global| encoded_type(&global.name()));
        let info = ConstantInfo { name: name.clone(), index, ty: encoded.unwrap_or_else(|| ty.clone()) };
        if global.is_some_and(|global| !is_slot(global)) {
            return Err(malformed(&format!("function constant {info} has no place for its value")));
        }
        constants.push(Constant { info, entry: global.map(|_| number), is_asked_for: false, value: None });
    }
    // A constant of the program that this function does not use may be set, without effect.
    for node in named(ModuleRef::of(module), ORIGIN_CONSTANTS) {
        if let [Operand::Text(name), Operand::Text(ty), Operand::Int(index), ..] = &node.operands()[..]
            && let Ok(index) = u32::try_from(*index)
            && constants.iter().all(|known: &Constant| known.info.index != index || known.info.name != *name)
        {
            let info = ConstantInfo { name: name.clone(), index, ty: ty.clone() };
            constants.push(Constant { info, entry: None, is_asked_for: false, value: None });
        }
    }
    constants.sort_by(|a, b| (a.info.index, &a.info.name).cmp(&(b.info.index, &b.info.name)));
    Ok(constants)
}

/// A variable of this module alone, as function constants are.
fn is_slot(global: Value) -> bool {
    global.is_global_variable() && global.is_internal()
}

/// True if a module lists all function constants of its program. Those of Apple's compiler list the function's own.
pub(super) fn lists_all(module: &Module) -> bool {
    [ORIGIN_KERNEL, ORIGIN_CONSTANTS].iter().any(|list| !named(ModuleRef::of(module), list).is_empty())
}

/// Assigns values to constants, by index or by name. Without a list of all constants, a value for none of these is
/// taken for one of another function: in Metal, one set of values may be for several functions.
pub(super) fn assign(constants: &mut [Constant], values: &Constants, lists_all: bool) -> Result<(), Error> {
    for (key, value) in values.iter() {
        let is_meant = |constant: &Constant| match key {
            ConstantKey::Index(index) => constant.info.index == *index,
            ConstantKey::Name(name) => constant.info.name == *name,
        };
        let Some(constant) = constants.iter_mut().find(|constant| is_meant(constant)) else {
            if !lists_all {
                continue;
            }
            let available = constants.iter().map(|constant| constant.info.clone()).collect();
            return Err(Error::UnknownConstant { key: key.clone(), available });
        };
        // The type of an enumeration is only known where the constant is used.
        let is_known = constant.entry.is_some() || data_type(&constant.info.ty).is_some();
        if is_known && value.type_name() != constant.info.ty || !is_regular(value) {
            return Err(Error::WrongType { constant: constant.info.clone(), found: value.type_name() });
        }
        if constant.value.as_ref().is_some_and(|other| other != value) {
            return Err(Error::Contradiction(constant.info.clone()));
        }
        constant.value = Some(value.clone());
    }
    Ok(())
}

/// True if all components of a vector are scalars of one type.
fn is_regular(value: &ConstantValue) -> bool {
    let ConstantValue::Vector(parts) = value else { return true };
    let is_scalar = |part: &ConstantValue| !matches!(part, ConstantValue::Vector(_));
    parts.windows(2).all(|pair| pair[0].type_name() == pair[1].type_name()) && parts.iter().all(is_scalar)
}

/// Answers `is_function_constant_defined`.
pub(super) fn answer(module: &mut Module, constants: &mut [Constant]) {
    let rewrite = Rewrite::new(module);
    let globals = globals(rewrite.module());
    for function in functions_with_prefix(rewrite.module(), "air.is_function_constant_defined") {
        for call in calls(function) {
            let Some(&asked) = call.arguments().first() else { continue };
            let constant = constants.iter_mut().find(|constant| constant.global(&globals) == Some(asked));
            let Some(constant) = constant.filter(|_| call.ty().is_int()) else { continue };
            constant.is_asked_for = true;
            call.replace_all_uses_with(call.ty().constant(i64::from(constant.value.is_some())));
            rewrite.erase(call);
        }
    }
}

/// Makes constants of those that have values. Fails with those that must have one and have none: all that are used,
/// unless some code asks whether they are set.
pub(super) fn set(module: &Module, constants: &[Constant]) -> Result<(), Error> {
    let globals = globals(ModuleRef::of(module));
    let is_missing = |constant: &&Constant| {
        let is_used = constant.global(&globals).is_some_and(Value::has_use);
        constant.value.is_none() && !constant.is_asked_for && is_used
    };
    missing(constants.iter().filter(is_missing))?;
    for constant in constants {
        if let (Some(value), Some(global)) = (&constant.value, constant.global(&globals)) {
            let value = llvm_value(value, global.global_type()).ok_or_else(|| {
                malformed(&format!("function constant {} has another type in memory", constant.info))
            })?;
            initialize(global, value);
        }
    }
    Ok(())
}

/// Fails with those that have no value and are still read by code that runs. The static initializer of a library copies
/// a constant whether it is set or not; if no code reads the copy, it may be zero.
pub(super) fn settle(module: &Module, constants: &[Constant]) -> Result<(), Error> {
    let module = ModuleRef::of(module);
    let (globals, initializer) = (globals(module), initializer(module));
    let unset = constants.iter().filter(|constant| constant.value.is_none());
    let is_read = |constant: &&Constant| {
        let global = constant.global(&globals);
        global.is_some_and(|global| is_read_outside(global, initializer) || is_copy_read(global, initializer))
    };
    missing(unset.clone().filter(is_read))?;
    for global in unset.filter_map(|constant| constant.global(&globals)) {
        initialize(global, global.global_type().zero());
    }
    Ok(())
}

/// True if code other than the static initializer uses a variable.
fn is_read_outside(global: Value, initializer: Option<Value>) -> bool {
    let mut users = global.users().into_iter();
    users.any(|user| user.is_instruction() && Some(user.block().function()) != initializer)
}

/// True if the static initializer sets a variable that other code uses to a constant, or to something computed from it.
fn is_copy_read(constant: Value, initializer: Option<Value>) -> bool {
    let mut pending = vec![constant];
    let mut seen = HashSet::from([constant]);
    while let Some(value) = pending.pop() {
        let users = value.users().into_iter().filter(|user| user.is_instruction());
        let users = users.filter(|user| Some(user.block().function()) == initializer);
        for user in users {
            let changed = if user.is(Opcode::LLVMStore) { variable_of(user.operand(1)) } else { user };
            if changed.is_global_variable() && is_read_outside(changed, initializer) {
                return true;
            }
            if (changed.is_instruction() || changed.is_global_variable()) && seen.insert(changed) {
                pending.push(changed);
            }
        }
    }
    false
}

/// The variable that an address is in, if it is a part of one.
fn variable_of(mut address: Value) -> Value {
    while !address.is_global_variable() && address.operand_count() > 0 {
        address = address.operand(0);
    }
    address
}

fn missing<'a>(constants: impl Iterator<Item = &'a Constant>) -> Result<(), Error> {
    let missing: Vec<ConstantInfo> = constants.map(|constant| constant.info.clone()).collect();
    if missing.is_empty() { Ok(()) } else { Err(Error::Missing(missing)) }
}

fn initialize<'m>(global: Value<'m>, value: Value<'m>) {
    global.set_initializer(value);
    global.set_constant();
    global.set_section(c"");
}

/// A value in memory as a constant of type `ty`, if the type fits; a `bool` is a byte.
fn llvm_value<'m>(value: &ConstantValue, ty: Type<'m>) -> Option<Value<'m>> {
    let int = |bits: u32, value: i64| (ty.is_int() && ty.int_bits() == bits).then(|| ty.constant(value));
    match value {
        ConstantValue::Bool(value) => int(8, i64::from(*value)),
        ConstantValue::Char(value) => int(8, i64::from(*value)),
        ConstantValue::Uchar(value) => int(8, i64::from(*value)),
        ConstantValue::Short(value) => int(16, i64::from(*value)),
        ConstantValue::Ushort(value) => int(16, i64::from(*value)),
        ConstantValue::Int(value) => int(32, i64::from(*value)),
        ConstantValue::Uint(value) => int(32, i64::from(*value)),
        ConstantValue::Long(value) => int(64, *value),
        ConstantValue::Ulong(value) => int(64, *value as i64),
        ConstantValue::Half(value) => ty.is_half().then(|| ty.real(value.to_f64())),
        ConstantValue::Bfloat(value) => ty.is_bfloat().then(|| ty.real(value.to_f64())),
        ConstantValue::Float(value) => (ty == Type::float(ty.context())).then(|| ty.real(f64::from(*value))),
        ConstantValue::Vector(parts) => {
            let fits = ty.is_vector() && ty.length() == parts.len();
            let parts: Option<Vec<Value>> = parts.iter().map(|part| llvm_value(part, ty.scalar())).collect();
            parts.filter(|_| fits).map(|parts| Value::constant_vector(&parts))
        }
    }
}

/// The type that the name of a function constant's global ends with (`_Z1n.MTL_FC_INIT_3_Dv4_f`: `float4`), mangled as
/// in the Itanium C++ ABI. That of an enumeration is the one behind it.
fn encoded_type(global: &str) -> Option<String> {
    let (_, suffix) = global.rsplit_once(".MTL_FC_INIT_")?;
    let (_, code) = suffix.split_once('_')?;
    // The linker adds a number to a name that is taken.
    let code = code.split('.').next().unwrap_or(code);
    match code.strip_prefix("Dv") {
        Some(vector) => {
            let (length, element) = vector.split_once('_')?;
            Some(format!("{}{length}", scalar_type(element)?))
        }
        None => scalar_type(code).map(str::to_owned),
    }
}

fn scalar_type(code: &str) -> Option<&'static str> {
    Some(match code {
        "b" => "bool",
        "c" | "a" => "char",
        "h" => "uchar",
        "s" => "short",
        "t" => "ushort",
        "i" => "int",
        "j" => "uint",
        "l" | "x" => "long",
        "m" | "y" => "ulong",
        "Dh" | "DF16_" => "half",
        "DF16b" => "bfloat",
        "f" => "float",
        _ => return None,
    })
}

fn malformed(problem: &str) -> Error {
    Error::Malformed(problem.into())
}

#[cfg(test)]
mod tests {
    use super::encoded_type;

    #[test]
    fn types_in_names() {
        let ty = |name: &str| encoded_type(name).unwrap_or_default();
        assert_eq!(ty("_Z9has_batch.MTL_FC_INIT_10_b"), "bool");
        assert_eq!(ty("_ZN2ns1aE.MTL_FC_INIT_4_Dv3_j"), "uint3");
        assert_eq!(ty("_Z1a.MTL_FC_INIT_4_Dv4_Dh"), "half4");
        assert_eq!(ty("_Z1a.MTL_FC_INIT_4_DF16b.12"), "bfloat");
        assert_eq!(ty("_Z1a.MTL_FC_INIT_4_4Mode"), "");
        assert_eq!(ty("a"), "");
    }
}
