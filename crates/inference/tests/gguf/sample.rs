//! Sample file with every value type, and files assembled byte by byte.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use metalworks_inference::gguf::{Array, Builder, Strings, Value};
use metalworks_inference::weights::{FileError, TensorType};

/// Builds a file with a key of every type and tensors of several types.
pub(crate) fn builder() -> Builder {
    let nested = Array::Array(vec![
        Array::I32(vec![1, -2]),
        Array::String(["a", ""].into_iter().collect()),
        Array::Array(vec![Array::U8(vec![])]),
    ]);
    Builder::new()
        .key("general.architecture", "llama")
        .key("general.name", "Probe £")
        .key("t.u8", 200u8)
        .key("t.i8", -100i8)
        .key("t.u16", 60_000u16)
        .key("t.i16", -30_000i16)
        .key("t.u32", 4_000_000_000u32)
        .key("t.i32", -2_000_000_000i32)
        .key("t.u64", u64::MAX)
        .key("t.i64", i64::MIN)
        .key("t.f32", 1.5f32)
        .key("t.f64", -0.1f64)
        .key("t.bool", true)
        .key("a.u8", vec![1u8, 2, 3])
        .key("a.i16", vec![-1i16, 2])
        .key("a.f32", vec![0.5f32, f32::INFINITY])
        .key("a.bool", vec![true, false])
        .key("a.none", Vec::<u32>::new())
        .key("a.string", ["<s>", "", "ĠÄ"].into_iter().collect::<Strings>())
        .key("a.bytes", [&b"\xff\xfe"[..], b"x"].into_iter().collect::<Strings>())
        .key("a.array", Value::Array(nested))
        .tensor("token_embd.weight", TensorType::Q8_0, &[64, 3])
        .tensor("norm", TensorType::F32, &[5])
        .tensor("experts", TensorType::IQ2_XS, &[256, 2, 2])
        .tensor("one", TensorType::F16, &[])
        .tensor("none", TensorType::BF16, &[8, 0])
}

/// Returns the sample file. Every byte of a tensor is its index plus one.
pub(crate) fn bytes() -> Vec<u8> {
    filled(&builder(), &[204, 20, 296, 2, 0])
}

/// Returns a file whose tensors have these sizes in bytes.
pub(crate) fn filled(builder: &Builder, sizes: &[usize]) -> Vec<u8> {
    builder.to_bytes(|index, out| out.write_all(&vec![index as u8 + 1; sizes[index]])).expect("the sizes are right")
}

/// File assembled value by value.
pub(crate) struct Raw(pub(crate) Vec<u8>);

impl Raw {
    pub(crate) fn new(tensors: u64, keys: u64) -> Raw {
        Raw(b"GGUF".to_vec()).u32(3).u64(tensors).u64(keys)
    }

    pub(crate) fn u32(mut self, value: u32) -> Raw {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Raw {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Raw {
        self.0.extend(bytes);
        self
    }

    pub(crate) fn text(self, text: &str) -> Raw {
        self.u64(text.len() as u64).bytes(text.as_bytes())
    }

    /// Appends an entry of the tensor table.
    pub(crate) fn tensor(self, name: &str, dimensions: &[u64], kind: u32, offset: u64) -> Raw {
        let raw = self.text(name).u32(dimensions.len() as u32);
        dimensions.iter().fold(raw, |raw, &dimension| raw.u64(dimension)).u32(kind).u64(offset)
    }

    /// Returns the error of opening the file.
    #[track_caller]
    pub(crate) fn error(self) -> FileError {
        metalworks_inference::gguf::Gguf::from_bytes(self.0).expect_err("the file is invalid")
    }
}

/// Temporary folder of one test, removed on drop.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("gguf-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a scratch folder can be created");
        Scratch(path)
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a scratch file can be written");
        path
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
