//! Accesses of coherent memory, which Apple's compiler and `crate::lower` write as calls, become loads and stores.
//!
//! Memory of CPUs is coherent. On GPUs, volatile accesses go past the caches of one multiprocessor.

use super::{Error, Result};
use crate::ir::{Builder, Layout, ModuleRef, Opcode, Rewrite, Type, Value};
use inkwell::module::Module;

/// A load or store by its name: `air.store.system_coherent.volatile.i32.p1i32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    is_store: bool,
    is_volatile: bool,
}

impl Access {
    fn named(name: &str) -> Option<Access> {
        let (operation, rest) = name.strip_prefix("air.")?.split_once('.')?;
        let is_store = match operation {
            "load" => false,
            "store" => true,
            _ => return None,
        };
        let (scope, rest) = rest.split_once('.')?;
        let is_volatile = rest.starts_with("volatile.");
        matches!(scope, "device_coherent" | "system_coherent").then_some(Access { is_store, is_volatile })
    }
}

/// Replaces all such calls.
pub(super) fn make_accesses(module: &mut Module, for_gpu: bool) -> Result<()> {
    let rewrite = Rewrite::new(module);
    let module = rewrite.module();
    let b = Builder::new(module);
    for function in module.functions().into_iter().filter(|function| function.is_declaration()) {
        let name = function.name();
        let Some(access) = Access::named(&name) else { continue };
        for call in function.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)) {
            if call.callee() != Some(function) || !fits(call, access) {
                return Err(Error::Invalid(format!("a call of '{name}' with other arguments")));
            }
            replace(module, &b, call, Access { is_volatile: access.is_volatile || for_gpu, ..access });
            rewrite.erase(call);
        }
    }
    Ok(())
}

/// True for the arguments and the result of a load or store of a number or vector.
fn fits(call: Value, access: Access) -> bool {
    let is_number = |ty: Type| ty.scalar().is_int() || ty.scalar().is_floating_point();
    match (access.is_store, &call.arguments()[..]) {
        (true, [value, pointer]) => is_number(value.ty()) && pointer.ty().is_pointer() && call.ty().is_void(),
        (false, [pointer]) => pointer.ty().is_pointer() && is_number(call.ty()),
        _ => false,
    }
}

fn replace<'m>(module: ModuleRef<'m>, b: &Builder<'m>, call: Value<'m>, access: Access) {
    let arguments = call.arguments();
    let value = if access.is_store { arguments[0] } else { call };
    let index = usize::from(access.is_store);
    // A call without an alignment has that of the type.
    let align = match call.argument_align(index as u32) {
        1 => Layout::of(module).align(value.ty()),
        stated => stated,
    };
    b.before(call);
    let new = match access.is_store {
        true => b.store(value, arguments[index], align),
        false => b.load(call.ty(), arguments[index], align),
    };
    new.set_volatile(access.is_volatile);
    new.copy_line(call);
    if !access.is_store {
        call.replace_all_uses_with(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    fn module<'ctx>(context: &'ctx Context, body: &str) -> Module<'ctx> {
        let text = format!(
            "define void @k(ptr addrspace(1) %p) {{\n{body}\nret void\n}}
declare i32 @air.load.system_coherent.volatile.i32.p1i32(ptr addrspace(1))
declare <4 x float> @air.load.device_coherent.v4f32.p1v4f32(ptr addrspace(1))
declare void @air.store.device_coherent.i16.p1i16(i16, ptr addrspace(1))
declare void @air.store.device_coherent.i8.p1i8(i8, i32)\n"
        );
        context
            .create_module_from_ir(MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test"))
            .expect("it is valid")
    }

    fn converted(body: &str, for_gpu: bool) -> String {
        let context = Context::create();
        let mut module = module(&context, body);
        make_accesses(&mut module, for_gpu).expect("it is known");
        module.verify().expect("it is valid");
        module.print_to_string().to_string()
    }

    #[test]
    fn names() {
        let named = |name| Access::named(name).map(|access| (access.is_store, access.is_volatile));
        assert_eq!(named("air.store.system_coherent.volatile.i32.p1i32"), Some((true, true)));
        assert_eq!(named("air.load.device_coherent.v4f32.p1v4f32"), Some((false, false)));
        assert_eq!(named("air.load.threadgroup_coherent.f32.p1f32"), None);
        assert_eq!(named("air.atomic.global.load.i32"), None);
    }

    #[test]
    fn calls_become_loads_and_stores() {
        let body = "%a = call i32 @air.load.system_coherent.volatile.i32.p1i32(ptr addrspace(1) align 4 %p)
%b = call <4 x float> @air.load.device_coherent.v4f32.p1v4f32(ptr addrspace(1) align 4 %p)
%c = trunc i32 %a to i16
call void @air.store.device_coherent.i16.p1i16(i16 %c, ptr addrspace(1) %p)";
        let text = converted(body, false);
        assert!(text.contains("load volatile i32, ptr addrspace(1) %p, align 4"), "{text}");
        assert!(text.contains("load <4 x float>, ptr addrspace(1) %p, align 4"), "{text}");
        assert!(text.contains("store i16 %c, ptr addrspace(1) %p, align 2"), "{text}");
        assert!(!text.contains("call"), "{text}");
        let text = converted(body, true);
        assert_eq!(
            (text.matches("load volatile").count(), text.matches("store volatile").count()),
            (2, 1),
            "{text}"
        );
    }

    #[test]
    fn other_arguments_are_an_error() {
        let context = Context::create();
        let mut module = module(&context, "call void @air.store.device_coherent.i8.p1i8(i8 1, i32 2)");
        let error = make_accesses(&mut module, false).expect_err("no pointer");
        assert!(matches!(error, Error::Invalid(what) if what.contains("'air.store.device_coherent.i8.p1i8'")));
    }
}
