//! A module as a list of fields, read from its text: all that Apple's compiler says about a kernel besides its code.

use std::collections::{BTreeMap, HashMap};

/// Field and contents: `parameter 2`, `ptr addrspace(2) noundef "air-buffer-no-alias"`.
pub(crate) type Fields = BTreeMap<String, String>;

/// Lists of nodes that are one field each.
const LISTS: [&str; 4] = ["llvm.ident", "air.version", "air.language_version", "air.compile_options"];

/// The text of a module.
struct Text<'t> {
    lines: Vec<&'t str>,
    /// `!7` → `i32 7, !"frame-pointer", i32 2`
    nodes: HashMap<&'t str, &'t str>,
    /// `#3` → `nounwind willreturn`
    groups: HashMap<&'t str, &'t str>,
}

impl<'t> Text<'t> {
    fn new(text: &'t str) -> Text<'t> {
        let lines: Vec<&str> = text.lines().collect();
        let (mut nodes, mut groups) = (HashMap::new(), HashMap::new());
        for line in &lines {
            let Some((name, value)) = line.split_once(" = ") else { continue };
            let value = value.strip_prefix("distinct ").unwrap_or(value);
            if let Some(node) = value.strip_prefix("!{").and_then(|value| value.strip_suffix('}')) {
                nodes.insert(name, node);
            } else if let Some(group) = name.strip_prefix("attributes ") {
                groups.insert(group, value.trim_matches(['{', ' ', '}']));
            }
        }
        Text { lines, nodes, groups }
    }

    /// The nodes of a list, each with the nodes that it refers to.
    fn list(&self, name: &str) -> Vec<String> {
        let Some(list) = self.nodes.get(format!("!{name}").as_str()) else { return Vec::new() };
        list.split(", ").map(|node| self.expanded(node)).collect()
    }

    /// A node with those that it refers to in their places.
    fn expanded(&self, node: &str) -> String {
        let Some(contents) = self.nodes.get(node) else { return without_number(node) };
        let parts: Vec<String> = operands(contents).into_iter().map(|part| self.expanded(part)).collect();
        format!("{{{}}}", parts.join(", "))
    }

    /// The line that begins with one of these and mentions a function.
    fn line(&self, starts: &[&str], function: &str) -> Option<&'t str> {
        let name = format!("@{function}(");
        let mut lines = self.lines.iter().copied();
        lines.find(|line| starts.iter().any(|start| line.starts_with(start)) && line.contains(&name))
    }

    /// The attributes at the end of a line.
    fn attributes(&self, line: &str) -> String {
        let group = line.split(' ').rev().find(|word| word.starts_with('#'));
        group.and_then(|group| self.groups.get(group)).copied().unwrap_or_default().to_owned()
    }
}

/// The operands of a node: text in quotes may have commas.
fn operands(contents: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_text, mut depth) = (Vec::new(), 0, false, 0);
    for (at, byte) in contents.bytes().enumerate() {
        match byte {
            b'"' => is_text = !is_text,
            b'[' | b'{' | b'(' if !is_text => depth += 1,
            b']' | b'}' | b')' if !is_text => depth -= 1,
            b',' if !is_text && depth == 0 => {
                parts.push(contents[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(contents[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// A global without the number that Apple's linker adds to a name that is taken: `@pred_0.4`.
fn without_number(operand: &str) -> String {
    match operand.rsplit_once('.') {
        Some((name, number)) if name.contains('@') && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.into()
        }
        _ => operand.into(),
    }
}

/// The parameters in a line that defines or declares a function, without their names.
fn parameters(line: &str) -> Vec<String> {
    let after = &line[line.find('@').unwrap_or(0)..];
    let list = after.split_once('(').map_or("", |(_, list)| list);
    let mut depth = 0;
    let end = list.bytes().position(|byte| {
        depth += match byte {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        depth < 0
    });
    let list = &list[..end.unwrap_or(list.len())];
    let without_name = |part: &str| part.split_once(" %").map_or(part, |(ty, _)| ty).to_owned();
    operands(list).into_iter().map(without_name).collect()
}

/// The fields of a module with this kernel.
pub(crate) fn describe(text: &str, kernel: &str) -> Fields {
    let text = Text::new(text);
    let mut fields = Fields::new();
    let mut add = |name: String, value: String| {
        fields.insert(name, value);
    };
    for flag in text.list("llvm.module.flags") {
        let parts: Vec<&str> = operands(flag.trim_matches(['{', '}'])).into_iter().collect();
        add(format!("flag {}", parts[1]), flag.clone());
    }
    LISTS.iter().for_each(|list| add((*list).into(), text.list(list).join(" ")));
    for (number, constant) in text.list("air.function_constants").into_iter().enumerate() {
        let name = operands(constant.trim_matches(['{', '}'])).get(2).map_or(String::new(), |name| (*name).into());
        let name = if name.is_empty() { number.to_string() } else { name };
        add(format!("function constant {name}"), constant);
    }
    let node = text.list("air.kernel").into_iter().next().unwrap_or_default();
    for (index, part) in operands(&node[1..node.len() - 1]).into_iter().enumerate().skip(1) {
        if index == 2 {
            for argument in operands(&part[1..part.len() - 1]) {
                let position = argument.trim_start_matches('{').split(',').next().unwrap_or_default();
                add(format!("argument {position}"), argument.into());
            }
        } else {
            add(format!("kernel node {index}"), part.into());
        }
    }
    let definition = text.line(&["define"], kernel).unwrap_or_default();
    let before = definition.split('@').next().unwrap_or_default().trim().to_owned();
    add("linkage".into(), before);
    add("attributes".into(), text.attributes(definition));
    let address = if definition.contains(" local_unnamed_addr ") { "local_unnamed_addr" } else { "" };
    add("address".into(), address.into());
    for (index, parameter) in parameters(definition).into_iter().enumerate() {
        add(format!("parameter {index}"), parameter);
    }
    fields.extend(declarations(&text));
    fields
}

/// The functions of AIR that a module declares, and the attributes of their calls.
fn declarations(text: &Text) -> Fields {
    let mut fields = Fields::new();
    for line in &text.lines {
        if !line.contains("@air.") {
            continue;
        }
        let name = line.split_once("@air.").map_or("", |(_, rest)| rest.split('(').next().unwrap_or_default());
        if line.starts_with("declare ") {
            let result = line.trim_start_matches("declare ").split('@').next().unwrap_or_default().trim();
            let signature = format!("{result} ({})", parameters(line).join(", "));
            let address = if line.contains(" local_unnamed_addr") { " local_unnamed_addr" } else { "" };
            let value = format!("{signature}{address} {{ {} }}", text.attributes(line));
            fields.insert(format!("declaration air.{name}"), value);
        } else if line.starts_with("  ") && line.contains("call ") {
            fields.insert(format!("call air.{name}"), text.attributes(line));
        }
    }
    fields
}
