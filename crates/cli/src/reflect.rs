//! `metalworks reflect`: prints the interface of kernels.

use std::io;
use std::path::PathBuf;

use clap::Args;
use msl::reflect::{Argument, FunctionConstant, Kernel, Reflection};
use serde::Serialize;

use crate::input;
use crate::language::LanguageFlags;
use crate::output::{self, FormatFlag, Outcome};
use crate::suggest::near_matches;
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks reflect gemv.metal
  metalworks reflect gemv.metal gemv --json
  metalworks reflect gemv.metallib

Exit status: 0 success, 1 the file has errors or no such kernel, 2 the file could
not be read.";

#[derive(Args)]
pub(crate) struct Reflect {
    /// Read a shader or library; `-` is stdin
    ///
    /// A `.metallib` has the reflection that its compiler recorded.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print this kernel only
    ///
    /// By its host name, the one in `[[host_name("…")]]` if there is one.
    #[arg(value_name = "KERNEL")]
    kernel: Option<String>,

    #[command(flatten)]
    language: LanguageFlags,

    /// Print JSON
    ///
    /// One object with `kernels`, `functions` (the other stages) and `function_constants`.
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

impl Reflect {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let found = match input::is_library(&self.file) {
            true => self.of_library()?,
            false => self.of_source()?,
        };
        let mut reflection = match found {
            Ok(reflection) => reflection,
            Err(outcome) => return Ok(outcome),
        };
        if let Some(name) = &self.kernel
            && let Err(message) = keep_only(&mut reflection, name)
        {
            return self.refuse(&message);
        }
        if self.format.is_json(self.json) {
            output::json_result(&reflection)?;
        } else {
            output::result(&render(&reflection))?;
        }
        Ok(Outcome::Fine)
    }

    fn of_source(&self) -> io::Result<Result<Reflection, Outcome>> {
        let compilation = input::compile_or_report(&self.file, &self.language.options())?;
        Ok(compilation.map(|compilation| compilation.reflect()))
    }

    #[cfg(llvm)]
    fn of_library(&self) -> io::Result<Result<Reflection, Outcome>> {
        let bytes = match input::bytes(&self.file) {
            Ok(bytes) => bytes,
            Err(problem) => return output::error(&problem).map(|()| Err(Outcome::NotTried)),
        };
        let library = match air::metallib::Library::parse(&bytes) {
            Ok(library) => library,
            Err(error) => return self.refuse(&error.to_string()).map(Err),
        };
        if let Some(name) = &self.kernel
            && library.function(name).is_none()
        {
            let names: Vec<&str> = library.functions().iter().map(|function| function.name()).collect();
            return self.refuse(&no_such_kernel(name, &names)).map(Err);
        }
        let is_wanted = |name: &str| self.kernel.as_deref().is_none_or(|kernel| kernel == name);
        match air::reflect::reflect_library(&library, is_wanted) {
            Ok(reflection) => Ok(Ok(reflection)),
            Err(error) => self.refuse(&error.to_string()).map(Err),
        }
    }

    #[cfg(not(llvm))]
    fn of_library(&self) -> io::Result<Result<Reflection, Outcome>> {
        let file = self.file.display();
        output::error(&format!("{file}: a compiled library, which a program built without LLVM cannot read"))?;
        Ok(Err(Outcome::NotTried))
    }

    fn refuse(&self, message: &str) -> io::Result<Outcome> {
        output::error(&format!("{}: {message}", input::display_name(&self.file)))?;
        Ok(Outcome::Refused)
    }
}

/// Keeps one kernel and its function constants.
fn keep_only(reflection: &mut Reflection, name: &str) -> Result<(), String> {
    let Some(kernel) = reflection.kernels.iter().find(|kernel| kernel.name == name) else {
        if let Some(other) = reflection.functions.iter().find(|function| function.name == name) {
            return Err(not_a_kernel(name, &other.stage));
        }
        let names: Vec<&str> = reflection.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        return Err(no_such_kernel(name, &names));
    };
    reflection.function_constants.retain(|constant| kernel.function_constants.contains(&constant.index));
    reflection.kernels.retain(|kernel| kernel.name == name);
    reflection.functions.clear();
    Ok(())
}

/// The error for a function of another stage than the kernels'.
pub(crate) fn not_a_kernel(name: &str, stage: &str) -> String {
    format!("'{name}' is a {stage} function, not a kernel")
}

/// Number of names listed in an error.
const NAMES_LISTED: usize = 8;

/// The error for an unknown kernel, with suggestions.
pub(crate) fn no_such_kernel(name: &str, kernels: &[&str]) -> String {
    let near = near_matches(name, kernels);
    let (question, listed, end) = match (near.is_empty(), kernels.is_empty()) {
        (_, true) => return format!("no kernel named '{name}': there are no kernels"),
        (true, false) => ("there are", kernels, ""),
        (false, false) => ("did you mean", near.as_slice(), "?"),
    };
    let mut text = listed.iter().take(NAMES_LISTED).map(|near| format!("'{near}'")).collect::<Vec<_>>().join(", ");
    if listed.len() > NAMES_LISTED {
        text += &format!(" and {} more", listed.len() - NAMES_LISTED);
    }
    format!("no kernel named '{name}'; {question} {text}{end}")
}

/// Formats the whole reflection.
fn render(reflection: &Reflection) -> String {
    let mut sections: Vec<String> =
        reflection.kernels.iter().map(|kernel| render_kernel(kernel, &reflection.function_constants)).collect();
    if reflection.kernels.is_empty() {
        sections.push("no kernels\n".to_owned());
    }
    let others = reflection.functions.iter();
    let others: String = others.map(|function| format!("{} {}\n", word(&function.stage), function.name)).collect();
    if !others.is_empty() {
        sections.push(others);
    }
    sections.join("\n")
}

/// Formats a kernel: a heading and its non-empty tables, separated by empty lines.
fn render_kernel(kernel: &Kernel, constants: &[FunctionConstant]) -> String {
    let tables = [
        argument_table(&kernel.arguments),
        builtin_table(kernel),
        function_constant_table(kernel, constants),
        threadgroup_table(kernel),
        limit_table(kernel),
    ];
    let tables: Vec<String> =
        tables.iter().map(|table| table.render("  ")).filter(|table| !table.is_empty()).collect();
    // Apple's libraries do not record the location of a kernel.
    let place = if kernel.file.is_empty() { String::new() } else { format!("  ({}:{})", kernel.file, kernel.line) };
    format!("kernel {}{place}\n{}", kernel.name, tables.join("\n"))
}

fn argument_table(arguments: &[Argument]) -> Table {
    let mut table = Table::new([
        ("argument", Align::Left),
        ("binding", Align::Left),
        ("space", Align::Left),
        ("type", Align::Left),
        ("access", Align::Left),
        ("element", Align::Left),
        ("size", Align::Right),
        ("align", Align::Right),
        ("only if", Align::Left),
    ]);
    for argument in arguments {
        table.row([
            argument.name.clone(),
            format!("{}({})", word(&argument.kind), argument.index),
            argument.address_space.clone(),
            argument.ty.clone(),
            word(&argument.access).replace('_', " "),
            match argument.array_length {
                Some(length) => format!("{}[{length}]", argument.element_type),
                None => argument.element_type.clone(),
            },
            blank_if_zero(argument.element_size),
            blank_if_zero(argument.element_align),
            argument.function_constant.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn builtin_table(kernel: &Kernel) -> Table {
    let mut table = Table::new([("built-in", Align::Left), ("attribute", Align::Left), ("type", Align::Left)]);
    for builtin in &kernel.builtins {
        table.row([builtin.name.clone(), builtin.attribute.clone(), builtin.ty.clone()]);
    }
    table
}

fn function_constant_table(kernel: &Kernel, constants: &[FunctionConstant]) -> Table {
    let mut table = Table::new([
        ("function constant", Align::Left),
        ("index", Align::Right),
        ("type", Align::Left),
        ("default", Align::Left),
    ]);
    for constant in constants.iter().filter(|constant| kernel.function_constants.contains(&constant.index)) {
        let default = match &constant.default {
            Some(value) => value.clone(),
            None if constant.required => "none: required".to_owned(),
            None => "none".to_owned(),
        };
        table.row([constant.name.clone(), constant.index.to_string(), constant.ty.clone(), default]);
    }
    table
}

fn threadgroup_table(kernel: &Kernel) -> Table {
    let mut table = Table::new([
        ("threadgroup memory", Align::Left),
        ("type", Align::Left),
        ("size", Align::Right),
        ("align", Align::Right),
    ]);
    for variable in &kernel.threadgroup_memory {
        table.row([
            variable.name.clone(),
            variable.ty.clone(),
            variable.size.to_string(),
            variable.align.to_string(),
        ]);
    }
    table
}

fn limit_table(kernel: &Kernel) -> Table {
    let mut table = Table::new([("limit", Align::Left), ("value", Align::Right)]);
    if let Some(threads) = kernel.max_total_threads_per_threadgroup {
        table.row(["max_total_threads_per_threadgroup".to_owned(), threads.to_string()]);
    }
    if kernel.static_threadgroup_memory > 0 {
        table.row(["static threadgroup memory, bytes".to_owned(), kernel.static_threadgroup_memory.to_string()]);
    }
    table
}

/// Blank for types without a layout, such as textures.
fn blank_if_zero(size: u64) -> String {
    if size == 0 { String::new() } else { size.to_string() }
}

/// The JSON word of a value, so that text and JSON agree.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_come_first_and_others_not_at_all() {
        let kernels = ["gemv_q4_0", "softmax", "gemv", "gemm"];
        assert_eq!(near_matches("gemw", &kernels), ["gemm", "gemv"]);
        assert_eq!(near_matches("gemv_q4", &kernels), ["gemv_q4_0"]);
        assert_eq!(near_matches("rope", &kernels), [""; 0]);
    }

    #[test]
    fn an_unknown_kernel_is_answered_with_names() {
        assert_eq!(no_such_kernel("x", &[]), "no kernel named 'x': there are no kernels");
        assert_eq!(no_such_kernel("gemw", &["gemv", "rope"]), "no kernel named 'gemw'; did you mean 'gemv'?");
        assert_eq!(no_such_kernel("x", &["gemv", "rope"]), "no kernel named 'x'; there are 'gemv', 'rope'");
    }

    #[test]
    fn long_lists_of_names_are_truncated() {
        let names: Vec<String> = (0..20).map(|i| format!("copy_{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = no_such_kernel("softmax", &names);
        assert!(message.ends_with("'copy_7' and 12 more"), "{message}");
    }
}
