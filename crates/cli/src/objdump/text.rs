//! The text form.

use air::metallib::data_type_name;
use air::metallib::reflection::{FunctionReflection, ReflectionNode, builtin_name};

use super::detail::{Detail, has_source_lines};
use super::{Dump, Listed, debug_location, hex, uuid_text, version};
use crate::output;
use crate::table::{Align, Table};

/// The header and a line for each function.
pub(super) fn list(dump: &Dump) -> String {
    let table = function_table(dump).render("  ");
    let gap = if table.is_empty() { "" } else { "\n" };
    format!("{}{gap}{table}", header(dump))
}

fn header(dump: &Dump) -> String {
    let header = &dump.library.header;
    let [major, minor, patch] = header.version;
    let mut text = format!(
        "{}: metallib {major}.{minor}.{patch} for {} {}, {}, {} bytes, {}\n",
        dump.file,
        header.platform_name(),
        header.platform_version(),
        header.file_type_name(),
        dump.bytes.len(),
        output::count(dump.library.functions().len(), "function"),
    );
    text += &format!("UUID {}\n", dump.uuid.as_ref().map_or("none".into(), uuid_text));
    if let Some(name) = dump.library.install_name() {
        text += &format!("install name {name}\n");
    }
    for name in dump.library.linked_libraries() {
        text += &format!("linked with {name}\n");
    }
    for (tag, content) in &dump.library.sections {
        text += &format!("section {} {} bytes\n", tag.escape_ascii(), content.len());
    }
    text
}

fn function_table(dump: &Dump) -> Table {
    let mut table = Table::new([
        ("function", Align::Left),
        ("kind", Align::Left),
        ("AIR", Align::Left),
        ("Metal", Align::Left),
        ("offset", Align::Right),
        ("size", Align::Right),
        ("hash", Align::Left),
        ("reflection", Align::Right),
        ("debug", Align::Left),
        ("constants", Align::Left),
    ]);
    for listed in &dump.listed {
        let function = listed.function;
        let (size, offset) = function.extent(dump.bytes);
        let constants = function.constants.iter().map(|constant| format!("{}({})", constant.name, constant.index));
        table.row([
            function.name().to_owned(),
            function.kind.name(),
            version(function.air_version),
            version(function.language_version),
            offset.map_or(String::new(), |offset| format!("{offset:#x}")),
            size.to_string(),
            if listed.is_intact { "ok" } else { "wrong" }.to_owned(),
            function.reflection.as_ref().map_or("none".into(), |buffer| buffer.len().to_string()),
            debug_location(function).map_or(String::new(), |(path, line)| format!("{path}:{line}")),
            constants.collect::<Vec<_>>().join(" "),
        ]);
    }
    table
}

/// One function in full, after an empty line.
pub(super) fn function(listed: &Listed, detail: &Detail) -> String {
    let function = listed.function;
    let mut text = format!("\n{} {}\n", function.kind.name(), function.name());
    text += &format!("  SHA-256 {}\n", hex(function.hash()));
    let mut constants = Table::new([
        ("function constant", Align::Left),
        ("index", Align::Right),
        ("type", Align::Left),
        ("used", Align::Left),
    ]);
    for constant in &function.constants {
        let used = if constant.is_active { "yes" } else { "no" };
        let ty = data_type_name(constant.data_type);
        constants.row([constant.name.to_string(), constant.index.to_string(), ty, used.to_owned()]);
    }
    text += &constants.render("  ");
    let lists = [
        ("function", &function.other_tags),
        ("public", &function.public_tags),
        ("private", &function.private_tags),
    ];
    for (list, tags) in lists {
        for (tag, value) in tags {
            text += &format!("  {list} tag {} {}\n", tag.escape_ascii(), value.escape_ascii());
        }
    }
    if let Some(reflection) = &detail.reflection {
        text += &format!("\n{}", reflection_text(reflection));
    }
    if let Some(air) = &detail.air {
        let lines = if has_source_lines(air) { "with" } else { "without" };
        text += &format!("\n  AIR, {lines} source lines\n{air}");
    }
    text
}

fn reflection_text(reflection: &FunctionReflection) -> String {
    let [a, b, c] = reflection.version;
    let mut text = format!("  reflection {a}.{b}.{c}, function {}\n", numbers(&reflection.kernels));
    text += &node_table(reflection).render("  ");
    if !reflection.constants.is_empty() {
        text += &format!("  function constants: {}\n", numbers(&reflection.constants));
    }
    for (size, align) in &reflection.threadgroup {
        text += &format!("  threadgroup variable: {size} bytes, aligned to {align}\n");
    }
    for part in &reflection.unknown {
        text += &format!("  not decoded: {part}\n");
    }
    text
}

fn numbers(list: &[u32]) -> String {
    list.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// A row for each node, and for each field of a struct.
fn node_table(reflection: &FunctionReflection) -> Table {
    let mut table = Table::new([
        ("node", Align::Right),
        ("kind", Align::Left),
        ("name", Align::Left),
        ("type", Align::Left),
        ("size", Align::Right),
        ("align", Align::Right),
        ("notes", Align::Left),
    ]);
    for (index, node) in reflection.nodes.iter().enumerate() {
        let mut row = |kind: String, name: &str, ty: String, size: String, align: String, notes: Vec<String>| {
            table.row([index.to_string(), kind, name.to_owned(), ty, size, align, notes.join(", ")]);
        };
        let none = String::new;
        let noted = |notes: &[(bool, &str)]| -> Vec<String> {
            notes.iter().filter(|(holds, _)| *holds).map(|(_, note)| (*note).to_owned()).collect()
        };
        match node {
            ReflectionNode::Kernel { name, arguments, max_threads } => {
                let mut notes = vec![format!("arguments {}", numbers(arguments))];
                notes.extend(max_threads.map(|node| format!("limit {node}")));
                row("kernel".into(), name, none(), none(), none(), notes);
            }
            ReflectionNode::MaxThreads(threads) => {
                row("max threads".into(), "", none(), none(), none(), vec![threads.to_string()]);
            }
            ReflectionNode::Buffer(buffer) => {
                let mut notes = vec![space(buffer.address_space), access(buffer.access)];
                if buffer.count != 1 {
                    notes.push(format!("{} indices", buffer.count));
                }
                if buffer.buffer_size != 0 {
                    notes.push(format!("buffer size {}", buffer.buffer_size));
                }
                notes.extend(buffer.struct_type.map(|node| format!("struct {node}")));
                notes.extend(noted(&[(buffer.is_conditional, "conditional"), (buffer.is_unused, "unused")]));
                let (size, align) = (buffer.type_size.to_string(), buffer.type_align.to_string());
                row(
                    format!("buffer({})", buffer.index),
                    &buffer.name,
                    buffer.type_name.to_string(),
                    size,
                    align,
                    notes,
                );
            }
            ReflectionNode::Builtin { number, is_conditional, type_name, name, is_unused } => {
                let kind = builtin_name(*number).map_or_else(|| format!("built-in {number:#x}"), str::to_owned);
                let notes = noted(&[(*is_conditional, "conditional"), (*is_unused, "unused")]);
                row(kind, name, type_name.to_string(), none(), none(), notes);
            }
            ReflectionNode::Constant { type_name, name, index, is_used } => {
                let notes = noted(&[(!is_used, "unused")]);
                row(format!("function_constant({index})"), name, type_name.to_string(), none(), none(), notes);
            }
            ReflectionNode::Struct(fields) => {
                row("struct".into(), "", none(), none(), none(), Vec::new());
                for field in fields {
                    let ty = match field.length {
                        0 => field.type_name.to_string(),
                        length => format!("{} [{length}]", field.type_name),
                    };
                    let mut notes = vec![format!("offset {}", field.offset)];
                    notes.extend(field.struct_type.map(|node| format!("struct {node}")));
                    let cells = [none(), "  field".into(), field.name.to_string(), ty, field.size.to_string()];
                    table.row([&cells[..], &[none(), notes.join(", ")]].concat());
                }
            }
            ReflectionNode::Other { kind } => row(format!("{kind:#x}"), "", none(), none(), none(), Vec::new()),
        }
    }
    table
}

pub(super) fn space(number: u8) -> String {
    match number {
        1 => "device".into(),
        2 => "constant".into(),
        3 => "threadgroup".into(),
        other => format!("address space {other}"),
    }
}

pub(super) fn access(bits: u8) -> String {
    match bits {
        1 => "read".into(),
        2 => "write".into(),
        3 => "read write".into(),
        other => format!("access {other}"),
    }
}
