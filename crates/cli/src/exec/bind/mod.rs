//! Checks the given arguments against the kernel's reflection: every mistake is found before anything runs.

#[cfg(test)]
mod tests;

use std::fmt;

use compute::{Finding, FindingKind};
use msl::reflect::{Access, Argument, ArgumentKind, Kernel};

use super::data::Data;
use super::error::Error;
use super::source::{ArgumentSource, Given, Key, is_padded, scalar_in};
use crate::npy;
use crate::output::count;
use crate::table::{Align, Table};

/// Values of the flags.
pub(crate) struct Wanted<'a> {
    pub(crate) arguments: &'a [Given],
    pub(crate) threadgroup_memory: &'a [(Key, usize)],
    /// Arguments to write or print after the run, each with its flag.
    pub(crate) outputs: Vec<(&'static str, &'a Key)>,
}

/// Limits of a device.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) buffer: usize,
    pub(crate) threadgroup_memory: usize,
}

/// An argument with its data.
pub(crate) struct ArgumentBinding {
    pub(crate) argument: Argument,
    pub(crate) data: Data,
}

/// All bindings of a dispatch.
pub(crate) struct Bindings {
    pub(crate) buffers: Vec<ArgumentBinding>,
    /// Index and size in bytes.
    pub(crate) threadgroup_memory: Vec<(u32, usize)>,
    /// Index of each visible function table, and the names of its functions; empty for an empty entry.
    pub(crate) tables: Vec<(u32, Vec<String>)>,
}

/// True if a key identifies an argument: its index within its kind, or its name.
fn is(argument: &Argument, key: &Key, kind: ArgumentKind) -> bool {
    match key {
        Key::Index(index) => argument.kind == kind && argument.index == *index,
        Key::Name(name) => argument.name == *name,
    }
}

/// True if a key identifies this buffer.
pub(crate) fn is_key_of(key: &Key, argument: &Argument) -> bool {
    is(argument, key, ArgumentKind::Buffer)
}

/// An argument's name in messages.
struct Named<'a>(&'a Argument);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0.kind {
            ArgumentKind::Buffer => "buffer",
            ArgumentKind::ThreadgroupMemory => "threadgroup",
            ArgumentKind::VisibleFunctionTable => "buffer",
            ArgumentKind::Texture => "texture",
            ArgumentKind::Sampler => "sampler",
            ArgumentKind::Other => return write!(f, "argument '{}'", self.0.name),
        };
        write!(f, "argument '{}' ({kind} {})", self.0.name, self.0.index)
    }
}

/// Matches flags with the kernel's arguments.
pub(crate) struct Binder<'a> {
    /// The kernel with its constants set.
    kernel: &'a Kernel,
    /// All arguments, before setting constants; used only to explain a mistake.
    all_arguments: &'a dyn Fn() -> Vec<Argument>,
    limits: Limits,
    errors: Vec<Error>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        kernel: &'a Kernel,
        all_arguments: &'a dyn Fn() -> Vec<Argument>,
        limits: Limits,
    ) -> Binder<'a> {
        Binder { kernel, all_arguments, limits, errors: Vec::new() }
    }

    /// Binds all arguments, or returns all errors.
    pub(crate) fn bind(mut self, wanted: &Wanted) -> Result<Bindings, Vec<Error>> {
        let mut bindings = Bindings { buffers: Vec::new(), threadgroup_memory: Vec::new(), tables: Vec::new() };
        for given in wanted.arguments {
            if let Some(argument) = self.table_of(given) {
                self.table(argument, given, &mut bindings.tables);
            } else if let Some(bound) = self.buffer(given) {
                if bindings.buffers.iter().any(|earlier| earlier.argument.index == bound.argument.index) {
                    self.refuse(format!("{} is bound twice", Named(&bound.argument)));
                }
                bindings.buffers.push(bound);
            }
        }
        for (key, bytes) in wanted.threadgroup_memory {
            if let Some(index) = self.threadgroup_memory(key, *bytes) {
                if bindings.threadgroup_memory.iter().any(|(earlier, _)| *earlier == index) {
                    self.refuse(format!("--threadgroup-memory sets the size of {index} twice"));
                }
                bindings.threadgroup_memory.push((index, *bytes));
            }
        }
        self.all_threadgroup_memory(&bindings);
        self.missing(wanted);
        for (flag, key) in &wanted.outputs {
            self.output(flag, key, wanted);
        }
        if self.errors.is_empty() { Ok(bindings) } else { Err(self.errors) }
    }

    fn refuse(&mut self, problem: String) {
        self.errors.push(Error::Refused(problem));
    }

    /// The argument of a key; reports an error if there is none.
    fn argument(&mut self, key: &Key, kind: ArgumentKind, flag: &str) -> Option<&'a Argument> {
        if let Some(argument) = self.kernel.arguments.iter().find(|argument| is(argument, key, kind)) {
            if argument.kind == kind {
                return Some(argument);
            }
            self.wrong_kind(argument);
            return None;
        }
        let gone = (self.all_arguments)().into_iter().find(|argument| is(argument, key, kind));
        let problem = match gone {
            Some(argument) => {
                let condition = argument.function_constant.as_deref().unwrap_or("its condition");
                format!("{} does not exist with these function constants: {condition} is false", Named(&argument))
            }
            None => self.no_argument(key, kind, flag),
        };
        self.refuse(problem);
        None
    }

    fn no_argument(&self, key: &Key, kind: ArgumentKind, flag: &str) -> String {
        if let Some(argument) = self.struct_of(key) {
            let fields: Vec<String> = argument.fields.iter().map(|field| format!("{}=…", field.name)).collect();
            return format!(
                "{flag} {key}: fields are bound together: {flag} {}=struct:{}",
                argument.name,
                fields.join(",")
            );
        }
        let there = self.kernel.arguments.iter().filter(|argument| argument.kind == kind);
        let there: Vec<String> = there.map(|argument| format!("{} '{}'", argument.index, argument.name)).collect();
        let there = if there.is_empty() { "it has none".into() } else { format!("it has {}", there.join(", ")) };
        format!("{flag} {key}: the kernel has no such argument; {there}")
    }

    /// The struct with the field of a key such as `params.n`.
    fn struct_of(&self, key: &Key) -> Option<&Argument> {
        let Key::Name(name) = key else { return None };
        let (argument, _) = name.split_once('.')?;
        self.kernel.arguments.iter().find(|other| other.name == argument && !other.fields.is_empty())
    }

    /// Reports a name of an argument of another kind.
    fn wrong_kind(&mut self, argument: &Argument) {
        let (named, name) = (Named(argument), &argument.name);
        let problem = match argument.kind {
            ArgumentKind::ThreadgroupMemory => {
                format!("{named} is threadgroup memory: give its size with --threadgroup-memory {name}=BYTES")
            }
            ArgumentKind::Buffer => format!("{named} is not threadgroup memory: bind it with --arg {name}=VALUE"),
            _ => format!("{named} is a {}: only buffers can be bound", argument.element_type),
        };
        self.refuse(problem);
    }

    /// The visible function table that is bound.
    fn table_of(&self, given: &Given) -> Option<&'a Argument> {
        let kind = ArgumentKind::VisibleFunctionTable;
        let mut arguments = self.kernel.arguments.iter();
        arguments.find(|argument| argument.kind == kind && is(argument, &given.key, kind))
    }

    fn table(&mut self, argument: &Argument, given: &Given, tables: &mut Vec<(u32, Vec<String>)>) {
        let (named, name) = (Named(argument), &argument.name);
        match &given.source {
            ArgumentSource::Functions(_) if tables.iter().any(|(index, _)| *index == argument.index) => {
                self.refuse(format!("{named} is bound twice"));
            }
            ArgumentSource::Functions(functions) => tables.push((argument.index, functions.clone())),
            _ => {
                self.refuse(format!("{named} is a visible function table: bind it with --arg {name}=functions:F,G"))
            }
        }
    }

    /// Loads and checks the data of one argument.
    fn buffer(&mut self, given: &Given) -> Option<ArgumentBinding> {
        let argument = self.argument(&given.key, ArgumentKind::Buffer, "--arg")?;
        let data = Data::load(given, argument, self.limits.buffer).and_then(|data| {
            let checked = check_type(argument, given, &data).and_then(|()| check_size(argument, given, &data));
            checked.map(|()| data).map_err(Error::Refused)
        });
        match data {
            Ok(data) => Some(ArgumentBinding { argument: argument.clone(), data }),
            Err(error) => {
                self.errors.push(error.within(&Named(argument).to_string()));
                None
            }
        }
    }

    fn threadgroup_memory(&mut self, key: &Key, bytes: usize) -> Option<u32> {
        let kind = ArgumentKind::ThreadgroupMemory;
        let argument = self.argument(key, kind, "--threadgroup-memory")?;
        let (named, element, size) = (Named(argument), &argument.element_type, argument.element_size);
        if (bytes as u64) < size {
            self.refuse(format!("{named}: {bytes} bytes are less than one {element}, {size} bytes"));
        } else if !bytes.is_multiple_of(THREADGROUP_MEMORY_UNIT) {
            let next = bytes.next_multiple_of(THREADGROUP_MEMORY_UNIT);
            self.refuse(format!(
                "{named}: {bytes} bytes are not a multiple of {THREADGROUP_MEMORY_UNIT}: use {next}"
            ));
        }
        Some(argument.index)
    }

    fn all_threadgroup_memory(&mut self, bindings: &Bindings) {
        let own = usize::try_from(self.kernel.static_threadgroup_memory).unwrap_or(usize::MAX);
        let all = bindings.threadgroup_memory.iter().fold(own, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let limit = self.limits.threadgroup_memory;
        if all > limit && !bindings.threadgroup_memory.is_empty() {
            let problem = format!(
                "{all} bytes of threadgroup memory ({own} of them the kernel's own) are over the limit of {limit}"
            );
            let detail =
                format!("{own} bytes of the kernel's own variables{}; the limit is {limit}", self.sizes(bindings));
            let finding = Finding::of_kernel(FindingKind::ThreadgroupMemoryLimit, &self.kernel.name, detail);
            self.errors.push(Error::Mistake(problem, Box::new(finding)));
        }
    }

    /// The sizes of threadgroup arguments in words.
    fn sizes(&self, bindings: &Bindings) -> String {
        let size = |(index, bytes): &(u32, usize)| {
            let is_it = |argument: &&Argument| is(argument, &Key::Index(*index), ArgumentKind::ThreadgroupMemory);
            let name = self.kernel.arguments.iter().find(is_it).map_or("", |argument| &argument.name);
            format!(", {bytes} of '{name}' (threadgroup {index})")
        };
        bindings.threadgroup_memory.iter().map(size).collect()
    }

    /// Reports arguments that the kernel uses and that are not bound.
    fn missing(&mut self, wanted: &Wanted) {
        let mut table = Table::new([("flag", Align::Left), ("argument", Align::Left), ("type", Align::Left)]);
        let mut missing = 0;
        for argument in self.kernel.arguments.iter().filter(|argument| argument.is_used) {
            let keyed = |key: &Key| is(argument, key, argument.kind);
            let (bound, flag) = match argument.kind {
                ArgumentKind::VisibleFunctionTable => (
                    wanted.arguments.iter().any(|given| keyed(&given.key)),
                    format!("--arg {}=functions:NAMES", argument.index),
                ),
                ArgumentKind::Buffer => (
                    wanted.arguments.iter().any(|given| keyed(&given.key)),
                    format!("--arg {}=VALUE", argument.index),
                ),
                ArgumentKind::ThreadgroupMemory => (
                    wanted.threadgroup_memory.iter().any(|(key, _)| keyed(key)),
                    format!("--threadgroup-memory {}=BYTES", argument.index),
                ),
                ArgumentKind::Texture | ArgumentKind::Sampler | ArgumentKind::Other => {
                    (false, "cannot be bound here".to_owned())
                }
            };
            if !bound {
                missing += 1;
                table.row([flag, argument.name.clone(), argument.ty.clone()]);
            }
        }
        if missing > 0 {
            let are = if missing == 1 { "is" } else { "are" };
            let table = table.render("  ");
            self.refuse(format!("{} {are} not bound:\n{}", count(missing, "argument"), table.trim_end()));
        }
    }

    /// Checks that an output is bound, and written by the kernel.
    fn output(&mut self, flag: &str, key: &Key, wanted: &Wanted) {
        let Some(argument) = self.argument(key, ArgumentKind::Buffer, flag) else { return };
        let is_bound = wanted.arguments.iter().any(|given| is(argument, &given.key, ArgumentKind::Buffer));
        if argument.access == Access::Read {
            let problem =
                format!("{} is only read by the kernel ({}): it cannot be an output", Named(argument), argument.ty);
            self.refuse(problem);
        } else if !is_bound {
            let (named, index) = (Named(argument), argument.index);
            let problem = format!("{named} must be bound to be an output: --arg {index}=zeros:TYPE:SHAPE");
            self.refuse(problem);
        }
    }
}

/// Metal's granularity of threadgroup memory.
const THREADGROUP_MEMORY_UNIT: usize = 16;

/// Checks that the data's type is the argument's. Structs and bytes match anything.
fn check_type(argument: &Argument, given: &Given, data: &Data) -> Result<(), String> {
    let Some(wanted) = scalar_in(&argument.element_type).filter(|_| !given.as_bytes) else { return Ok(()) };
    let (element, name) = (&argument.element_type, wanted.name());
    if let Some(scalar) = data.scalar {
        if scalar != wanted {
            let text = given.text.replacen(scalar.name(), wanted.name(), 1);
            let text = text.replacen(scalar.short_name(), wanted.short_name(), 1);
            return Err(format!(
                "it is {element}, but '{}' is {}: write {text}, or bytes:{} to bind it as it is",
                given.text,
                scalar.name(),
                given.text,
            ));
        }
    } else if let Some(header) = &data.header
        && !header.dtype.holds(wanted)
    {
        let (dtype, fitting) = (header.dtype, npy::Dtype::of(wanted));
        let bits = if name == "bfloat" { " (its bits)" } else { "" };
        return Err(format!(
            "it is {element}, but '{}' has {dtype}: save it as {fitting}{bits}, or bind bytes:{} as it is",
            given.text, given.text,
        ));
    }
    Ok(())
}

/// Checks the size: whole elements, at least one, and exactly one if the parameter is a reference, unless it ends in an
/// array.
fn check_size(argument: &Argument, given: &Given, data: &Data) -> Result<(), String> {
    let (element, text) = (&argument.element_type, &given.text);
    let (bytes, size) = (data.bytes.len() as u64, argument.element_size.max(1));
    let each = format!("{element}, {}", count(usize::try_from(size).unwrap_or(usize::MAX), "byte"));
    if bytes == 0 {
        return Err(format!("'{text}' is empty: it needs at least one {each}"));
    }
    if bytes < size {
        return Err(format!("'{text}' has {bytes} bytes, less than one {each}"));
    }
    if let Some(header) = &data.header
        && is_padded(element)
        && header.shape.last() == Some(&3)
    {
        return Err(format!(
            "'{text}' has 3 numbers where {element} takes 4 in memory: add a column to its shape {}",
            npy::display_shape(&header.shape)
        ));
    }
    // `struct { uint n; float data[1]; }` behind a reference: the array is as long as the buffer.
    if argument.is_reference && argument.fields.last().is_some_and(|field| field.ty.ends_with(']')) {
        return Ok(());
    }
    if !bytes.is_multiple_of(size) {
        return Err(format!("'{text}' has {bytes} bytes, which is not a whole number of {each} each"));
    }
    if argument.is_reference && bytes != size {
        return Err(format!("'{text}' has {bytes} bytes, but the kernel takes one {each} ({})", argument.ty));
    }
    Ok(())
}
