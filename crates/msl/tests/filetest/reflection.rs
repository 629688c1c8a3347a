//! The JSON at the end of a file, and the one that reflection gives.

use metalworks_msl::Compilation;
use serde_json::Value;
use std::path::Path;

const MARK: &str = "// reflect:";
/// As wide as the code.
const WIDTH: usize = 116;

/// Compares the reflection with the one in the file, or writes it there.
pub(super) fn judge(path: &Path, compilation: &Compilation) -> Result<(), String> {
    if !compilation.diagnostics.is_empty() {
        return Err(compilation.render_diagnostics(false));
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (source, block) = match text.find(MARK) {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    let mut actual = serde_json::to_value(compilation.reflect()).map_err(|error| error.to_string())?;
    shorten(&mut actual, &path.display().to_string());
    let shown = show(&actual);
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        let source = source.trim_end();
        return std::fs::write(path, format!("{source}\n\n{shown}")).map_err(|error| error.to_string());
    }
    if block.is_empty() {
        return Err(format!("there is no `{MARK}`; BLESS=1 writes it:\n{shown}"));
    }
    let json: String = block.lines().map(|line| line.trim_start_matches(MARK).trim_start_matches("//")).collect();
    let expected: Value = serde_json::from_str(&json).map_err(|error| format!("{MARK} is no JSON: {error}"))?;
    if expected == actual {
        return Ok(());
    }
    let old = show(&expected);
    let differing = old.lines().zip(shown.lines()).find(|(old, new)| old != new);
    let (old, new) = differing.unwrap_or(("(an end)", "(more or less)"));
    Err(format!("the reflection differs, first here (BLESS=1 accepts it):\n- {old}\n+ {new}\n\n{shown}"))
}

/// Leaves out what says nothing: null, false, empty lists and texts, and the name of the file itself.
fn shorten(value: &mut Value, file: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, file)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| shorten(member, file));
            members.retain(|name, member| match member {
                Value::Null | Value::Bool(false) => false,
                Value::Array(items) => !items.is_empty(),
                Value::String(text) => !text.is_empty() && (name != "file" || text != file),
                _ => true,
            });
        }
        _ => {}
    }
}

/// The block of comments that stands at the end of a file.
fn show(value: &Value) -> String {
    let mut out = String::new();
    write(value, 3, 0, &mut out);
    let mut block = format!("{MARK}\n");
    for line in out.lines() {
        block += &format!("// {line}\n");
    }
    block
}

/// JSON in lines as full as the width allows; a value that does not fit begins a new line.
fn write(value: &Value, indent: usize, before: usize, out: &mut String) {
    let flat = flat(value);
    if indent + before + flat.len() < WIDTH {
        out.push_str(&flat);
        return;
    }
    let (open, close, items): (char, char, Vec<(String, &Value)>) = match value {
        Value::Array(items) => ('[', ']', items.iter().map(|item| (String::new(), item)).collect()),
        Value::Object(members) => {
            ('{', '}', members.iter().map(|(name, member)| (format!("\"{name}\": "), member)).collect())
        }
        _ => return out.push_str(&flat),
    };
    let margin = " ".repeat(indent - 1);
    out.push(open);
    let mut column = WIDTH;
    for (index, (name, item)) in items.iter().enumerate() {
        let width = name.len() + self::flat(item).len() + 2;
        let is_last = index + 1 == items.len();
        if column + width < WIDTH && value.is_object() {
            out.push(' ');
            column += width + 1;
        } else {
            out.push_str(&format!("\n{margin}"));
            column = if indent + width < WIDTH { indent + width } else { WIDTH };
        }
        out.push_str(name);
        write(item, indent + 2, name.len(), out);
        out.push_str(if is_last { "" } else { "," });
    }
    out.push_str(&format!("\n{}{close}", &margin[2..]));
}

/// JSON on one line, with spaces after commas and colons.
fn flat(value: &Value) -> String {
    let list = |open: &str, items: Vec<String>, close: &str| match items.is_empty() {
        true => format!("{open}{close}"),
        false => format!("{open} {} {close}", items.join(", ")),
    };
    match value {
        Value::Array(items) => list("[", items.iter().map(flat).collect(), "]"),
        Value::Object(members) => {
            list("{", members.iter().map(|(name, member)| format!("\"{name}\": {}", flat(member))).collect(), "}")
        }
        _ => value.to_string(),
    }
}
