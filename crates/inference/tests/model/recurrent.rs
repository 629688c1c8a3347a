//! Recurrent layers: a state cannot be cut as a KV cache can, and padding must not advance it. Logits are compared with
//! those of a fresh evaluation, token by token.

use crate::plan::{EXACT, random_tokens};
use crate::{assert_close, device, device_with};
use metalworks_inference::formats::Activation;
use metalworks_inference::gguf::{Builder, Gguf, Value};
use metalworks_inference::metal::{MetalDevice, Tuning};
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;

const VOCABULARY: usize = 384;

fn model(name: &str) -> Gguf {
    name.parse::<SyntheticModel>().expect("the name is valid").open().expect("the model is valid")
}

fn load(device: &MetalDevice, model: &Gguf, options: &PlanOptions) -> Plan {
    Plan::load(device, model, options, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Evaluates tokens one by one.
struct Steps(Plan);

impl Steps {
    fn new(model: &Gguf) -> Steps {
        Steps(load(device(), model, &PlanOptions { chunk: Some(1), ..EXACT }))
    }

    /// The logits after each token.
    fn logits(&mut self, tokens: &[u32]) -> Vec<Vec<f64>> {
        self.0.truncate(0);
        self.0.push(tokens).unwrap();
        let mut all = Vec::new();
        self.0.logits_of_pending(0, |_, logits| all.push(logits.iter().copied().map(f64::from).collect())).unwrap();
        all
    }
}

#[track_caller]
fn assert_logits(what: &str, plan: &mut Plan, steps: &mut Steps) {
    let tokens = plan.tokens().unwrap();
    let expected = steps.logits(&tokens);
    assert_close(what, &plan.logits().unwrap(), expected.last().unwrap(), 2e-5);
}

#[test]
fn chunks_with_padding_match_single_steps() {
    for name in ["qwen35-tiny:f32", "qwen35-equal-tiny:q8_0"] {
        let model = model(name);
        let mut steps = Steps::new(&model);
        let tokens = random_tokens(VOCABULARY, 45, 1);
        let expected = steps.logits(&tokens);
        let gpu = device_with(Tuning::apple(9));
        for device in [device(), &gpu] {
            let mut plan = load(device, &model, &EXACT);
            // Chunks of 8 with 6, 3 and 0 tokens of padding; of 32 with 1.
            for (first, end) in [(0, 2), (2, 7), (7, 38), (38, 39), (39, 45)] {
                plan.push(&tokens[first..end]).unwrap();
                let what = format!("{name}, tokens {first} to {end}");
                assert_close(&what, &plan.logits().unwrap(), &expected[end - 1], 2e-5);
            }
        }
    }
}

#[test]
fn a_sequence_can_be_cut_anywhere() {
    let model = model("qwen35-tiny:f32");
    let (mut steps, mut plan) = (Steps::new(&model), load(device(), &model, &EXACT));
    let prompt = random_tokens(VOCABULARY, 70, 2);
    plan.push(&prompt).unwrap();
    plan.generate(80, &mut Vec::new()).unwrap();
    assert_eq!(plan.len(), 150);
    // After the snapshots while decoding, after and before the last chunk of the prompt, and before all of them.
    for len in [149, 146, 120, 71, 70, 69, 65, 30, 1] {
        plan.truncate(len);
        assert_logits(&format!("cut to {len}"), &mut plan, &mut steps);
        plan.push(&random_tokens(VOCABULARY, 3, len as u64)).unwrap();
        assert_logits(&format!("continued from {len}"), &mut plan, &mut steps);
        plan.truncate(len);
    }
    // Several cuts before anything is evaluated.
    plan.resume(&prompt).unwrap();
    plan.generate(5, &mut Vec::new()).unwrap();
    plan.truncate(74);
    plan.truncate(71);
    plan.truncate(66);
    assert_logits("cut thrice", &mut plan, &mut steps);
}

#[test]
fn a_conversation_continues_after_another_answer() {
    let model = model("qwen35-tiny:f32");
    let (mut steps, mut plan) = (Steps::new(&model), load(device(), &model, &EXACT));
    let prompt = random_tokens(VOCABULARY, 60, 3);
    plan.push(&prompt).unwrap();
    plan.generate(9, &mut Vec::new()).unwrap();
    // The same prompt again, a prompt with another end, and one with another beginning.
    for same in [60, 57, 20, 0] {
        let other = random_tokens(VOCABULARY, 12, 4 + same as u64);
        let tokens: Vec<u32> = prompt[..same].iter().chain(&other).copied().collect();
        plan.resume(&tokens).unwrap();
        assert_logits(&format!("{same} common tokens"), &mut plan, &mut steps);
        plan.resume(&prompt).unwrap();
        assert_logits(&format!("the prompt after {same} common tokens"), &mut plan, &mut steps);
    }
    plan.forget_older_half().unwrap();
    assert_eq!(plan.tokens().unwrap(), &prompt[30..]);
    assert_logits("the newer half", &mut plan, &mut steps);
}

#[test]
fn decoding_is_the_same_in_half_precision_and_with_packed_products() {
    let model = model("qwen35-tiny:q8_0");
    let tokens = random_tokens(VOCABULARY, 40, 9);
    let mut steps = Steps::new(&model);
    let expected = steps.logits(&tokens);
    for (activation, packed, tolerance) in [(Activation::F16, false, 3e-2), (Activation::F32, true, 1e-1)] {
        let mut plan = load(device(), &model, &PlanOptions { activation, packed, ..EXACT });
        plan.push(&tokens[..35]).unwrap();
        assert_close(&format!("prompt, {activation}"), &plan.logits().unwrap(), &expected[34], tolerance);
        for position in 35..40 {
            plan.push(&tokens[position..=position]).unwrap();
            let what = format!("step {position}, {activation}, packed {packed}");
            assert_close(&what, &plan.logits().unwrap(), &expected[position], tolerance);
        }
    }
}

/// A model with one key changed.
fn with_key(model: &Gguf, key: &str, value: u32) -> Gguf {
    let metadata = model.metadata().iter();
    let mut builder = metadata.fold(Builder::new(), |builder, (key, value)| builder.key(key, value.clone()));
    builder = builder.key(&format!("qwen35.{key}"), Value::from(value));
    let weights = model.weights();
    for tensor in weights.tensors() {
        let ty = tensor.format().expect("supported").tensor_type();
        builder = builder.tensor(&tensor.name, ty, &tensor.dimensions);
    }
    let bytes = builder.to_bytes(|index, out| out.write_all(weights.data(&weights.tensors()[index])));
    Gguf::from_bytes(bytes.expect("memory can be written to")).expect("the copy is valid")
}

#[test]
fn sequences_have_their_own_states() {
    let model = model("qwen35-tiny:f32");
    let (mut steps, gpu) = (Steps::new(&model), device_with(Tuning::apple(9)));
    for device in [device(), &gpu] {
        let mut plan = load(device, &model, &PlanOptions { sequences: 3, ..EXACT });
        let order = [2, 0, 1];
        for (sequence, count) in [20, 1, 45].into_iter().enumerate() {
            plan.select(sequence).unwrap();
            plan.push(&random_tokens(VOCABULARY, count, 20 + sequence as u64)).unwrap();
        }
        let mut check = |plan: &mut Plan, what: &str| {
            for (logits, &sequence) in plan.logits_of_each(&order).unwrap().iter().zip(&order) {
                plan.select(sequence).unwrap();
                let expected = steps.logits(&plan.tokens().unwrap());
                assert_close(&format!("{what}, sequence {sequence}"), logits, expected.last().unwrap(), 2e-5);
            }
        };
        check(&mut plan, "prompts");
        plan.generate_each(&order, 70, &mut vec![Vec::new(); 3]).unwrap();
        assert_eq!(plan.lengths(), [90, 71, 115]);
        check(&mut plan, "after 70 steps");
        // Back to a snapshot while decoding, to the beginning, and to one of the prompt.
        for (sequence, len) in [(0, 88), (1, 40), (2, 50)] {
            plan.select(sequence).unwrap();
            plan.truncate(len);
        }
        check(&mut plan, "cut");
        // A single step of one sequence among those of all.
        plan.select(1).unwrap();
        plan.generate(3, &mut Vec::new()).unwrap();
        plan.generate_each(&order, 2, &mut vec![Vec::new(); 3]).unwrap();
        check(&mut plan, "after steps of one");
    }
}

#[test]
fn layers_that_predict_later_tokens_are_left_out() {
    let tiny = model("qwen35-tiny:f32");
    let tokens = random_tokens(VOCABULARY, 20, 11);
    // The last two of four layers.
    let drafts = with_key(&tiny, "nextn_predict_layers", 2);
    let mut plan = load(device(), &drafts, &EXACT);
    assert_eq!(plan.hyperparameters().layers.len(), 2);
    plan.push(&tokens).unwrap();
    assert_ne!(plan.logits().unwrap(), {
        let mut whole = load(device(), &tiny, &EXACT);
        whole.push(&tokens).unwrap();
        whole.logits().unwrap()
    });
    let all = with_key(&tiny, "nextn_predict_layers", 4);
    let error = Plan::load(device(), &all, &EXACT, |_| ()).expect_err("no layers are left").to_string();
    assert!(error.contains("4 of its 4 layers predict later tokens"), "{error}");
}

#[test]
fn refused_models_say_why() {
    let model = model("qwen35-tiny:f32");
    for (key, value, problem) in [
        ("ssm.conv_kernel", 3, "a convolution over 3 tokens is not supported, only 4"),
        ("ssm.group_count", 3, "4 recurrent value heads are not a multiple of 3 key heads"),
        ("ssm.inner_size", 128, "4 recurrent heads of 64 are 256 wide, not 128"),
        ("ssm.group_count", 4, "tensor 'blk.0.attn_qkv.weight' is 256×512"),
        ("full_attention_interval", 4, "there is no tensor 'blk.1.attn_qkv.weight'"),
    ] {
        let file = with_key(&model, key, value);
        let error = Plan::load(device(), &file, &EXACT, |_| ()).expect_err(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}
