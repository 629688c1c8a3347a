//! Tokenizers of folders, compared with the package `tokenizers`.

use crate::folder::{Folder, smallest};
use metalworks_inference::chat::{ChatTemplate, Message, RenderOptions};
use metalworks_inference::gguf::Gguf;
use metalworks_inference::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};
use serde_json::{Value as Json, json};

const SPECIAL: EncodeOptions = EncodeOptions { add_special: false, parse_special: true };
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A folder of the smallest model, without its tokenizer.
fn folder() -> Folder {
    let (config, tensors) = smallest();
    Folder::of(&config, &tensors)
}

fn tokenizer(model: &Gguf) -> Tokenizer {
    Tokenizer::new(&Vocabulary::from_metadata(model.metadata()).expect("the keys are valid")).expect("it is valid")
}

fn reference(text: &str) -> Json {
    serde_json::from_str(text).expect("the reference can be read")
}

fn texts() -> Vec<String> {
    let texts = reference(include_str!("../data/tokenizer/texts.json"));
    texts["texts"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|text| text[0].as_str().expect("a text").to_owned())
        .collect()
}

/// `tokenizer.json` of a byte-level vocabulary.
fn byte_level(reference: &Json, pre_tokenizer: &Json, pairs: bool) -> Json {
    let tokens = reference["tokens"].as_array().expect("tokens");
    let types = reference["types"].as_array().expect("types");
    let (mut vocabulary, mut added) = (serde_json::Map::new(), Vec::new());
    for (id, (token, kind)) in tokens.iter().zip(types).enumerate() {
        let text = token.as_str().expect("a text");
        match kind.as_u64() {
            Some(1) => drop(vocabulary.insert(text.to_owned(), json!(id))),
            kind => added.push(json!({ "id": id, "content": text, "special": kind == Some(3) })),
        }
    }
    let merges = reference["merges"].as_array().expect("merges").iter().map(|merge| {
        let (left, right) = merge.as_str().expect("a text").split_once(' ').expect("two tokens");
        if pairs { json!([left, right]) } else { merge.clone() }
    });
    json!({
        "added_tokens": added, "normalizer": null, "pre_tokenizer": pre_tokenizer,
        "decoder": { "type": "ByteLevel" },
        "model": { "type": "BPE", "vocab": vocabulary, "merges": merges.collect::<Vec<_>>() },
    })
}

#[test]
fn byte_level_tokenizers_encode_like_tokenizers() {
    let reference = reference(include_str!("../data/tokenizer/bpe.json"));
    let split = |expression: &str| json!({ "type": "Split", "pattern": { "Regex": expression }, "behavior": "Isolated", "invert": false });
    let bytes = |splits: bool| json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": splits });
    let cases = [
        ("gpt-2", bytes(true)),
        (
            "smollm",
            json!({ "type": "Sequence", "pretokenizers": [{ "type": "Digits", "individual_digits": true }, bytes(true)] }),
        ),
        ("llama-bpe", json!({ "type": "Sequence", "pretokenizers": [split(LLAMA3), bytes(false)] })),
        (
            "qwen2",
            json!({ "type": "Sequence", "pretokenizers": [split(&LLAMA3.replace("{1,3}", "")), bytes(false)] }),
        ),
    ];
    let folder = folder();
    for (pairs, (name, pre_tokenizer)) in [true, false].into_iter().cycle().zip(cases) {
        let mut file = byte_level(&reference, &pre_tokenizer, pairs);
        file["model"]["ignore_merges"] = json!(name == "llama-bpe");
        folder.file("tokenizer.json", file.to_string().as_bytes());
        let model = folder.open();
        assert_eq!(model.get::<&str>("tokenizer.ggml.pre"), Ok(name));
        let tokenizer = tokenizer(&model);
        let ids = reference["ids"][name].as_array().expect("ids");
        for (text, ids) in texts().iter().zip(ids) {
            let expected: Vec<u32> = serde_json::from_value(ids.clone()).expect("numbers");
            assert_eq!(tokenizer.encode(text, SPECIAL), expected, "{name}: {text:?}");
        }
    }
}

#[test]
fn sentencepiece_tokenizers_encode_like_tokenizers() {
    let reference = reference(include_str!("../data/folders/sentencepiece.json"));
    let folder = folder();
    let cases = reference["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let mut file = reference["tokenizer"].clone();
        file["normalizer"] = case["normalizer"].clone();
        file["pre_tokenizer"] = case["pre_tokenizer"].clone();
        folder.file("tokenizer.json", file.to_string().as_bytes());
        let tokenizer = tokenizer(&folder.open());
        let ids = case["ids"].as_array().expect("ids");
        for (text, ids) in texts().iter().zip(ids) {
            let expected: Vec<u32> = serde_json::from_value(ids.clone()).expect("numbers");
            assert_eq!(tokenizer.encode(text, SPECIAL), expected, "{}: {text:?}", case["name"]);
        }
    }
}

#[test]
fn special_tokens_and_templates_come_from_the_files_beside_it() {
    let reference = reference(include_str!("../data/tokenizer/bpe.json"));
    let folder = folder();
    let mut file = byte_level(&reference, &json!({ "type": "ByteLevel", "add_prefix_space": false }), true);
    let special = |text: &str| {
        let added = file["added_tokens"].as_array().expect("tokens");
        added.iter().find(|token| token["content"] == text).map(|token| token["id"].as_u64().expect("an id") as u32)
    };
    let (start, end) = (special("<|im_start|>").expect("a token"), special("<|im_end|>").expect("a token"));
    file["post_processor"] = json!({ "type": "TemplateProcessing", "single": [
        { "SpecialToken": { "id": "<|im_start|>", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } }] });
    folder.file("tokenizer.json", file.to_string().as_bytes());
    let config =
        json!({ "bos_token": "<|im_start|>", "eos_token": { "content": "<|im_end|>" }, "chat_template": "first" });
    folder.file("tokenizer_config.json", config.to_string().as_bytes());
    folder.file("generation_config.json", json!({ "eos_token_id": [end, 7] }).to_string().as_bytes());
    let model = folder.open();
    let tokenizer_of_model = tokenizer(&model);
    assert_eq!(
        (tokenizer_of_model.bos(), tokenizer_of_model.eos(), tokenizer_of_model.adds_bos()),
        (Some(start), Some(end), true)
    );
    assert!(tokenizer_of_model.ends_generation(end) && tokenizer_of_model.ends_generation(7));
    assert!(!tokenizer_of_model.ends_generation(8));
    // The model has more rows than the tokenizer tokens, or as many.
    assert_eq!(
        tokenizer_of_model.vocabulary_size(),
        reference["tokens"].as_array().expect("tokens").len().max(384)
    );
    let rendered = |folder: &Folder| {
        let model = folder.open();
        let template = ChatTemplate::from_metadata(model.metadata(), &tokenizer(&model)).expect("a template");
        template.render(&[Message::new("user", "x")], &RenderOptions::default()).expect("it renders")
    };
    assert_eq!(rendered(&folder), "first");
    folder.file("chat_template.json", json!({ "chat_template": "{{ bos_token }}second" }).to_string().as_bytes());
    assert_eq!(rendered(&folder), "<|im_start|>second");
    folder.file("chat_template.jinja", b"{{ messages[0].content }}");
    assert_eq!(rendered(&folder), "x");
}

#[test]
fn tokenizers_that_differ_are_errors_that_name_the_part() {
    let reference = reference(include_str!("../data/tokenizer/bpe.json"));
    let folder = folder();
    let valid = byte_level(&reference, &json!({ "type": "ByteLevel", "add_prefix_space": false }), true);
    let says = |change: &dyn Fn(&mut Json), message: &str| {
        let mut file = valid.clone();
        change(&mut file);
        folder.file("tokenizer.json", file.to_string().as_bytes());
        let error = folder.error().to_string();
        assert!(error.contains("tokenizer.json: ") && error.contains(message), "{error}");
    };
    says(&|file| file["model"]["type"] = json!("Unigram"), "the tokenizer is of the type 'Unigram': only BPE");
    says(&|file| file["normalizer"] = json!({ "type": "Lowercase" }), "the normalizer 'Lowercase'");
    says(&|file| file["pre_tokenizer"] = json!({ "type": "Whitespace" }), "has the step 'Whitespace'");
    says(&|file| file["pre_tokenizer"]["add_prefix_space"] = json!(true), "adds a space before texts");
    let split =
        |expression: &str| json!({ "type": "Split", "pattern": { "Regex": expression }, "behavior": "Isolated" });
    let sequence = |steps: Json| json!({ "type": "Sequence", "pretokenizers": steps });
    says(
        &|file| file["pre_tokenizer"] = sequence(json!([split("a+"), { "type": "ByteLevel", "use_regex": false }])),
        "the unknown expression 'a+'",
    );
    says(&|file| file["model"]["merges"][3] = json!(["a"]), "merge 3: expected two tokens, found an array of 1");
    says(&|file| file["model"]["merges"] = json!("x"), "key 'model.merges': expected an array");
    says(&|file| file["model"]["vocab"]["a"] = json!(1u64 << 40), "is far beyond the number of tokens");
    // It would be a vocabulary of two gigabytes.
    says(&|file| file["model"]["vocab"]["a"] = json!((1 << 24) - 1), "is far beyond the number of tokens");
    says(&|file| file["model"]["vocab"]["new"] = json!(5), "has the id of another");
    says(&|file| file["added_tokens"] = json!([{ "id": 1 }]), "expected objects with 'id' and 'content'");
    says(&|file| file["model"]["end_of_word_suffix"] = json!("</w>"), "key 'model.end_of_word_suffix'");
}
