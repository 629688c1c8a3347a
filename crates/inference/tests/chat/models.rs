//! Templates of real models, in downloaded files: `make tokenizer`.

#![allow(clippy::print_stdout, reason = "results of comparisons")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use metalworks_inference::chat::ChatTemplate;
use metalworks_inference::gguf::Gguf;
use metalworks_inference::tokenizer::{Tokenizer, Vocabulary};
use serde::Deserialize;

use crate::{Conversation, Rendered, compare, references};

/// Templates that render differently. This one concatenates with `|safe`, and Python's types then escape the text.
const KNOWN_DIFFERENCES: [&str; 1] = ["meetkai-functionary-medium-v3.1.jinja"];

fn corpus() -> PathBuf {
    let folder = std::env::var_os("METALWORKS_TOKENIZER_CORPUS");
    folder.expect("METALWORKS_TOKENIZER_CORPUS is set: run `make tokenizer`").into()
}

#[test]
#[ignore = "needs the model SmolLM2: make tokenizer"]
fn renders_the_template_of_smollm2_like_jinja() {
    let manifest = std::fs::read_to_string(corpus().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let file = Gguf::open(manifest["smollm2"].as_str().unwrap()).unwrap();
    let tokenizer = Tokenizer::new(&Vocabulary::from_metadata(file.metadata()).unwrap()).unwrap();
    let template = ChatTemplate::from_metadata(file.metadata(), &tokenizer).unwrap();
    let references = references();
    let conversations: Vec<Conversation> = references.conversations.into_iter().map(|(it,)| it).collect();
    let (count, differ) = compare(&template, &conversations, references.rendered["SmolLM2"].iter().map(|(it,)| it));
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(count >= 12, "only {count} conversations were rendered");
}

#[derive(Deserialize)]
struct TemplateCorpus {
    templates: BTreeMap<String, String>,
    rendered: BTreeMap<String, Vec<Rendered>>,
}

#[test]
#[ignore = "needs the templates of many models: make tokenizer"]
fn renders_templates_of_many_models_like_jinja() {
    let file = std::fs::read_to_string(corpus().join("chat.json")).unwrap();
    let TemplateCorpus { templates, rendered } = serde_json::from_str(&file).unwrap();
    let conversations: Vec<Conversation> = references().conversations.into_iter().map(|(it,)| it).collect();
    let mut wrong = Vec::new();
    let mut total = 0;
    for (name, text) in &templates {
        let template = match ChatTemplate::new(text, "<s>", "</s>") {
            Ok(template) => template,
            Err(error) => {
                println!("{name}: {error}");
                wrong.push(name);
                continue;
            }
        };
        let (count, differ) = compare(&template, &conversations, &rendered[name]);
        total += count;
        if !differ.is_empty() {
            println!("{name}: {} of {} differ", differ.len(), conversations.len());
            println!("    {}", differ.join("\n    "));
            wrong.push(name);
        }
    }
    println!("{} templates: {total} equal renderings; templates with differences: {wrong:?}", templates.len());
    assert!(total > 800);
    assert_eq!(wrong, KNOWN_DIFFERENCES);
}
