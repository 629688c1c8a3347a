//! Instrumentation: checks for shader validation in the code of one thread.
//!
//! ```text
//! provenance  the object that a pointer points into
//! accesses    loads, stores, copies, atomic functions and matrices: replaced by functions that check them
//! chosen      pointers into one of several objects
//! private     indices of private arrays
//! arithmetic  divisions, conversions, results that are no numbers
//! flow        barriers, functions between lanes, loops
//! fused       products and sums that become one operation, as without checks
//! early       before everything else, in modules made from source: shifts, elements of vectors
//! variables   likewise: variables, components and fields that are read before they are written
//! ```
//!
//! It runs before anything is expanded or optimized: later, an undefined operation may be gone, and code of our own
//! library is among the kernel's. The functions are opaque to LLVM, so that no access is moved, merged or dropped. The
//! code generator knows lanes and masks, and decides how each is checked ([`crate::wave`]).
//!
//! Private memory is not checked by such functions, which would keep it from becoming registers: a condition about the
//! index is, and goes away with the index when a loop is unrolled.

mod accesses;
mod arithmetic;
mod chosen;
pub(crate) mod early;
mod flow;
mod fused;
mod private;
mod provenance;
mod variables;

use crate::ir::{Builder, Layout, ModuleRef, Opcode, Rewrite, Type, Value, passes};
use crate::reflect::Role;
use abi::{Object, Operation, Site, SourceLocation};
use chosen::PrivatePlace;
pub(crate) use flow::SHUFFLES;
pub(crate) use fused::fuse;
use inkwell::module::Module;
use provenance::Provenance;
pub(crate) use provenance::readable;
use rustc_hash::FxHashMap;

/// The checks that are compiled into a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Checks {
    /// Every access is reported to the runtime, not only one outside of its object.
    pub every_access: bool,
    /// Results of floating-point operations are checked.
    pub nan: bool,
}

/// A load: `T (pointer, base of its object, i32 site)`.
pub(crate) const LOAD: &str = "metalworks.load.";
/// A store: `void (T, pointer, base, i32 site)`.
pub(crate) const STORE: &str = "metalworks.store.";
/// The pointer, or one to spare memory if the access must not be made: `pointer (pointer, base, i32 site)`.
pub(crate) const POINTER: &str = "metalworks.pointer.";
/// The pointer of a simdgroup matrix, which is checked where it is used: `pointer (pointer, base, i32 site)`.
pub(crate) const MATRIX: &str = "metalworks.matrix.";
/// A condition that must hold, and a number for the report: `void (i1, i32 site, i64)`.
pub(crate) const CHECK: &str = "metalworks.check";
/// Before a barrier: `void (i32 site)`.
pub(crate) const BARRIER: &str = "metalworks.barrier";
/// Before a function that reads another lane: `void (i32 site, i32 kind, i32 lane or distance)`.
pub(crate) const SHUFFLE: &str = "metalworks.shuffle";
/// Before a function on matrices, which all lanes must run: `void (i32 site)`.
pub(crate) const TOGETHER: &str = "metalworks.together";
/// Before the way back of a loop: `void (i32 site)`.
pub(crate) const STEP: &str = "metalworks.step";

/// Inserts checks into all functions of a module. Returns the places that they refer to.
pub(crate) fn instrument(module: &mut Module, kernel: &str, roles: &[Role], checks: Checks) -> Vec<Site> {
    let sites = {
        let rewrite = Rewrite::new(module);
        let mut pass = Instrumentation::new(&rewrite, kernel, roles);
        let functions: Vec<Value> = rewrite.module().functions();
        for function in functions.into_iter().filter(|function| !function.is_declaration()) {
            flow::loops(&mut pass, function);
            for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
                pass.instruction(instruction, checks);
            }
        }
        pass.sites
    };
    // The places have the lines.
    passes::strip_debug_info(module);
    sites
}

/// Removes checks of conditions that turned out to hold.
pub(crate) fn clean(module: &mut Module) {
    let rewrite = Rewrite::new(module);
    let Some(check) = rewrite.module().function(CHECK) else { return };
    for call in check.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)) {
        if call.operand(0).as_int().is_some_and(|condition| condition != 0) {
            rewrite.erase(call);
        }
    }
}

struct Instrumentation<'m> {
    rewrite: &'m Rewrite<'m>,
    module: ModuleRef<'m>,
    b: Builder<'m>,
    layout: Layout<'m>,
    provenance: Provenance<'m>,
    sites: Vec<Site>,
    numbers: FxHashMap<Site, u32>,
    /// Of `chosen`: starts of objects, and places in private memory, by pointers.
    bases: FxHashMap<Value<'m>, Value<'m>>,
    places: FxHashMap<Value<'m>, PrivatePlace<'m>>,
    /// Functions by their name and type.
    declared: FxHashMap<(&'static str, String), Value<'m>>,
}

impl<'m> Instrumentation<'m> {
    fn new(rewrite: &'m Rewrite<'m>, kernel: &str, roles: &[Role]) -> Instrumentation<'m> {
        let module = rewrite.module();
        Instrumentation {
            rewrite,
            module,
            b: Builder::new(module),
            layout: Layout::of(module),
            provenance: Provenance::new(module, kernel, roles),
            sites: Vec::new(),
            numbers: FxHashMap::default(),
            bases: FxHashMap::default(),
            places: FxHashMap::default(),
            declared: FxHashMap::default(),
        }
    }

    fn instruction(&mut self, instruction: Value<'m>, checks: Checks) {
        match instruction.opcode() {
            Opcode::LLVMLoad => accesses::load(self, instruction),
            Opcode::LLVMStore => accesses::store(self, instruction),
            Opcode::LLVMCall => {
                let Some(name) = instruction.callee().map(Value::name) else { return };
                if name == early::EARLY {
                    return self.number(instruction);
                }
                if !(accesses::call(self, instruction, &name) || flow::call(self, instruction, &name)) {
                    arithmetic::call(self, instruction, &name, checks);
                }
            }
            _ => arithmetic::instruction(self, instruction, checks),
        }
    }

    /// Gives a check of `early` its place.
    fn number(&mut self, call: Value<'m>) {
        let operands = call.arguments();
        let [holds, operation, value, size, bytes] = operands[..] else { return };
        let operation = Operation::ALL.into_iter().find(|known| Some(*known as i64) == operation.as_int());
        let size = size.as_int().unwrap_or(0) as u64;
        let object = if size == 0 { Object::Unknown } else { Object::Private { name: String::new(), size } };
        let site = Site {
            operation: operation.unwrap_or_default(),
            object,
            bytes: bytes.as_int().unwrap_or(0) as u32,
            ..at(call)
        };
        let site = self.site(site);
        self.b.before(call);
        self.check(holds, site, value);
        self.rewrite.erase(call);
    }

    /// The number of a place, as a constant.
    fn site(&mut self, site: Site) -> Value<'m> {
        let next = self.sites.len() as u32;
        let number = *self.numbers.entry(site.clone()).or_insert(next);
        if number == next {
            self.sites.push(site);
        }
        self.int(32).constant(number.into())
    }

    /// A place without memory.
    fn place(&mut self, instruction: Value<'m>, operation: Operation) -> Value<'m> {
        let site = Site { operation, ..at(instruction) };
        self.site(site)
    }

    /// Checks a condition before the instruction that the builder is at.
    fn check(&mut self, holds: Value<'m>, site: Value<'m>, value: Value<'m>) {
        if holds.as_int().is_some_and(|holds| holds != 0) {
            return;
        }
        let ty = self.void().function(&[self.int(1), self.int(32), self.int(64)]);
        let function = self.declare(CHECK, ty);
        self.b.call(function, &[holds, site, value]);
    }

    /// A function of this name for a type. Names that end with a dot are followed by a number.
    fn declare(&mut self, name: &'static str, ty: Type<'m>) -> Value<'m> {
        let key = (name, ty.text());
        if let Some(function) = self.declared.get(&key) {
            return *function;
        }
        let full = if name.ends_with('.') { format!("{name}{}", self.declared.len()) } else { name.to_owned() };
        let function = self.module.add_function(&full, ty);
        // No check may be made to depend on another condition, or moved to where other lanes run.
        function.add_attribute("convergent");
        function.add_attribute("nounwind");
        self.declared.insert(key, function);
        function
    }

    fn int(&self, bits: u32) -> Type<'m> {
        Type::int(self.module.context(), bits)
    }

    fn void(&self) -> Type<'m> {
        Type::void(self.module.context())
    }
}

/// The place of an instruction.
fn at(instruction: Value) -> Site {
    /// Enough to recognize it.
    const MOST: usize = 160;
    let lines = instruction.lines();
    let location = |line: crate::ir::Line| SourceLocation {
        file: line.file,
        line: line.line,
        column: line.column,
        function: line.function,
    };
    let locations: Vec<SourceLocation> = lines.into_iter().map(location).collect();
    let instruction = match locations.is_empty() {
        true => instruction.text().trim().chars().take(MOST).collect(),
        false => String::new(),
    };
    Site { locations, instruction, ..Site::default() }
}
