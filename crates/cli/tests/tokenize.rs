//! `metalworks tokenize`.

mod support;

use inference::gguf::{Builder, Strings};
use support::{Scratch, metalworks, metalworks_with_stdin};

/// A file with a few tokens: all letters that are used here, and `ab`.
fn model(scratch: &Scratch, template: Option<&str>) -> String {
    let tokens = ["<|end|>", "a", "b", "ab", "Ġ", "Ċ", "Ã", "<", "|", "e", "n", "d", ">"];
    let types: Vec<i32> = (0..tokens.len()).map(|id| if id == 0 { 3 } else { 1 }).collect();
    let mut builder = Builder::new()
        .key("general.architecture", "llama")
        .key("tokenizer.ggml.model", "gpt2")
        .key("tokenizer.ggml.pre", "gpt-2")
        .key("tokenizer.ggml.tokens", tokens.iter().collect::<Strings>())
        .key("tokenizer.ggml.token_type", types)
        .key("tokenizer.ggml.merges", ["a b"].iter().collect::<Strings>())
        .key("tokenizer.ggml.eos_token_id", 0u32)
        .key("tokenizer.ggml.bos_token_id", 0u32)
        .key("tokenizer.ggml.add_bos_token", true);
    if let Some(template) = template {
        builder = builder.key("tokenizer.chat_template", template);
    }
    scratch.file("model.gguf", builder.to_bytes(|_, _| Ok(())).unwrap())
}

#[test]
fn tokens_are_printed_in_every_form() {
    let scratch = Scratch::new();
    let model = model(&scratch, None);
    let run = metalworks(["tokenize", "-m", &model, "ab b"]).exits(0);
    assert_eq!(run.stdout, "id  piece\n 3  \"ab\"\n 4  \" \"\n 2  \"b\"\n3 tokens\n");
    assert_eq!(metalworks(["tokenize", "--model", &model, "--ids", "ab b"]).exits(0).stdout, "3 4 2\n");
    assert_eq!(metalworks_with_stdin(["tokenize", "-m", &model, "--ids"], b"a\nab").exits(0).stdout, "1 5 3\n");
    let json = metalworks(["tokenize", "-m", &model, "--json", "ab"]).exits(0).json();
    assert_eq!(json, serde_json::json!({"text": "ab", "ids": [3], "pieces": ["ab"]}));
    assert_eq!(metalworks(["tokenize", "-m", &model, "--add-special", "--ids", "a"]).exits(0).stdout, "0 1\n");
}

#[test]
fn special_tokens_are_parsed_on_request() {
    let scratch = Scratch::new();
    let model = model(&scratch, None);
    assert_eq!(metalworks(["tokenize", "-m", &model, "--ids", "<|end|>"]).exits(0).stdout, "7 8 9 10 11 8 12\n");
    assert_eq!(metalworks(["tokenize", "-m", &model, "--ids", "--special", "<|end|>"]).exits(0).stdout, "0\n");
}

#[test]
fn decodes_ids_to_text() {
    let scratch = Scratch::new();
    let model = model(&scratch, None);
    assert_eq!(metalworks(["tokenize", "-m", &model, "--decode", "3 4 2"]).exits(0).stdout, "ab b\n");
    assert_eq!(metalworks(["tokenize", "-m", &model, "--decode", "[3,0]"]).exits(0).stdout, "ab\n");
    assert_eq!(
        metalworks(["tokenize", "-m", &model, "--decode", "--special", "3 0"]).exits(0).stdout,
        "ab<|end|>\n"
    );
    metalworks(["tokenize", "-m", &model, "--decode", "3 x"]).exits(1).says("\"x\" is not a token ID");
    metalworks(["tokenize", "-m", &model, "--decode", "13"]).exits(1).says("there is no token 13, only 0 to 12");
}

#[test]
fn applies_the_chat_template() {
    let scratch = Scratch::new();
    let template = "{{ messages[0].content }}<|end|>{% if add_generation_prompt %}a{% endif %}";
    let run = metalworks(["tokenize", "-m", &model(&scratch, Some(template)), "--chat", "--ids", "ab"]).exits(0);
    assert_eq!(run.stdout, "3 0 1\n");
    metalworks(["tokenize", "-m", &model(&scratch, None), "--chat", "ab"]).exits(1).says("no chat template");
}

#[test]
fn reports_wrong_models_and_tokens() {
    let scratch = Scratch::new();
    let run = metalworks(["tokenize", "-m", &model(&scratch, None), "--ids", "aba1"]).exits(0);
    assert_eq!(run.stdout, "3 1\n");
    run.says("the model has no tokens for 1 byte of the text");
    metalworks(["tokenize", "-m", "no-such-file.gguf", "a"]).exits(2).says("no-such-file.gguf");
    let empty = Builder::new().key("general.architecture", "llama").to_bytes(|_, _| Ok(())).unwrap();
    let empty = scratch.file("empty.gguf", empty);
    metalworks(["tokenize", "-m", &empty, "a"]).exits(1).says("tokenizer.ggml.model");
}
