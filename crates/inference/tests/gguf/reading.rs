//! Round trips: files that the builder writes, read back.

use metalworks_inference::formats::Format;
use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::weights::{FileErrorKind, TensorType};

use crate::sample::{self, Scratch};

#[test]
fn reads_back_every_value_type() {
    for version in [2, 3] {
        let bytes = sample::filled(&sample::builder().version(version), &[204, 20, 296, 2, 0]);
        let model = Gguf::from_bytes(bytes).expect("the sample is valid");
        assert_eq!(model.version(), version);
        let again = model
            .metadata()
            .iter()
            .fold(Builder::new().version(version), |builder, (key, value)| builder.key(key, value.clone()));
        let again =
            Gguf::from_bytes(again.to_bytes(|_, _| Ok(())).expect("no tensors")).expect("the copy is valid");
        assert!(again.metadata().iter().eq(model.metadata().iter()));
        assert_eq!(again.metadata().len(), 21);
    }
}

/// Files of early 2024 have a tensor for each expert.
#[test]
fn experts_in_tensors_of_their_own_are_joined() {
    let file = |experts: &[usize], kind: TensorType| {
        let builder = Builder::new().key("general.architecture", "llama").tensor("one", TensorType::F32, &[1]);
        let name = |expert: &usize| format!("blk.3.ffn_up.{expert}.weight");
        let mut builder = experts
            .iter()
            .fold(builder, |builder, expert| builder.tensor(&name(expert), TensorType::Q8_0, &[64, 3]));
        builder = builder.tensor("blk.3.ffn_up.11.weight", kind, &[64, 3]);
        let fill = |index: usize| {
            vec![index as u8; if index == experts.len() + 1 && kind == TensorType::F16 { 384 } else { 204 }]
        };
        let bytes = builder.to_bytes(|index, out| match index {
            0 => out.write_all(&[9; 4]),
            _ => out.write_all(&fill(index)),
        });
        Gguf::from_bytes(bytes.expect("the sizes are right"))
    };
    // In the order of their numbers, not of the file, nor of their names.
    let order = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
    let model = file(&order, TensorType::Q8_0).expect("it is valid");
    let weights = model.weights();
    assert_eq!(
        weights.tensors().iter().map(|tensor| tensor.name.as_str()).collect::<Vec<_>>(),
        ["one", "blk.3.ffn_up_exps.weight"]
    );
    let all = weights.tensor("blk.3.ffn_up_exps.weight").expect("it is there");
    assert_eq!((all.shape().as_str(), all.kind, all.size()), ("64×3×12", TensorType::Q8_0, 12 * 204));
    let expected: Vec<u8> = (1..=11).rev().chain([12]).flat_map(|index| [index; 204]).collect();
    assert_eq!(weights.data(all), expected);
    assert_eq!(model.parameters(), 1 + 64 * 3 * 12);
    let error = file(&order[1..], TensorType::Q8_0).expect_err("one is missing").to_string();
    assert_eq!(error, "tensor 'blk.3.ffn_up_exps.weight': expert 10 is missing");
    let error = file(&order, TensorType::F16).expect_err("one differs").to_string();
    assert_eq!(error, "tensor 'blk.3.ffn_up_exps.weight': experts 0 and 11 differ in shape or type");
}

#[test]
fn reads_back_tensor_data() {
    let scratch = Scratch::new();
    let path = scratch.file("model.gguf", &sample::bytes());
    let model = Gguf::open(&path).expect("the sample is valid");
    let weights = model.weights();
    let expected =
        [("token_embd.weight", "64×3", 204), ("norm", "5", 20), ("experts", "256×2×2", 296), ("one", "1", 2)];
    for (index, (name, shape, size)) in expected.into_iter().enumerate() {
        let tensor = weights.tensor(name).expect("the tensor exists");
        assert_eq!((tensor.shape().as_str(), tensor.size()), (shape, size), "{name}");
        assert_eq!(weights.data(tensor), vec![index as u8 + 1; size as usize], "{name}");
        assert_eq!(weights.path(tensor), Some(path.as_path()));
        assert!(tensor.range.start.is_multiple_of(32));
    }
    let none = weights.tensor("none").expect("the tensor exists");
    assert_eq!((none.elements(), none.size(), weights.data(none)), (0, 0, &[][..]));
    assert_eq!(model.parameters(), 192 + 5 + 1024 + 1);
    assert_eq!(weights.files().len(), 1);
    let error = weights.tensor("nrom").expect_err("the name is misspelled");
    assert_eq!(error.kind(), FileErrorKind::MissingTensor);
    assert!(error.to_string().ends_with("model.gguf: there is no tensor 'nrom' among its 5"), "{error}");
}

#[test]
fn a_device_can_map_a_tensor() {
    let scratch = Scratch::new();
    let model = Gguf::open(scratch.file("model.gguf", &sample::bytes())).expect("the sample is valid");
    let tensor = model.weights().tensor("experts").expect("the tensor exists");
    let path = model.weights().path(tensor).expect("the model is a file");
    let device = compute::Device::system_default().expect("there is a device");
    let buffer = device.new_buffer_with_file(path, tensor.range.clone()).expect("the range is in the file");
    assert_eq!(buffer.len(), 296);
}

#[test]
fn rejects_types_without_kernels_on_use() {
    let model = Gguf::from_bytes(sample::bytes()).expect("the sample is valid");
    assert_eq!(model.weights().tensor("norm").expect("the tensor exists").format(), Ok(Format::F32));
    let experts = model.weights().tensor("experts").expect("the tensor exists");
    let error = experts.format().expect_err("no kernel reads IQ2_XS");
    assert_eq!(error.kind(), FileErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "tensor 'experts' is IQ2_XS, which no kernel reads; take a model in one of F32, F16, BF16, Q8_0, Q4_0, Q4_1, \
         Q5_0, Q5_1, IQ4_NL, MXFP4, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_XS"
    );
}

#[test]
fn reads_back_every_tensor_type() {
    for kind in TensorType::all() {
        let builder = Builder::new().tensor("x", kind, &[kind.block_len() * 2, 3]);
        let size = kind.block_size() * 6;
        let model = Gguf::from_bytes(sample::filled(&builder, &[size as usize])).expect("the file is valid");
        let tensor = model.weights().tensor("x").expect("the tensor exists");
        assert_eq!((tensor.kind, tensor.size()), (kind, size));
    }
    assert_eq!(TensorType::MXFP4.bits(), 4.25);
}

#[test]
fn aligns_tensors_by_the_key_of_the_file() {
    for alignment in [1u32, 8, 64, 4096] {
        let builder = Builder::new().key("general.alignment", alignment).tensor("a", TensorType::I8, &[3]).tensor(
            "b",
            TensorType::I8,
            &[5],
        );
        let model = Gguf::from_bytes(sample::filled(&builder, &[3, 5])).expect("the file is valid");
        let tensors = model.weights().tensors();
        assert!(tensors.iter().all(|tensor| tensor.range.start.is_multiple_of(alignment.into())));
        assert_eq!(model.weights().data(&tensors[1]), [2; 5]);
    }
}

#[test]
fn builder_rejects_wrong_sizes() {
    let builder = Builder::new().tensor("a", TensorType::F32, &[2]);
    let error = builder.to_bytes(|_, out| out.write_all(&[0; 7])).expect_err("a byte is missing");
    assert_eq!(error.to_string(), "tensor 'a': expected 8 bytes, 7 were written");
    let error = Builder::new().tensor("a", TensorType::Q4_0, &[33]).size().expect_err("a block has 32 elements");
    assert_eq!(error.to_string(), "tensor 'a': dimensions [33] are invalid for Q4_0");
}

#[test]
fn types_of_folders_are_not_written() {
    let error = Builder::new().tensor("x", TensorType::AFFINE8, &[32]).to_bytes(|_, _| Ok(())).unwrap_err();
    assert_eq!(error.to_string(), "tensor 'x': GGUF files have no AFFINE8");
}
