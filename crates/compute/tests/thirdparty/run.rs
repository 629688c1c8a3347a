//! One dispatch: arguments in the order of their indices, and a grid.

use crate::compare::Output;
use crate::corpus::Corpus;
use crate::numbers::Number;
use crate::tensor::Fields;
use bytemuck::Pod;
use metalworks_compute::{Buffer, ComputePipelineState, ConstantValue, Size};

/// Contents before and after every buffer. As numbers these are NaN, or far from the expected values.
const GUARD: u8 = 0xff;
/// Size of the guards: as much as kernels read of missing rows, without using it.
const GUARD_LEN: usize = 64 << 10;

/// A kernel and its arguments.
pub(crate) struct Run<'c> {
    corpus: &'c Corpus,
    kernel: String,
    pub(crate) pipeline: ComputePipelineState,
    arguments: Vec<Argument>,
    threadgroup_memory: Vec<usize>,
}

/// One argument.
enum Argument {
    Bytes(Vec<u8>),
    /// A buffer that the kernel must leave as it is.
    Input(Buffer, Vec<u8>),
    /// A buffer that it writes, with the length of its content.
    Output(Buffer, usize),
    /// An argument that is not there with these constants.
    Absent,
}

impl<'c> Run<'c> {
    pub(crate) fn new(corpus: &'c Corpus, file: &str, kernel: impl Into<String>) -> Run<'c> {
        Run::with_constants(corpus, file, kernel, &[])
    }

    pub(crate) fn with_constants(
        corpus: &'c Corpus,
        file: &str,
        kernel: impl Into<String>,
        constants: &[(u32, ConstantValue)],
    ) -> Run<'c> {
        let kernel = kernel.into();
        let pipeline = corpus.pipeline(file, &kernel, constants);
        Run { corpus, kernel, pipeline, arguments: Vec::new(), threadgroup_memory: Vec::new() }
    }

    /// The next argument is a copy of this value.
    pub(crate) fn value<T: Pod>(self, value: T) -> Run<'c> {
        self.values(&[value])
    }

    /// The next argument is a copy of these values.
    pub(crate) fn values<T: Pod>(mut self, values: &[T]) -> Run<'c> {
        self.arguments.push(Argument::Bytes(bytemuck::cast_slice(values).to_vec()));
        self
    }

    /// The next argument is a `bool`.
    pub(crate) fn flag(self, flag: bool) -> Run<'c> {
        self.value(u8::from(flag))
    }

    /// The next arguments are these sizes, a `size_t` each.
    pub(crate) fn sizes(self, sizes: &[usize]) -> Run<'c> {
        sizes.iter().fold(self, |run, size| run.value(*size as u64))
    }

    /// The next argument is an array of `size_t`.
    pub(crate) fn shape(self, shape: &[usize]) -> Run<'c> {
        self.values(&shape.iter().map(|extent| *extent as u64).collect::<Vec<_>>())
    }

    /// The next argument is a structure with these fields.
    pub(crate) fn structure(mut self, fields: &Fields) -> Run<'c> {
        let index = self.arguments.len() as u32;
        let argument = self.pipeline.reflection().arguments.iter().find(|argument| argument.index == index);
        let argument = argument.unwrap_or_else(|| panic!("{}: no argument {index}", self.kernel));
        let bytes = fields.encode(argument).unwrap_or_else(|problem| panic!("{}: {problem}", self.kernel));
        self.arguments.push(Argument::Bytes(bytes));
        self
    }

    /// The next argument is a buffer that is only read.
    pub(crate) fn input<T: Pod>(mut self, content: &[T]) -> Run<'c> {
        let content: &[u8] = bytemuck::cast_slice(content);
        self.arguments.push(Argument::Input(self.guarded(content), content.to_vec()));
        self
    }

    /// The next argument is a buffer that is read and written.
    pub(crate) fn in_out<T: Pod>(mut self, content: &[T]) -> Run<'c> {
        let content: &[u8] = bytemuck::cast_slice(content);
        self.arguments.push(Argument::Output(self.guarded(content), content.len()));
        self
    }

    /// The next argument is a buffer for `count` numbers; what is not written stays NaN.
    pub(crate) fn output<T: Pod>(self, count: usize) -> Run<'c> {
        self.in_out(&vec![GUARD; count * size_of::<T>()])
    }

    /// The next argument is the buffer of an earlier one.
    pub(crate) fn same_as(mut self, index: usize) -> Run<'c> {
        let Argument::Input(buffer, content) = &self.arguments[index] else {
            panic!("{}: argument {index} is no input", self.kernel);
        };
        self.arguments.push(Argument::Input(buffer.clone(), content.clone()));
        self
    }

    /// The next argument is not there with these constants, or the kernel has none of this index.
    pub(crate) fn absent(mut self) -> Run<'c> {
        self.arguments.push(Argument::Absent);
        self
    }

    /// The next threadgroup argument has this many bytes.
    pub(crate) fn threadgroup_memory(mut self, bytes: usize) -> Run<'c> {
        self.threadgroup_memory.push(bytes.next_multiple_of(16));
        self
    }

    fn guarded(&self, content: &[u8]) -> Buffer {
        let guard = vec![GUARD; GUARD_LEN];
        let bytes = [guard.as_slice(), content, guard.as_slice()].concat();
        self.corpus.device.new_buffer_with_bytes(&bytes).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs it in a grid of threadgroups.
    pub(crate) fn threadgroups(self, groups: (usize, usize, usize), threads: (usize, usize, usize)) -> Ran<'c> {
        let ran = self.dispatch(groups.into(), threads.into());
        let ran = ran.unwrap_or_else(|error| panic!("{error}"));
        ran.check_guards();
        ran
    }

    /// Runs it with a thread for each of `count` elements, in threadgroups that are as large as possible.
    pub(crate) fn linear(self, count: usize) -> Ran<'c> {
        let width = self.pipeline.max_total_threads_per_threadgroup().min(count);
        self.threadgroups((count.div_ceil(width), 1, 1), (width, 1, 1))
    }

    fn dispatch(self, groups: Size, threads: Size) -> metalworks_compute::Result<Ran<'c>> {
        let commands = self.corpus.queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder()?;
        encoder.set_compute_pipeline_state(&self.pipeline)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            match argument {
                Argument::Bytes(bytes) => {
                    encoder.set_bytes(index, bytes)?;
                }
                Argument::Input(buffer, _) | Argument::Output(buffer, _) => {
                    encoder.set_buffer(index, buffer, GUARD_LEN)?;
                }
                Argument::Absent => {}
            }
        }
        for (index, bytes) in self.threadgroup_memory.iter().enumerate() {
            encoder.set_threadgroup_memory_length(index, *bytes)?;
        }
        encoder.dispatch_threadgroups(groups, threads)?;
        encoder.end_encoding()?;
        commands.commit()?;
        commands.wait_until_completed()?;
        Ok(Ran { corpus: self.corpus, kernel: self.kernel, arguments: self.arguments })
    }
}

/// A kernel that has run.
pub(crate) struct Ran<'c> {
    corpus: &'c Corpus,
    kernel: String,
    arguments: Vec<Argument>,
}

impl<'c> Ran<'c> {
    /// The contents of the only buffer that it writes.
    pub(crate) fn output<T: Number>(&self) -> Output<'c, T> {
        let is_output = |argument: &&usize| matches!(self.arguments[**argument], Argument::Output(..));
        let indices: Vec<usize> = (0..self.arguments.len()).collect();
        let outputs: Vec<usize> = indices.iter().filter(is_output).copied().collect();
        assert_eq!(outputs.len(), 1, "{}: outputs", self.kernel);
        self.output_at(outputs[0])
    }

    /// The contents of the buffer at this index, for comparison.
    pub(crate) fn output_at<T: Number>(&self, index: usize) -> Output<'c, T> {
        Output { corpus: self.corpus, kernel: self.kernel.clone(), numbers: self.content(index) }
    }

    /// The raw contents of the buffer at this index.
    pub(crate) fn content<T: Pod>(&self, index: usize) -> Vec<T> {
        let Argument::Output(buffer, len) = &self.arguments[index] else {
            panic!("{}: argument {index} is no output", self.kernel);
        };
        buffer.read_at(GUARD_LEN, len / size_of::<T>()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Nothing outside of the outputs may have changed.
    fn check_guards(&self) {
        for (index, argument) in self.arguments.iter().enumerate() {
            let (buffer, len) = match argument {
                Argument::Input(buffer, content) => {
                    let now: Vec<u8> = buffer.read_at(GUARD_LEN, content.len()).expect("it has this length");
                    assert!(now == *content, "{}: the kernel wrote into its input {index}", self.kernel);
                    (buffer, content.len())
                }
                Argument::Output(buffer, len) => (buffer, *len),
                Argument::Bytes(_) | Argument::Absent => continue,
            };
            let bytes: Vec<u8> = buffer.read();
            let intact = |part: &[u8]| part.iter().all(|byte| *byte == GUARD);
            assert!(intact(&bytes[..GUARD_LEN]), "{}: the kernel wrote before buffer {index}", self.kernel);
            assert!(intact(&bytes[GUARD_LEN + len..]), "{}: the kernel wrote behind buffer {index}", self.kernel);
        }
    }
}
