use super::*;
use crate::gguf::{Builder, Gguf};

#[test]
fn a_file_that_was_truncated_is_an_error() {
    let path = std::env::temp_dir().join(format!("metalworks-truncated-{}.gguf", std::process::id()));
    let builder = Builder::new().tensor("weight", TensorType::F32, &[100_000]);
    let bytes = builder.to_bytes(|_, out| out.write_all(&[7; 400_000])).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let model = Gguf::open(&path).unwrap();
    let (weights, mut buffer) = (model.weights(), Vec::new());
    let tensor = weights.tensor("weight").unwrap();
    assert_eq!(weights.read(tensor, 8..12, &mut buffer).unwrap(), [7; 4]);
    File::options().write(true).open(&path).unwrap().set_len(bytes.len() as u64 / 2).unwrap();
    let error = weights.read(tensor, 0..400_000, &mut buffer).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains("was truncated while it was read: tensor 'weight'"), "{error}");
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let path = std::env::temp_dir().join(format!("metalworks-pipe-{}.gguf", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let error = Gguf::open(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.ends_with("is not a file"), "{error}");
}
