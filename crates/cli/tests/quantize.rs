//! `metalworks quantize`: every flag, and errors.

mod support;

use support::{Scratch, metalworks};

/// A folder with the model `llama-tiny` in it: its path, and those of other files.
fn model(format: &str) -> (Scratch, String, impl Fn(&str) -> String) {
    let scratch = Scratch::new();
    let folder = scratch.path();
    let path = move |name: &str| format!("{folder}/{name}");
    let input = path("in.gguf");
    metalworks(["synthesize", &format!("llama-tiny:{format}"), "-o", &input]).exits(0);
    (scratch, input, path)
}

#[test]
fn a_model_is_converted_with_the_mixture_of_its_type() {
    let (_scratch, input, path) = model("f16");
    let output = path("out.gguf");
    let run = metalworks(["quantize", &input, &output, "--to", "q4_0", "--threads", "2"]).exits(0);
    let start =
        format!("{output}: q4_0, 795.3 KiB (4.67 bits per weight), 16 of 21 tensors converted, from 2.6 MiB, in ");
    assert!(run.stdout.starts_with(&start), "{}", run.stdout);
    let text = metalworks(["info", &output, "--tensors", "--metadata"]).exits(0).stdout;
    assert!(text.contains("blk.1.ffn_down.weight     Q4_0  512×256"), "{text}");
    assert!(text.contains("output.weight             Q6_K  256×384"), "{text}");
    assert!(text.contains("\ngeneral.file_type = 2\n"), "{text}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let (_scratch, input, path) = model("f32");
    let output = path("out.gguf");
    let text = metalworks(["quantize", &input, &output, "--to", "q3_k_m", "--dry-run"]).exits(0).stdout;
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(lines.contains(&"blk.0.attn_v.weight 256×128 F32 Q5_K 22.0 KiB".to_owned()), "{text}");
    assert!(lines.contains(&"blk.0.attn_norm.weight 256 F32 F32 1.0 KiB".to_owned()), "{text}");
    assert!(text.ends_with("16 of 21 tensors converted, from 5.3 MiB; not written\n"), "{text}");
    assert!(!std::path::Path::new(&output).exists());
    let json = metalworks(["quantize", &input, &output, "--to", "q3_k_m", "--dry-run", "--json"]).exits(0).json();
    assert_eq!((&json["type"], &json["seconds"]), (&"q3_k_m".into(), &serde_json::Value::Null));
    assert_eq!(json["tensors"][4]["to"], "Q5_K");
}

#[test]
fn quantized_tensors_need_permission() {
    let (_scratch, input, path) = model("q8_0");
    let output = path("out.gguf");
    metalworks(["quantize", &input, &output, "--to", "q4_0"]).exits(1).says(
        "is Q8_0 already, and would be rounded a second time for Q4_0; take a model in F32, F16 or BF16, or allow",
    );
    metalworks(["quantize", &input, &output, "--to", "q4_0", "--allow-requantize"]).exits(0);
}

#[test]
fn wrong_arguments_are_refused() {
    let (_scratch, input, path) = model("f16");
    metalworks(["quantize", &input, &input, "--to", "q8_0"]).exits(2).says("is the input: choose another name");
    metalworks(["quantize", &input, "x", "--to", "q9"])
        .exits(2)
        .says("there is no file type 'q9'; there are f32, f16");
    metalworks(["quantize", &path("none.gguf"), "x", "--to", "q8_0"]).exits(2);
    metalworks(["quantize", &input, "no/such/x.gguf", "--to", "q8_0"])
        .exits(2)
        .says("cannot write 'no/such/x.gguf'");
    let text = path("text.gguf");
    std::fs::write(&text, "no model").expect("it can be written");
    metalworks(["quantize", &text, "x", "--to", "q8_0"]).exits(1);
    let help = metalworks(["quantize", "--help"]).exits(0).stdout;
    let error = metalworks(["quantize", &input, "x", "--to", "q9"]).exits(2).stderr;
    let types = error.lines().next().and_then(|line| line.split_once("there are ")).expect("they are told").1;
    assert!(types.split(", ").all(|name| help.contains(name)), "{types} in {help}");
}
