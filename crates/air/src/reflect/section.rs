//! A kernel's metadata as a buffer of a library's reflection list.

use super::parameter::Parameter;
use super::{Error, Result, entry, error, number};
use crate::ir::{Layout, ModuleRef, Node, Operand, Value, named};
use crate::metadata::UNUSED;
use crate::metallib::Function;
use crate::metallib::reflection::{
    FunctionReflection, ReflectedBuffer, ReflectedField, ReflectionNode, builtin_number,
};
use crate::{bitcode, guard};
use inkwell::context::Context;
use inkwell::module::Module;
use std::collections::HashMap;

/// Structs nest no deeper; metadata of others could.
const MAX_NESTING: usize = 64;

/// The buffer for a module's kernel. `None` if it has something whose form in the buffer is not known: a texture, a
/// sampler, some built-ins.
pub fn reflection_buffer(module: &Module) -> Result<Option<Vec<u8>>> {
    Ok(describe(module)?.and_then(|reflection| reflection.write()))
}

/// The same for a function of a library; the error is a message.
pub fn reflection_of_bitcode(function: &Function) -> std::result::Result<Option<Vec<u8>>, String> {
    let bytes = function.bitcode().map_err(|error| error.to_string())?;
    guard::run(|| {
        let context = Context::create();
        let module = bitcode::parse(&context, bytes, function.name())?;
        reflection_buffer(&module).map_err(|error| error.to_string())
    })?
}

fn describe(module: &Module) -> Result<Option<FunctionReflection<'static>>> {
    let module = ModuleRef::of(module);
    let [kernel] = named(module, c"air.kernel")[..] else { return Ok(None) };
    let (function, operands) = entry(kernel)?;
    let name = function.name();
    let [_, Operand::Node(parameters), properties @ ..] = &operands[..] else {
        return Err(error(&name, "there is no list of arguments"));
    };
    let mut nodes =
        Nodes { kernel: name.clone(), nodes: vec![ReflectionNode::Other { kind: 0 }], structs: HashMap::new() };
    let mut arguments = Vec::new();
    for parameter in parameters.operands() {
        let Operand::Node(parameter) = parameter else { return Err(error(&name, "an argument is no node")) };
        arguments.push(nodes.len());
        if nodes.argument(&Parameter::new(&name, parameter)?)?.is_none() {
            return Ok(None);
        }
    }
    let mut max_threads = None;
    for property in properties {
        let Operand::Node(property) = property else { return Ok(None) };
        match &property.operands()[..] {
            [Operand::Text(key), Operand::Int(threads)] if key == "air.max_work_group_size" => {
                max_threads = Some(nodes.len());
                nodes.nodes.push(ReflectionNode::MaxThreads(number(*threads, &name, "the number of threads")?));
            }
            _ => return Ok(None),
        }
    }
    let mut reflection = FunctionReflection { kernels: vec![0], ..FunctionReflection::default() };
    for constant in named(module, c"air.function_constants") {
        reflection.constants.push(nodes.len());
        nodes.nodes.push(constant_node(constant)?);
    }
    reflection.threadgroup = threadgroup(module, &name)?;
    nodes.nodes[0] = ReflectionNode::Kernel { name: name.into(), arguments, max_threads };
    reflection.nodes = nodes.nodes;
    Ok(Some(reflection))
}

/// The nodes so far.
struct Nodes<'m> {
    kernel: String,
    nodes: Vec<ReflectionNode<'static>>,
    /// Structs that have a node already.
    structs: HashMap<Node<'m>, u32>,
}

impl<'m> Nodes<'m> {
    fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn error(&self, problem: &str) -> Error {
        error(&self.kernel, problem)
    }

    /// Adds an argument; `None` if the buffer cannot hold it.
    fn argument(&mut self, parameter: &Parameter<'m>) -> Result<Option<()>> {
        let what = parameter.what().ok_or_else(|| self.error("an argument does not say what it is"))?;
        let is_conditional = parameter.has("air.function_constant");
        let is_unused = parameter.has(UNUSED);
        let text = |property| parameter.text_after(property).unwrap_or_default().to_owned().into();
        let (type_name, name) = (text("air.arg_type_name"), text("air.arg_name"));
        if what != "air.buffer" {
            let number = what.strip_prefix("air.").and_then(builtin_number);
            let Some(number) = number.filter(|_| parameter.int("air.location_index").is_none()) else {
                return Ok(None);
            };
            self.nodes.push(ReflectionNode::Builtin { number, is_conditional, type_name, name, is_unused });
            return Ok(Some(()));
        }
        let int = |property, what| number(parameter.int(property).unwrap_or(0), &self.kernel, what);
        let Ok(address_space) = u8::try_from(int("air.address_space", "an address space")?) else {
            return Ok(None);
        };
        let (index, count) = parameter.location().ok_or_else(|| self.error("an argument has no index"))?;
        let mut buffer = ReflectedBuffer {
            is_conditional,
            buffer_size: int("air.buffer_size", "a size")?,
            index: number(index, &self.kernel, "an index")?,
            count: number(count, &self.kernel, "a number of indices")?,
            access: parameter.access_bits(),
            address_space,
            struct_type: None,
            type_size: int("air.arg_type_size", "a size")?,
            type_align: int("air.arg_type_align_size", "an alignment")?,
            type_name,
            name,
            is_unused,
        };
        let position = self.nodes.len();
        self.nodes.push(ReflectionNode::Other { kind: 0 });
        if let Some(node) = parameter.node_after("air.struct_type_info") {
            buffer.struct_type = Some(self.struct_type(node, 0)?);
        }
        self.nodes[position] = ReflectionNode::Buffer(buffer);
        Ok(Some(()))
    }

    /// The node of a struct, added the first time.
    fn struct_type(&mut self, node: Node<'m>, depth: usize) -> Result<u32> {
        if let Some(known) = self.structs.get(&node) {
            return Ok(*known);
        }
        if depth > MAX_NESTING {
            return Err(self.error("structs are nested too deep"));
        }
        let position = self.len();
        self.structs.insert(node, position);
        self.nodes.push(ReflectionNode::Other { kind: 0 });
        let operands = node.operands();
        let mut operands = &operands[..];
        let mut fields = Vec::new();
        while !operands.is_empty() {
            let mut field = ReflectedField::default();
            if let [Operand::Text(key), Operand::Node(nested), rest @ ..] = operands
                && key == "air.struct_type_info"
            {
                field.struct_type = Some(self.struct_type(*nested, depth + 1)?);
                operands = rest;
            }
            let [
                Operand::Int(offset),
                Operand::Int(size),
                Operand::Int(length),
                Operand::Text(type_name),
                Operand::Text(name),
                rest @ ..,
            ] = operands
            else {
                return Err(self.error("a field is not {offset, size, length, type, name}"));
            };
            field.offset = number(*offset, &self.kernel, "an offset")?;
            field.size = number(*size, &self.kernel, "a size")?;
            field.length = number(*length, &self.kernel, "a length")?;
            field.type_name = type_name.clone().into();
            field.name = name.clone().into();
            fields.push(field);
            operands = rest;
        }
        self.nodes[position as usize] = ReflectionNode::Struct(fields);
        Ok(position)
    }
}

fn constant_node(node: Node) -> Result<ReflectionNode<'static>> {
    match &node.operands()[..] {
        [_, Operand::Text(type_name), Operand::Text(name), Operand::Int(index), rest @ ..] => {
            Ok(ReflectionNode::Constant {
                index: number(*index, name, "the index")?,
                type_name: type_name.clone().into(),
                name: name.clone().into(),
                is_used: matches!(rest.first(), Some(Operand::Int(used)) if *used != 0),
            })
        }
        _ => Err(error("air.function_constants", "an entry is not {global, type, name, index, …}")),
    }
}

/// Size and alignment of the module's threadgroup variables.
fn threadgroup(module: ModuleRef, kernel: &str) -> Result<Vec<(u32, u32)>> {
    let layout = Layout::of(module);
    let is_threadgroup = |global: &Value| super::threadgroup::is_threadgroup(*global);
    let variable = |global: Value| {
        let ty = global.global_type();
        let align = global.alignment().max(layout.align(ty)).max(1);
        Ok((number(layout.size(ty), kernel, "the size of a threadgroup variable")?, align))
    };
    module.globals().into_iter().filter(is_threadgroup).map(variable).collect()
}

#[cfg(test)]
mod tests {
    use crate::metallib::Library;
    use crate::metallib::reflection::{FunctionReflection, ReflectionNode};

    fn compiled(text: &str) -> Vec<u8> {
        let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{text}");
        let compilation = msl::compile_source("k.metal", &text, &msl::Options::default());
        assert!(!compilation.has_errors(), "{:?}", compilation.diagnostics);
        crate::compile(&compilation, crate::MathMode::Fast).unwrap().library
    }

    #[test]
    fn compiled_libraries_have_a_reflection_list() {
        let file = compiled(
            "struct Pair { float a[2]; int n; };
             constant bool wide [[function_constant(3)]];
             [[max_total_threads_per_threadgroup(64)]]
             kernel void k(device Pair *pairs [[buffer(1)]], constant int &n [[buffer(2)]],
                           device const float *extra [[buffer(4), function_constant(wide)]],
                           uint lane [[thread_index_in_simdgroup]]) {
               threadgroup float sums[32];
               sums[lane] = wide ? extra[lane] : pairs[n].a[0];
               threadgroup_barrier(mem_flags::mem_threadgroup);
               pairs[n].a[1] = sums[0];
             }",
        );
        let library = Library::parse(&file).unwrap();
        assert_eq!(library.header.version, [1, 2, 7]);
        let bytes = library.function("k").unwrap().reflection.as_deref().unwrap();
        let read = FunctionReflection::parse(bytes).unwrap();
        assert_eq!((read.kernels.as_slice(), read.constants.as_slice()), (&[0][..], &[7][..]));
        assert_eq!(read.threadgroup, [(128, 4)]);
        let [kernel, pairs, pair, n, extra, lane, threads, wide] = &read.nodes[..] else { panic!("{read:#?}") };
        let arguments = vec![1, 3, 4, 5];
        assert_eq!(*kernel, ReflectionNode::Kernel { name: "k".into(), arguments, max_threads: Some(6) });
        let ReflectionNode::Buffer(pairs) = pairs else { panic!("{pairs:?}") };
        assert_eq!((pairs.index, pairs.access, pairs.address_space, pairs.struct_type), (1, 3, 1, Some(2)));
        assert_eq!((&*pairs.type_name, pairs.type_size, pairs.type_align), ("Pair", 12, 4));
        let ReflectionNode::Struct(fields) = pair else { panic!("{pair:?}") };
        assert_eq!((&*fields[0].name, fields[0].size, fields[0].length, fields[1].offset), ("a", 4, 2, 8));
        let ReflectionNode::Buffer(n) = n else { panic!("{n:?}") };
        assert_eq!((n.buffer_size, n.access, n.address_space, n.is_conditional), (4, 1, 2, false));
        assert!(matches!(extra, ReflectionNode::Buffer(extra) if extra.is_conditional && extra.index == 4));
        assert!(matches!(lane, ReflectionNode::Builtin { number: 0xc, .. }));
        assert_eq!(*threads, ReflectionNode::MaxThreads(64));
        assert!(matches!(wide, ReflectionNode::Constant { index: 3, is_used: true, .. }));
    }

    #[test]
    fn libraries_that_cannot_be_described_have_none() {
        let file = compiled(
            "kernel void k(device uint *x, uint n [[dispatch_simdgroups_per_threadgroup]]) { x[0] = n; }
             kernel void l(device uint *x) { x[0] = 1; }",
        );
        let library = Library::parse(&file).unwrap();
        assert_eq!(library.header.version, [1, 2, 6]);
        assert!(library.functions().iter().all(|function| function.reflection.is_none()));
    }
}
