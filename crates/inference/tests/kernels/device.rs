//! The device that the tests run on.

use compute::{CommandQueue, ComputePipelineState, ConstantValue, Device, Library, Result};
use inference::metal::dispatch::{Encoding, Pipelines};
use inference::metal::library::KernelInfo;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

struct Running {
    device: Device,
    queue: CommandQueue,
    libraries: Mutex<HashMap<&'static str, Library>>,
    pipelines: Mutex<HashMap<String, ComputePipelineState>>,
}

fn running() -> &'static Running {
    static RUNNING: OnceLock<Running> = OnceLock::new();
    RUNNING.get_or_init(|| {
        let wanted = std::env::var("METALWORKS_DEVICE").unwrap_or_else(|_| "cpu".into());
        let device = match wanted.as_str() {
            "cpu" => Device::cpu().expect("there is a processor"),
            "metal" | "cuda" => panic!("METALWORKS_DEVICE={wanted}: there is no such back end yet"),
            _ => panic!("METALWORKS_DEVICE={wanted}: it is one of cpu, metal, cuda"),
        };
        let queue = device.new_command_queue();
        Running { device, queue, libraries: Mutex::default(), pipelines: Mutex::default() }
    })
}

/// The device.
pub(crate) fn device() -> &'static Device {
    &running().device
}

impl Pipelines for Running {
    fn pipeline(&self, kernel: &'static KernelInfo, values: &[ConstantValue]) -> Result<ComputePipelineState> {
        let key = format!("{} {values:?}", kernel.name);
        if let Some(pipeline) = self.pipelines.lock().unwrap().get(&key) {
            return Ok(pipeline.clone());
        }
        let shader = kernel.shader;
        let library = self.libraries.lock().unwrap().get(shader.name).cloned();
        let library = match library {
            Some(library) => library,
            None => {
                let library = self.device.new_library_with_source(shader.source, &Default::default())?;
                self.libraries.lock().unwrap().insert(shader.name, library.clone());
                library
            }
        };
        let function = library.new_function(kernel.name, &kernel.constant_values(values))?;
        let pipeline = self.device.new_compute_pipeline_state(&function)?;
        self.pipelines.lock().unwrap().insert(key, pipeline.clone());
        Ok(pipeline)
    }
}

/// Encodes operations and waits until they have run; gives the error of whichever step fails.
pub(crate) fn try_run(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) -> Result<()> {
    let running = running();
    let command_buffer = running.queue.new_command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    encode(&mut Encoding { pipelines: running, encoder: &mut encoder })?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()
}

/// Encodes operations and waits until they have run.
pub(crate) fn run(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) {
    if let Err(error) = try_run(encode) {
        panic!("{error}");
    }
}

/// The message of an operation that must be refused.
pub(crate) fn refused(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) -> String {
    try_run(encode).expect_err("it must be refused").to_string()
}
