//! Compares the driver's reflection of a compiled kernel with the front end's reflection of its source.
//!
//! A difference means that the two compilers understand the kernel differently: a host that relies on the front end
//! would bind the wrong thing.

use msl::reflect::{Access, Argument, ArgumentKind, FieldInfo, Kernel, pointer_type};

/// An argument that the host binds, as the driver reports it.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportedBinding {
    /// Its name.
    pub name: String,
    /// The argument table that it is in.
    pub kind: ArgumentKind,
    /// The index in that table.
    pub index: u32,
    /// Reads or writes of the code.
    pub access: Access,
    /// True if the code uses it.
    pub is_used: bool,
    /// The type of an element; empty if unknown.
    pub element_type: String,
    /// Size of an element in bytes; 0 if unknown.
    pub element_size: u64,
    /// Alignment of an element; 0 if unknown.
    pub element_align: u64,
    /// The fields of a struct: name, type, offset. Their sizes are unknown.
    pub fields: Vec<(String, String, u64)>,
}

/// A kernel that a driver compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportedKernel {
    /// Its name.
    pub name: String,
    /// Its interface: the arguments that the host binds.
    pub bindings: Vec<ReportedBinding>,
    /// Indices of its function constants, set or not.
    pub function_constants: Vec<u32>,
    /// Bytes of threadgroup memory for its own variables.
    pub static_threadgroup_memory: u64,
}

impl ReportedKernel {
    /// Converts it to a front-end reflection. Drivers do not distinguish constant from device memory, nor references
    /// from pointers, and do not report positions, variables and source locations.
    pub fn to_kernel(&self) -> Kernel {
        let mut arguments: Vec<Argument> = self.bindings.iter().map(argument).collect();
        arguments.sort_by_key(|argument| (argument.kind as u8, argument.index));
        Kernel {
            name: self.name.clone(),
            arguments,
            builtins: Vec::new(),
            function_constants: self.function_constants.clone(),
            threadgroup_memory: Vec::new(),
            static_threadgroup_memory: self.static_threadgroup_memory,
            max_total_threads_per_threadgroup: None,
            file: String::new(),
            line: 0,
        }
    }

    /// Merges in the front end's reflection, which says more, such as the address space of arguments.
    pub fn in_words_of(&self, mut source: Kernel) -> Kernel {
        let is_there = |argument: &Argument| {
            let same = |binding: &ReportedBinding| (binding.kind, binding.index) == (argument.kind, argument.index);
            // A condition that the front end could not evaluate is decided now.
            argument.function_constant.is_none() || self.bindings.iter().any(same)
        };
        source.arguments.retain(is_there);
        for argument in &mut source.arguments {
            let same =
                |binding: &&ReportedBinding| (binding.kind, binding.index) == (argument.kind, argument.index);
            argument.is_used = self.bindings.iter().find(same).is_some_and(|binding| binding.is_used);
            argument.function_constant = None;
        }
        source.static_threadgroup_memory = self.static_threadgroup_memory;
        source
    }

    /// Lists the differences from the front end's reflection.
    pub fn differences(&self, source: &Kernel) -> Vec<String> {
        let mut found = Vec::new();
        for argument in &source.arguments {
            let what = describe(&argument.name, argument.kind, argument.index);
            let same =
                |binding: &&ReportedBinding| (binding.kind, binding.index) == (argument.kind, argument.index);
            match self.bindings.iter().find(same) {
                Some(binding) => compare(&what, argument, binding, &mut found),
                // A condition that the front end could not evaluate may be false, and drivers may omit unused
                // arguments.
                None if argument.function_constant.is_some() || !argument.is_used => {}
                None => found.push(format!("{what} is in the source, but not in the driver's reflection")),
            }
        }
        for binding in &self.bindings {
            let same = |argument: &&Argument| (argument.kind, argument.index) == (binding.kind, binding.index);
            if binding.is_used && !source.arguments.iter().any(|argument| same(&argument)) {
                let what = describe(&binding.name, binding.kind, binding.index);
                found.push(format!("{what} is in the driver's reflection, but not in the source"));
            }
        }
        found
    }
}

fn compare(what: &str, argument: &Argument, binding: &ReportedBinding, found: &mut Vec<String>) {
    if argument.name != binding.name {
        found.push(format!("{what} is called '{}' by the driver", binding.name));
    }
    // 0: unknown to one of them.
    let numbers = [
        ("an element of", "bytes", argument.element_size, binding.element_size),
        ("the alignment of", "bytes", argument.element_align, binding.element_align),
    ];
    for (of, unit, ours, theirs) in numbers {
        if ours != 0 && theirs != 0 && ours != theirs {
            found.push(format!("{of} {what} is {ours} {unit} by the source, and {theirs} by the driver"));
        }
    }
    // A driver may find that a writable argument is only read. The other way round, a hazard would be missed.
    if argument.access == Access::Read && binding.access != Access::Read {
        found.push(format!("{what} is only read by the source, and written by the driver"));
    }
    for field in &argument.fields {
        let same = |(name, ..): &&(String, String, u64)| *name == field.name;
        if let Some((name, _, offset)) = binding.fields.iter().find(same)
            && *offset != field.offset
        {
            let ours = field.offset;
            found.push(format!(
                "the field '{name}' of {what} is at {ours} by the source, and at {offset} by the driver"
            ));
        }
    }
}

fn describe(name: &str, kind: ArgumentKind, index: u32) -> String {
    let attribute = match kind {
        ArgumentKind::Buffer => "buffer",
        ArgumentKind::ThreadgroupMemory => "threadgroup",
        ArgumentKind::VisibleFunctionTable => "visible function table",
        ArgumentKind::Texture => "texture",
        ArgumentKind::Sampler => "sampler",
        ArgumentKind::Other => return format!("the argument '{name}'"),
    };
    format!("the argument '{name}' [[{attribute}({index})]]")
}

fn argument(binding: &ReportedBinding) -> Argument {
    let space = match binding.kind {
        ArgumentKind::Buffer => "device",
        ArgumentKind::ThreadgroupMemory => "threadgroup",
        ArgumentKind::VisibleFunctionTable
        | ArgumentKind::Texture
        | ArgumentKind::Sampler
        | ArgumentKind::Other => "",
    };
    let element = if binding.element_type.is_empty() { "void" } else { &binding.element_type };
    let field = |(name, ty, offset): &(String, String, u64)| FieldInfo {
        name: name.clone(),
        ty: ty.clone(),
        offset: *offset,
        size: 0,
        id: None,
    };
    Argument {
        name: binding.name.clone(),
        kind: binding.kind,
        index: binding.index,
        ty: match space {
            "" => element.to_owned(),
            space => pointer_type(element, space, binding.access, false),
        },
        address_space: space.into(),
        access: binding.access,
        element_type: element.to_owned(),
        element_size: binding.element_size,
        element_align: binding.element_align,
        is_reference: false,
        array_length: None,
        is_used: binding.is_used,
        fields: binding.fields.iter().map(field).collect(),
        function_constant: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        #include <metal_stdlib>
        using namespace metal;
        constant bool BIAS [[function_constant(0)]];
        struct Params { uint n; float4 scale; };
        kernel void k(device const half *x [[buffer(0)]], device float4 *y [[buffer(1)]],
                      constant Params &p [[buffer(2)]],
                      device const float *bias [[buffer(3), function_constant(BIAS)]],
                      threadgroup float *tile [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
            y[i] = x[i] * p.scale;
        }";

    /// The front end's reflection; without a value for the constant, its argument stays.
    fn source() -> Kernel {
        let compilation = msl::compile_source("k.metal", SOURCE, &msl::Options::default());
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        compilation.reflect().kernels.remove(0)
    }

    fn binding(name: &str, index: u32, access: Access, (size, align): (u64, u64)) -> ReportedBinding {
        ReportedBinding {
            name: name.into(),
            kind: ArgumentKind::Buffer,
            index,
            access,
            is_used: true,
            element_type: String::new(),
            element_size: size,
            element_align: align,
            fields: Vec::new(),
        }
    }

    /// A driver's reflection that agrees.
    fn reported() -> ReportedKernel {
        let tile = ReportedBinding {
            kind: ArgumentKind::ThreadgroupMemory,
            ..binding("tile", 0, Access::ReadWrite, (4, 4))
        };
        let fields = [("n", "uint", 0), ("scale", "float4", 16)];
        let params = ReportedBinding {
            element_type: "struct".into(),
            fields: fields.map(|(name, ty, offset)| (name.into(), ty.into(), offset)).into(),
            ..binding("p", 2, Access::Read, (32, 16))
        };
        ReportedKernel {
            name: "k".into(),
            // Not in source order.
            bindings: vec![
                tile,
                params,
                binding("x", 0, Access::Read, (2, 2)),
                binding("y", 1, Access::Write, (16, 16)),
            ],
            function_constants: vec![0],
            static_threadgroup_memory: 64,
        }
    }

    /// The single difference after a change.
    fn difference(change: impl FnOnce(&mut Vec<ReportedBinding>)) -> String {
        let mut reported = reported();
        change(&mut reported.bindings);
        let found = reported.differences(&source());
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn matching_reflections_have_no_difference() {
        assert_eq!(reported().differences(&source()), [""; 0]);
        let mut with_bias = reported();
        with_bias.bindings.push(binding("bias", 3, Access::Read, (4, 4)));
        assert_eq!(with_bias.differences(&source()), [""; 0]);
        // An argument that a constant disables may be reported.
        with_bias.bindings.push(ReportedBinding { is_used: false, ..binding("more", 4, Access::Read, (4, 4)) });
        assert_eq!(with_bias.differences(&source()), [""; 0]);
        let arguments = with_bias.to_kernel().arguments;
        let unused: Vec<&str> =
            arguments.iter().filter(|argument| !argument.is_used).map(|argument| argument.name.as_str()).collect();
        assert_eq!((arguments.len(), unused), (6, vec!["more"]));
        // Unknown properties are not compared, and narrower access is fine.
        let mut incomplete = reported();
        for binding in &mut incomplete.bindings {
            *binding = ReportedBinding { element_size: 0, element_align: 0, fields: Vec::new(), ..binding.clone() };
            binding.access = Access::Read;
        }
        assert_eq!(incomplete.differences(&source()), [""; 0]);
    }

    #[test]
    fn describes_differences() {
        assert_eq!(
            difference(|bindings| drop(bindings.remove(2))),
            "the argument 'x' [[buffer(0)]] is in the source, but not in the driver's reflection"
        );
        assert_eq!(
            difference(|bindings| bindings.push(binding("z", 9, Access::Read, (4, 4)))),
            "the argument 'z' [[buffer(9)]] is in the driver's reflection, but not in the source"
        );
        assert_eq!(
            difference(|bindings| bindings[2].name = "input".into()),
            "the argument 'x' [[buffer(0)]] is called 'input' by the driver"
        );
        assert_eq!(
            difference(|bindings| bindings[2].element_size = 4),
            "an element of the argument 'x' [[buffer(0)]] is 2 bytes by the source, and 4 by the driver"
        );
        assert_eq!(
            difference(|bindings| bindings[0].element_align = 16),
            "the alignment of the argument 'tile' [[threadgroup(0)]] is 4 bytes by the source, and 16 by the driver"
        );
        assert_eq!(
            difference(|bindings| bindings[2].access = Access::ReadWrite),
            "the argument 'x' [[buffer(0)]] is only read by the source, and written by the driver"
        );
        assert_eq!(
            difference(|bindings| bindings[1].fields[1].2 = 4),
            "the field 'scale' of the argument 'p' [[buffer(2)]] is at 16 by the source, and at 4 by the driver"
        );
    }

    #[test]
    fn arguments_of_another_kind_are_other_arguments() {
        let mut reported = reported();
        reported.bindings[0].kind = ArgumentKind::Texture;
        let found = reported.differences(&source());
        assert_eq!(
            found,
            [
                "the argument 'tile' [[threadgroup(0)]] is in the source, but not in the driver's reflection",
                "the argument 'tile' [[texture(0)]] is in the driver's reflection, but not in the source",
            ]
        );
    }

    #[test]
    fn front_end_adds_details() {
        let described = reported().in_words_of(source());
        let arguments = described.arguments.iter().map(|argument| argument.ty.as_str());
        assert_eq!(
            arguments.collect::<Vec<_>>(),
            ["const device half *", "device float4 *", "constant Params &", "threadgroup float *"]
        );
        assert_eq!(described.static_threadgroup_memory, 64);
        let mut with_bias = reported();
        with_bias.bindings.push(binding("bias", 3, Access::Read, (4, 4)));
        let described = with_bias.in_words_of(source());
        assert_eq!((described.arguments.len(), &described.arguments[3].function_constant), (5, &None));
        assert!(described.arguments.iter().all(|argument| argument.is_used));
    }

    #[test]
    fn driver_decides_which_arguments_are_used() {
        let mut reported = reported();
        reported.bindings[1].is_used = false;
        reported.bindings.remove(0);
        let described = reported.in_words_of(source());
        let uses = described.arguments.iter().map(|argument| (argument.name.as_str(), argument.is_used));
        assert_eq!(uses.collect::<Vec<_>>(), [("x", true), ("y", true), ("p", false), ("tile", false)]);
    }

    #[test]
    fn converted_reflection_has_what_the_host_needs() {
        let kernel = reported().to_kernel();
        let arguments = kernel.arguments.iter();
        let arguments: Vec<_> = arguments.map(|argument| (argument.ty.as_str(), argument.element_size)).collect();
        assert_eq!(
            arguments,
            [
                ("const device void *", 2),
                ("device void *", 16),
                ("const device struct *", 32),
                ("threadgroup void *", 4)
            ]
        );
        assert_eq!((kernel.name.as_str(), kernel.static_threadgroup_memory), ("k", 64));
        assert_eq!((kernel.function_constants.as_slice(), kernel.arguments[2].fields.len()), (&[0][..], 2));
        // It has the same arguments as the front end's, except the disabled one.
        assert_eq!(kernel.arguments.len() + 1, source().arguments.len());
    }
}
