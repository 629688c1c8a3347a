//! The JSON form.

use air::metallib::reflection::{FunctionReflection, ReflectionNode, builtin_name};
use air::metallib::{Constant, OtherTag, data_type_name};
use serde_json::{Value, json};

use super::detail::{Detail, has_source_lines};
use super::text::{access, space};
use super::{Dump, Listed, debug_location, hex, uuid_text, version};

pub(super) fn of(dump: &Dump, in_full: bool, problems: &mut Vec<String>) -> Value {
    let header = &dump.library.header;
    let sections = dump.library.sections.iter();
    let sections: Vec<Value> = sections
        .map(|(tag, content)| json!({ "tag": tag.escape_ascii().to_string(), "size": content.len() }))
        .collect();
    let functions = dump.listed.iter().map(|listed| {
        let detail = in_full.then(|| Detail::new(listed.function, problems));
        function(dump, listed, detail)
    });
    let functions: Vec<Value> = functions.collect();
    json!({
        "file": dump.file,
        "version": header.version.map(|number| number.to_string()).join("."),
        "platform": header.platform_name(),
        "platform_version": header.platform_version(),
        "file_type": header.file_type_name(),
        "size": dump.bytes.len(),
        "uuid": dump.uuid.as_ref().map(uuid_text),
        "sections": sections,
        "functions": functions,
    })
}

fn function(dump: &Dump, listed: &Listed, detail: Option<Detail>) -> Value {
    let function = listed.function;
    let (size, offset) = function.extent(dump.bytes);
    let mut value = json!({
        "name": function.name(),
        "kind": function.kind.name(),
        "air_version": version(function.air_version),
        "language_version": version(function.language_version),
        "offset": offset,
        "size": size,
        "hash": hex(function.hash()),
        "hash_is_valid": listed.is_intact,
        "function_constants": function.constants.iter().map(constant).collect::<Vec<Value>>(),
        "reflection_size": function.reflection.as_ref().map(|buffer| buffer.len()),
        "debug": debug_location(function).map(|(file, line)| json!({ "file": file, "line": line })),
    });
    if let Some(Detail { reflection, air }) = detail {
        value["other_tags"] = tags(&function.other_tags);
        value["public_tags"] = tags(&function.public_tags);
        value["private_tags"] = tags(&function.private_tags);
        value["reflection"] = reflection.as_ref().map_or(Value::Null, reflection_value);
        value["has_source_lines"] = air.as_deref().map(has_source_lines).into();
        value["air"] = air.into();
    }
    value
}

fn constant(constant: &Constant) -> Value {
    json!({
        "name": constant.name,
        "type": data_type_name(constant.data_type),
        "index": constant.index,
        "is_used": constant.is_active,
    })
}

fn tags(tags: &[OtherTag]) -> Value {
    let tag = |(tag, value): &OtherTag| json!({ "tag": tag.escape_ascii().to_string(), "value": hex(value) });
    tags.iter().map(tag).collect()
}

fn reflection_value(reflection: &FunctionReflection) -> Value {
    let threadgroup = reflection.threadgroup.iter().map(|(size, align)| json!({ "size": size, "align": align }));
    json!({
        "version": reflection.version,
        "nodes": reflection.nodes.iter().map(node).collect::<Vec<Value>>(),
        "kernels": reflection.kernels,
        "function_constants": reflection.constants,
        "threadgroup": threadgroup.collect::<Vec<Value>>(),
        "not_decoded": reflection.unknown,
    })
}

fn node(node: &ReflectionNode) -> Value {
    match node {
        ReflectionNode::Kernel { name, arguments, max_threads } => {
            json!({ "kind": "kernel", "name": name, "arguments": arguments, "max_threads": max_threads })
        }
        ReflectionNode::MaxThreads(threads) => json!({ "kind": "max_threads", "threads": threads }),
        ReflectionNode::Buffer(buffer) => json!({
            "kind": "buffer",
            "name": buffer.name,
            "type": buffer.type_name,
            "index": buffer.index,
            "count": buffer.count,
            "address_space": space(buffer.address_space),
            "access": access(buffer.access).replace(' ', "_"),
            "size": buffer.type_size,
            "align": buffer.type_align,
            "buffer_size": Some(buffer.buffer_size).filter(|size| *size != 0),
            "struct": buffer.struct_type,
            "is_conditional": buffer.is_conditional,
            "is_unused": buffer.is_unused,
        }),
        ReflectionNode::Builtin { number, is_conditional, type_name, name, is_unused } => json!({
            "kind": "builtin",
            "number": number,
            "attribute": builtin_name(*number),
            "name": name,
            "type": type_name,
            "is_conditional": is_conditional,
            "is_unused": is_unused,
        }),
        ReflectionNode::Constant { type_name, name, index, is_used } => json!({
            "kind": "function_constant", "name": name, "type": type_name, "index": index, "is_used": is_used,
        }),
        ReflectionNode::Struct(fields) => {
            let field = |field: &air::metallib::reflection::ReflectedField| {
                json!({
                    "name": field.name,
                    "type": field.type_name,
                    "offset": field.offset,
                    "size": field.size,
                    "length": Some(field.length).filter(|length| *length != 0),
                    "struct": field.struct_type,
                })
            };
            json!({ "kind": "struct", "fields": fields.iter().map(field).collect::<Vec<Value>>() })
        }
        ReflectionNode::Other { kind } => json!({ "kind": kind }),
    }
}
