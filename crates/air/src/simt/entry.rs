//! The entries of a kernel: functions that the driver launches. They find the positions of their thread and call the
//! kernel's code, which is inlined.

use super::lanes::{Active, from_lane, lane, resize};
use super::{Error, Result};
use crate::calls::FAIL;
use crate::ir::{Block, Builder, IntPredicate, ModuleRef, Opcode, Rewrite, Type, Value};
use crate::metadata::FUNCTION_TABLE;
use crate::reflect::Role;
use abi::simt::BYTES_LIMIT;
use abi::{LANES, SimtParameter, Threadgroups};
use msl::reflect::{ArgumentKind, Kernel};

const GLOBAL: u32 = 1;
const SHARED: u32 = 3;

/// The name of the entry that takes addresses, and of the one that takes bytes.
pub(super) const ENTRY: &str = "metalworks_kernel";
pub(super) const BYTES_ENTRY: &str = "metalworks_kernel_bytes";

/// Threads of a multiprocessor, so that each has 64 registers. Without a wish, NVIDIA's assembler aims at twice as many
/// for kernels with large threadgroups: then a thread waits for each of its loads.
const RESIDENT_THREADS: u32 = 1024;

/// A kernel whose entries are to be written.
pub(super) struct Interface<'a> {
    pub(super) roles: &'a [Role],
    pub(super) reflection: &'a Kernel,
    pub(super) threadgroups: Threadgroups,
    pub(super) can_fail: bool,
    pub(super) flush_denormals: bool,
}

impl Interface<'_> {
    fn role(&self, position: usize) -> Option<&Role> {
        self.roles.iter().find(|role| role.position == position)
    }

    /// The size and the alignment of an argument that can be passed by value.
    fn bytes(&self, role: &Role) -> Option<(u32, u32)> {
        let constant = role.what == "air.buffer" && role.address_space == Some(2);
        let argument = self.reflection.arguments.iter().find(|argument| {
            argument.kind == ArgumentKind::Buffer && Some(u64::from(argument.index)) == role.index
        })?;
        let size = u32::try_from(argument.element_size).ok().filter(|&size| size > 0)?;
        let align = u32::try_from(argument.element_align).ok().filter(|align| align.is_power_of_two())?;
        (constant && argument.is_reference).then_some((size, align.min(128)))
    }

    /// True if there is an entry that takes bytes.
    pub(super) fn has_bytes(&self) -> bool {
        let sizes: Vec<u32> = self.roles.iter().filter_map(|role| self.bytes(role)).map(|(size, _)| size).collect();
        let total = sizes.iter().try_fold(0u32, |total, size| total.checked_add(size.next_multiple_of(128)));
        !sizes.is_empty() && total.is_some_and(|total| total <= BYTES_LIMIT)
    }

    /// The parameters of an entry, with their positions among those of the kernel.
    fn parameters(&self, kernel: Value, by_bytes: bool) -> Result<Vec<(Option<usize>, SimtParameter)>> {
        let mut parameters = Vec::new();
        for position in 0..kernel.parameters().len() {
            let Some(role) = self.role(position) else { continue };
            if !matches!(role.what.as_str(), "air.buffer" | "air.indirect_buffer" | FUNCTION_TABLE) {
                continue;
            }
            let refuse = || Error::Unsupported(format!("an argument of the kind '{}'", role.what));
            let index = role.index.and_then(|index| u32::try_from(index).ok()).ok_or_else(refuse)?;
            let parameter = match self.bytes(role).filter(|_| by_bytes) {
                Some((size, align)) => SimtParameter::Bytes { index, size, align },
                None if role.address_space == Some(SHARED.into()) => SimtParameter::Threadgroup { index },
                None => SimtParameter::Buffer { index },
            };
            parameters.push((Some(position), parameter));
        }
        if self.threadgroups == Threadgroups::Any {
            parameters.push((None, SimtParameter::Grid));
        }
        if self.can_fail {
            parameters.push((None, SimtParameter::Failure));
        }
        Ok(parameters)
    }
}

/// Writes an entry of `kernel`, and returns its parameters.
pub(super) fn write<'m>(
    module: ModuleRef<'m>,
    kernel: Value<'m>,
    interface: &Interface,
    by_bytes: bool,
) -> Result<Vec<SimtParameter>> {
    let b = Builder::new(module);
    let context = b.context();
    let int = Type::int(context, 32);
    let parameters = interface.parameters(kernel, by_bytes)?;
    let ty = |parameter: SimtParameter| match parameter {
        SimtParameter::Buffer { .. } | SimtParameter::Failure => Type::pointer_to(context, GLOBAL),
        SimtParameter::Bytes { .. } => Type::pointer(context),
        SimtParameter::Threadgroup { .. } => int,
        SimtParameter::Grid => int.array(3),
    };
    let types: Vec<Type<'m>> = parameters.iter().map(|&(_, parameter)| ty(parameter)).collect();
    let name = if by_bytes { BYTES_ENTRY } else { ENTRY };
    let entry = module.add_function(name, Type::void(context).function(&types));
    entry.make_ptx_kernel();
    entry.add_attribute("nounwind");
    entry.add_attribute("convergent");
    entry.add_text_attribute("no-builtins", "");
    let denormals = if interface.flush_denormals { "preserve-sign,preserve-sign" } else { "ieee,ieee" };
    entry.add_text_attribute("denormal-fp-math-f32", denormals);
    if let Some(threads) = interface.reflection.max_total_threads_per_threadgroup {
        entry.add_text_attribute("nvvm.maxntid", &threads.to_string());
        if threads >= RESIDENT_THREADS / 2 {
            let threadgroups = (RESIDENT_THREADS / threads).max(1);
            entry.add_text_attribute("nvvm.minctasm", &threadgroups.to_string());
        }
    }
    b.at_end(Block::append(entry, "entry"));

    let mut values: Vec<Option<Value<'m>>> = vec![None; kernel.parameters().len()];
    let mut grid = None;
    for (index, (value, &(position, parameter))) in entry.parameters().into_iter().zip(&parameters).enumerate() {
        let index = index as u32;
        let value = match parameter {
            SimtParameter::Buffer { .. } => {
                // Metal takes for granted that buffers do not overlap.
                entry.add_parameter_attribute(index, "noalias", 0);
                value
            }
            SimtParameter::Bytes { size, align, .. } => {
                entry.pass_by_value(index, Type::int(context, 8).array(size.into()));
                entry.add_parameter_attribute(index, "align", align.into());
                // Nothing writes it, so that no thread needs a copy.
                entry.add_parameter_text_attribute(index, "nvvm.grid_constant");
                value
            }
            SimtParameter::Threadgroup { .. } => {
                // Lengths of threadgroup memory are multiples of 16, and so are offsets: this tells LLVM.
                let offset = b.and(value, int.constant(-16));
                b.offset(dynamic_memory(module), b.zext(offset, Type::int(context, 64)))
            }
            SimtParameter::Grid => {
                grid = Some([0, 1, 2].map(|i| b.extract_element(value, i)));
                continue;
            }
            SimtParameter::Failure => continue,
        };
        if let Some(position) = position {
            values[position] = Some(value);
        }
    }
    let thread = Thread::new(&b, entry, grid);
    let mut arguments = Vec::new();
    for (position, parameter) in kernel.parameters().into_iter().enumerate() {
        let to = parameter.ty();
        arguments.push(match (values[position], interface.role(position)) {
            (Some(value), _) => b.cast(Opcode::LLVMAddrSpaceCast, value, to),
            // Its condition is false: no code reads it.
            (None, None) => to.poison(),
            (None, Some(role)) => thread.argument(&b, role, to)?,
        });
    }
    b.call(kernel, &arguments);
    b.ret();
    Ok(parameters.into_iter().map(|(_, parameter)| parameter).collect())
}

/// The threadgroup memory that a dispatch adds.
fn dynamic_memory(module: ModuleRef<'_>) -> Value<'_> {
    const NAME: &std::ffi::CStr = c"metalworks_dynamic";
    module.global(NAME).unwrap_or_else(|| {
        let memory = module.add_external(NAME, Type::int(module.context(), 8).array(0), SHARED);
        memory.set_alignment(16);
        memory
    })
}

/// Lets the threads that fail write the number of the message, once the kernel's code is in the entries.
pub(super) fn write_failures(rewrite: &Rewrite) {
    let module = rewrite.module();
    let Some(fail) = module.function(FAIL) else { return };
    let b = Builder::new(module);
    for call in fail.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)) {
        b.before(call);
        // It is the last parameter of every entry of a kernel that can fail.
        let entry = call.block().function();
        if let (Some(&word), Some(&number)) = (entry.parameters().last(), call.arguments().first()) {
            b.store(number, word, 4);
        }
        rewrite.erase(call);
    }
}

/// The position of a thread, and the sizes around it.
struct Thread<'m> {
    /// The position in the threadgroup.
    local: [Value<'m>; 3],
    /// The size of this threadgroup.
    size: [Value<'m>; 3],
    /// Threads per grid.
    grid: [Value<'m>; 3],
    /// The number in the threadgroup.
    index: Value<'m>,
    is_whole: bool,
}

/// One of PTX's special registers, for a dimension.
fn special<'m>(b: &Builder<'m>, name: &str, dimension: usize) -> Value<'m> {
    let letter = ["x", "y", "z"][dimension.min(2)];
    b.intrinsic(&format!("llvm.nvvm.read.ptx.sreg.{name}.{letter}"), &[], &[])
}

impl<'m> Thread<'m> {
    /// The thread of an entry. Without `grid`, all threadgroups are whole; with it, threads outside of the grid end
    /// here, and the others are numbered as if they had never been: the threads of a simdgroup are 32 that follow one
    /// another in a threadgroup of its true size.
    fn new(b: &Builder<'m>, entry: Value<'m>, grid: Option<[Value<'m>; 3]>) -> Thread<'m> {
        let int = Type::int(b.context(), 32);
        let local = [0, 1, 2].map(|i| special(b, "tid", i));
        let asked = [0, 1, 2].map(|i| special(b, "ntid", i));
        let index = b.add(local[0], b.mul(asked[0], b.add(local[1], b.mul(asked[1], local[2]))));
        let Some(grid) = grid else {
            let grid = [0, 1, 2].map(|i| b.mul(asked[i], special(b, "nctaid", i)));
            return Thread { local, size: asked, grid, index, is_whole: true };
        };
        let size = [0, 1, 2].map(|i| {
            let left = b.sub(grid[i], b.mul(asked[i], special(b, "ctaid", i)));
            b.intrinsic("llvm.umin", &[int], &[asked[i], left])
        });
        let plane = b.mul(size[0], size[1]);
        let [outside, inside] = ["outside", "inside"].map(|name| Block::append(entry, name));
        let is_outside = b.icmp(IntPredicate::LLVMIntUGE, index, b.mul(plane, size[2]));
        b.branch_if(is_outside, outside, inside);
        b.at_end(outside);
        b.ret();
        b.at_end(inside);
        let divided = |value, by| b.binary(Opcode::LLVMUDiv, value, by);
        let rest = |value, by| b.binary(Opcode::LLVMURem, value, by);
        let local = [rest(index, size[0]), rest(divided(index, size[0]), size[1]), divided(index, plane)];
        Thread { local, size, grid, index, is_whole: false }
    }

    /// A parameter of the kernel that is no binding.
    fn argument(&self, b: &Builder<'m>, role: &Role, to: Type<'m>) -> Result<Value<'m>> {
        let refuse = || Error::Unsupported(format!("an argument of the kind '{}'", role.what));
        let what = role.what.strip_prefix("air.").unwrap_or(&role.what);
        if !to.scalar().is_int() {
            return Err(refuse());
        }
        if !to.is_vector() {
            return Ok(resize(b, self.builtin(b, what, 0).ok_or_else(refuse)?, to));
        }
        let mut vector = to.poison();
        for index in 0..to.length() {
            let part = resize(b, self.builtin(b, what, index).ok_or_else(refuse)?, to.element());
            vector = b.insert(vector, part, Type::int(b.context(), 32).constant(index as i64));
        }
        Ok(vector)
    }

    /// Component `index` of a built-in.
    fn builtin(&self, b: &Builder<'m>, what: &str, index: usize) -> Option<Value<'m>> {
        let int = Type::int(b.context(), 32);
        let asked = |i: usize| special(b, "ntid", i);
        let product = |of: &dyn Fn(usize) -> Value<'m>| b.mul(of(0), b.mul(of(1), of(2)));
        let shifted = |value: Value<'m>, by: i64| b.binary(Opcode::LLVMLShr, value, int.constant(by));
        let groups = |threads: Value<'m>, bits: i64| shifted(b.add(threads, int.constant((1 << bits) - 1)), bits);
        let size = |i: usize| self.size[i];
        Some(match what {
            "thread_position_in_threadgroup" => *self.local.get(index)?,
            "thread_position_in_grid" => {
                b.add(b.mul(special(b, "ctaid", index), asked(index)), *self.local.get(index)?)
            }
            "thread_index_in_threadgroup" => self.index,
            "thread_index_in_simdgroup" => lane(b),
            "thread_index_in_quadgroup" => b.and(lane(b), int.constant(3)),
            "quadgroup_index_in_simdgroup" => shifted(lane(b), 2),
            "quadgroup_index_in_threadgroup" => shifted(self.index, 2),
            "simdgroup_index_in_threadgroup" => {
                let number = shifted(self.index, 5);
                // Read from lane 0, it is seen to be the same in all.
                if self.is_whole { from_lane(b, Active::full(b), number, int.zero()) } else { number }
            }
            "simdgroups_per_threadgroup" => groups(product(&size), 5),
            "dispatch_simdgroups_per_threadgroup" => groups(product(&asked), 5),
            "quadgroups_per_threadgroup" => groups(product(&size), 2),
            "dispatch_quadgroups_per_threadgroup" => groups(product(&asked), 2),
            "threads_per_simdgroup" | "thread_execution_width" => int.constant(LANES as i64),
            "threadgroup_position_in_grid" => special(b, "ctaid", index),
            "threads_per_threadgroup" => *self.size.get(index)?,
            "dispatch_threads_per_threadgroup" => asked(index),
            "threads_per_grid" | "grid_size" => *self.grid.get(index)?,
            "threadgroups_per_grid" => special(b, "nctaid", index),
            "grid_origin" | "thread_grid_origin" => int.zero(),
            _ => return None,
        })
    }
}
