//! Functions over lanes, compiled for this machine and called.

use super::element::Element;
use crate::ir::{Block, Builder, ModuleRef, Type, Value};
use crate::wave::groups::Permutation;
use crate::wave::lanes::{Mask, lanes_of};
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::module::Module;
use inkwell::targets::{InitializationConfig, Target};

/// The CPU features to compile for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    names: &'static str,
    permutation: Permutation,
}

/// The features that the emitters choose between, as far as this machine can run them.
#[cfg(target_arch = "x86_64")]
pub(super) fn targets() -> Vec<Features> {
    // Without F16C, half numbers are converted by functions of a runtime library that is not there.
    let mut targets = vec![Features { names: "+sse4.2,+avx,+f16c", permutation: Permutation::Memory }];
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        targets.push(Features { names: "+avx2,+fma,+f16c", permutation: Permutation::Avx2 });
    }
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
        let names = "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c";
        targets.push(Features { names, permutation: Permutation::Avx512 });
    }
    targets
}

/// The features that the emitters choose between: elsewhere there is one way.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn targets() -> Vec<Features> {
    vec![Features { names: "", permutation: Permutation::Memory }]
}

/// A function under test: its inputs, its outputs, memory for it, the mask.
type TestFunction = unsafe extern "C" fn(*const *const u8, *const *mut u8, *mut u8, u32);

/// A module that functions are added to, and then called.
pub(super) struct Machine<'ctx> {
    module: Module<'ctx>,
    features: Features,
    shapes: Vec<(Vec<Element>, Vec<Element>)>,
    engine: Option<ExecutionEngine<'ctx>>,
}

/// The inputs of a function: values by lane, a pointer to memory, the mask.
pub(super) struct Inputs<'a, 'm> {
    pub(super) b: &'a Builder<'m>,
    pub(super) values: Vec<Value<'m>>,
    pub(super) memory: Value<'m>,
    pub(super) mask: Mask<'m>,
}

impl<'ctx> Machine<'ctx> {
    pub(super) fn new(context: &'ctx Context, features: Features) -> Machine<'ctx> {
        Target::initialize_native(&InitializationConfig::default()).expect("the native target");
        Machine { module: context.create_module("test"), features, shapes: Vec::new(), engine: None }
    }

    /// Adds a function and returns its number.
    pub(super) fn add(
        &mut self,
        inputs: &[Element],
        outputs: &[Element],
        build: impl for<'m> FnOnce(&Inputs<'_, 'm>) -> Vec<Value<'m>>,
    ) -> usize {
        let module = ModuleRef::of(&self.module);
        let context = module.context();
        let (pointer, int) = (Type::pointer(context), Type::int(context, 32));
        let number = self.shapes.len();
        let ty = Type::void(context).function(&[pointer, pointer, pointer, int]);
        let function = module.add_function(&format!("f{number}"), ty);
        function.add_text_attribute("target-features", self.features.names);
        self.features.permutation.choose_for(function);
        let b = Builder::new(module);
        b.at_end(Block::append(function, "entry"));
        let parameters = function.parameters();
        let byte_offset = |index: usize| Type::int(context, 64).constant(8 * index as i64);
        let argument = |list, index: usize| b.load(pointer, b.offset(list, byte_offset(index)), 8);
        let values = inputs
            .iter()
            .enumerate()
            .map(|(index, element)| {
                let from = argument(parameters[0], index);
                if *element == Element::Bool {
                    let bytes = b.load(lanes_of(Type::int(context, 8)), from, 1);
                    return b.trunc(bytes, lanes_of(Type::int(context, 1)));
                }
                b.load(lanes_of(element.ty(context)), from, 1)
            })
            .collect();
        let mask = b.bitcast(parameters[3], lanes_of(Type::int(context, 1)));
        let results = build(&Inputs { b: &b, values, memory: parameters[2], mask });
        assert_eq!(results.len(), outputs.len());
        for (index, (&result, element)) in results.iter().zip(outputs).enumerate() {
            let mut value = result;
            if *element == Element::Bool {
                value = b.zext(value, lanes_of(Type::int(context, 8)));
            }
            assert_eq!(value.ty().length(), 32);
            b.store(value, argument(parameters[1], index), 1);
        }
        b.ret();
        self.shapes.push((inputs.to_vec(), outputs.to_vec()));
        number
    }

    /// Compiles what was added.
    pub(super) fn compile(&mut self) {
        self.module.verify().unwrap_or_else(|error| panic!("{}", error.to_string()));
        let engine = self.module.create_jit_execution_engine(OptimizationLevel::None).expect("an engine");
        self.engine = Some(engine);
    }

    /// Calls a function: the bits of the inputs by lane, to those of the outputs.
    pub(super) fn call(&self, number: usize, inputs: &[&[u64]], mask: u32) -> Vec<Vec<u64>> {
        self.call_with_memory(number, inputs, &mut [], mask)
    }

    pub(super) fn call_with_memory(
        &self,
        number: usize,
        inputs: &[&[u64]],
        memory: &mut [u8],
        mask: u32,
    ) -> Vec<Vec<u64>> {
        let (input_types, output_types) = &self.shapes[number];
        assert_eq!(inputs.len(), input_types.len());
        let inputs: Vec<Vec<u8>> = inputs
            .iter()
            .zip(input_types)
            .map(|(lanes, ty)| {
                assert_eq!(lanes.len(), 32);
                lanes.iter().flat_map(|bits| bits.to_le_bytes()[..ty.bytes()].to_vec()).collect()
            })
            .collect();
        let mut outputs: Vec<Vec<u8>> = output_types.iter().map(|ty| vec![0xee; 32 * ty.bytes()]).collect();
        let input_pointers: Vec<*const u8> = inputs.iter().map(|bytes| bytes.as_ptr()).collect();
        let output_pointers: Vec<*mut u8> = outputs.iter_mut().map(|bytes| bytes.as_mut_ptr()).collect();
        let engine = self.engine.as_ref().expect("compiled");
        let address = engine.get_function_address(&format!("f{number}")).expect("the function");
        // SAFETY: `add` gave the function this signature, and it reads and writes 32 elements of the given types.
        unsafe {
            let function: TestFunction = std::mem::transmute(address);
            function(input_pointers.as_ptr(), output_pointers.as_ptr(), memory.as_mut_ptr(), mask);
        }
        let number = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        outputs.iter().zip(output_types).map(|(bytes, ty)| bytes.chunks(ty.bytes()).map(number).collect()).collect()
    }
}
