//! Chat templates, compared with Jinja as the package `transformers` configures it.
//!
//! `scripts/tokenizer-reference.py` generates `tests/data/chat/rendered.json`.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use metalworks_inference::chat::{ChatError, ChatTemplate, Message, RenderOptions, TemplateLimits, Variable};
use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::tokenizer::{Tokenizer, Vocabulary};
use serde::Deserialize;
use serde::de::IgnoredAny;

mod models;

#[derive(Clone, Deserialize)]
struct Conversation {
    messages: Vec<Variable>,
    add_generation_prompt: bool,
    #[serde(flatten)]
    variables: BTreeMap<String, Variable>,
}

/// Jinja's result for a conversation.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rendered {
    Text(String),
    /// The template called `raise_exception`.
    Raised(String),
    /// Jinja failed. minijinja accepts some of these, such as a loop over an undefined value.
    Error(IgnoredAny),
}

#[derive(Deserialize)]
struct References {
    conversations: Vec<(Conversation,)>,
    rendered: BTreeMap<String, Vec<(Rendered,)>>,
}

fn references() -> References {
    serde_json::from_str(include_str!("../data/chat/rendered.json")).unwrap()
}

fn render(template: &ChatTemplate, conversation: &Conversation) -> Result<String, ChatError> {
    // 2025-03-04 05:06:07 UTC, as in the references.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_741_064_767);
    let options = RenderOptions {
        add_generation_prompt: conversation.add_generation_prompt,
        variables: conversation.variables.clone(),
        now: Some(now),
        ..RenderOptions::default()
    };
    template.render(&conversation.messages, &options)
}

/// Compares the renderings of one template. Returns the number of equal ones, and the differences.
fn compare<'r>(
    template: &ChatTemplate,
    conversations: &[Conversation],
    rendered: impl IntoIterator<Item = &'r Rendered>,
) -> (usize, Vec<String>) {
    let mut count = 0;
    let mut differ = Vec::new();
    for (number, (conversation, expected)) in conversations.iter().zip(rendered).enumerate() {
        match (render(template, conversation), expected) {
            (Ok(found), Rendered::Text(expected)) if found == *expected => count += 1,
            (Err(ChatError::Refused { problem, .. }), Rendered::Raised(expected)) if problem == *expected => {
                count += 1
            }
            (_, Rendered::Error(_)) => {}
            (found, Rendered::Text(expected) | Rendered::Raised(expected)) => {
                differ.push(format!("{number}: is\n{found:?}, expected\n{expected:?}"));
            }
        }
    }
    (count, differ)
}

#[test]
fn renders_templates_like_jinja() {
    let references = references();
    let conversations: Vec<Conversation> = references.conversations.into_iter().map(|(it,)| it).collect();
    let templates = [
        ("alternating.jinja", include_str!("../data/chat/alternating.jinja"), 8),
        ("chatml.jinja", include_str!("../data/chat/chatml.jinja"), 12),
        ("dated.jinja", include_str!("../data/chat/dated.jinja"), 12),
        ("thinking.jinja", include_str!("../data/chat/thinking.jinja"), 14),
    ];
    for (name, text, at_least) in templates {
        let template = ChatTemplate::new(text, "<s>", "</s>").unwrap();
        let rendered = &references.rendered[name];
        assert_eq!(rendered.len(), conversations.len());
        let (count, differ) = compare(&template, &conversations, rendered.iter().map(|(it,)| it));
        assert!(differ.is_empty(), "{name} {}", differ.join("\n"));
        assert!(count >= at_least, "{name}: only {count} conversations were rendered");
    }
}

fn one_message() -> Vec<Message> {
    vec![Message::new("user", "Hi")]
}

#[track_caller]
fn fails(template: &str, expected: &str) {
    let rendered =
        ChatTemplate::new(template, "", "").and_then(|it| it.render(&one_message(), &RenderOptions::default()));
    let error = rendered.expect_err("the template fails").to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

#[test]
fn errors_name_the_line() {
    fails("a\n{% if %}", "chat template failed: syntax error: unexpected end of block");
    fails("a\n{% if %}", "(line 2)");
    fails("a\n\n{{ raise_exception('no ' ~ messages[0].role) }}", "rejects these messages: no user (line 3)");
    fails("a\n{{ messages[0].content.nothing() }}", "(line 2)");
    fails("{{ nothing.more }}", "undefined value");
    fails("{{ strftime_now('%!') }}", "strftime_now(\"%!\")");
    fails("{% include 'other' %}", "other");
}

#[test]
fn limits_instructions_output_and_recursion() {
    fails("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "fuel");
    let long = vec![Message::new("user", "x".repeat(1 << 20))];
    let template = "{% for a in range(9999) %}{{ messages[0].content }}{% endfor %}";
    let error = ChatTemplate::new(template, "", "").unwrap().render(&long, &RenderOptions::default()).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
    // Deep nesting is an error, not a stack overflow.
    fails(&format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000)), "recursion");
    fails("{{ [][::-1] | list }}", "the template engine panicked");
    fails("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion");
}

/// Each of these once ended the process or took all memory.
#[test]
fn a_template_has_bounds_on_time_memory_and_depth() {
    // Deeper than any stack holds, whatever the size of its frames.
    let nested = |end: &str| {
        let inner = "{% for i in range(1000) %}{% set ns.x=[ns.x] %}{% endfor %}";
        format!("{{% set ns=namespace(x=[]) %}}{{% for i in range(1000) %}}{inner}{{% endfor %}}{end}")
    };
    for end in
        ["{{ ns.x }}", "{{ ns.x|tojson }}", "{{ ns.x == [ns.x] }}", "{{ ns.x|string }}", "{{ ns.x < [ns.x] }}"]
    {
        fails(&nested(end), "nested too deeply");
    }
    bounded(&nested(""));
    bounded(&format!("{{{{ {}x }}}}", "not ".repeat(100_000)));
    bounded(&format!("{{{{ x{} }}}}", "|string".repeat(100_000)));
    bounded(&format!("{{{{ {}1 }}}}", "-".repeat(100_000)));
    bounded(&format!("{{{{ x{} }}}}", ".x".repeat(100_000)));
    bounded(&format!("{{{{ 1{} }}}}", "+1".repeat(100_000)));
    bounded(&"{% if x %}".repeat(50_000));
    bounded(&format!("{}%}}", "{%".repeat(500_000)));

    let doubled = |step: &str| {
        let set = format!("{{% set ns.x = {step} %}}");
        format!(
            "{{% set ns=namespace(x='ab') %}}{{% for i in range(60) %}}{set}{{% endfor %}}{{{{ ns.x|length }}}}"
        )
    };
    for step in
        ["ns.x ~ ns.x", "ns.x + ns.x", "ns.x.replace('a', ns.x)", "[ns.x, ns.x]|join", "ns.x|replace('a', ns.x)"]
    {
        fails(&doubled(step), "of memory");
    }
    bounded("{{ 'x\ny'|indent(10**10) }}");
    bounded("{{ [1]|slice(10**11) }}");
    bounded("{{ 'x' * 10**12 }}");
    bounded("{{ '%99999999999d'|format(1) }}");
    bounded(&doubled("ns.x"));
    fails(&"x".repeat(60 << 20), "the limit is");
    fails("{{ [][::-1] }}{{ [][::-1]|list }}", "panicked");
}

/// Lists that share their elements print, compare and hash in exponential time.
#[test]
fn a_template_that_takes_too_long_ends() {
    let list = "{% set ns=namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set ns.x=[ns.x, ns.x] %}\
        {% set ns.y=[ns.y, ns.y] %}{% endfor %}";
    fails(&format!("{list}{{{{ ns.x == ns.y }}}}"), "seconds");
}

/// Renders a template, which may fail.
#[track_caller]
fn bounded(template: &str) {
    let rendered =
        ChatTemplate::new(template, "", "").and_then(|it| it.render(&one_message(), &RenderOptions::default()));
    match rendered {
        Ok(text) => assert!(text.len() <= 16 << 20),
        Err(ChatError::Template { problem, .. }) => assert!(!problem.is_empty() && !problem.contains("signal")),
        Err(other) => panic!("{other}"),
    }
}

/// A caller chooses the limits of a rendering.
#[test]
fn limits_can_be_lower() {
    let stopped = |text: &str, limits: TemplateLimits| {
        let template = ChatTemplate::new(text, "", "").unwrap();
        let messages = [Message::new("user", "a")];
        assert!(template.render(&messages, &RenderOptions::default()).is_ok(), "{text}");
        template.render(&messages, &RenderOptions { limits, ..RenderOptions::default() }).unwrap_err().to_string()
    };
    let default = TemplateLimits::default();
    let loops = "{% for i in range(1000) %}{% endfor %}";
    let error = stopped(loops, TemplateLimits { instructions: 1000, ..default });
    assert!(error.contains("fuel"), "{error}");
    let slow = "{% for i in range(99999) %}{% for j in range(9) %}{% endfor %}{% endfor %}";
    let error = stopped(slow, TemplateLimits { time: Duration::from_millis(5), ..default });
    assert!(error.contains("longer than 0.005 seconds"), "{error}");
    if cfg!(target_os = "linux") {
        let large = "{% set ns=namespace(x='ab') %}{% for i in range(24) %}{% set ns.x=ns.x ~ ns.x %}{% endfor %}";
        let error = stopped(large, TemplateLimits { memory: 16 << 20, ..default });
        assert!(error.contains("more than 16 MiB"), "{error}");
    }
}

#[test]
fn messages_of_errors_have_a_limit() {
    let template = "{{ raise_exception('x' * 100000) }}";
    let rendered = ChatTemplate::new(template, "", "").unwrap().render(&one_message(), &RenderOptions::default());
    assert!(rendered.unwrap_err().to_string().len() < 2000);
}

#[test]
fn rejects_an_empty_conversation() {
    let template = ChatTemplate::new("{{ messages }}", "", "").unwrap();
    let error = template.render(&[] as &[Message], &RenderOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "the model's chat template rejects these messages: the list is empty");
}

#[test]
fn strftime_now_defaults_to_the_system_clock() {
    let template = ChatTemplate::new("{{ strftime_now('%Y') }}", "", "").unwrap();
    let year: u32 = template.render(&one_message(), &RenderOptions::default()).unwrap().parse().unwrap();
    assert!(year >= 2025, "{year}");
}

#[test]
fn reads_the_template_of_a_model_file() {
    let tokens = vec!["<s>", "</s>", "a"];
    let file = |template: Option<&str>| {
        let builder = Builder::new().key("general.architecture", "llama");
        let builder = match template {
            Some(template) => builder.key("tokenizer.chat_template", template),
            None => builder,
        };
        Gguf::from_bytes(builder.to_bytes(|_, _| Ok(())).unwrap()).unwrap()
    };
    let vocabulary = Vocabulary {
        model: "gpt2",
        pre: Some("gpt-2"),
        tokens,
        token_types: vec![3, 3, 1],
        bos: Some(0),
        eos: Some(1),
        ..Vocabulary::default()
    };
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    let model = file(Some("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"));
    let template = ChatTemplate::from_metadata(model.metadata(), &tokenizer).unwrap();
    assert_eq!(template.render(&one_message(), &RenderOptions::default()).unwrap(), "<s>Hi</s>");

    let error = ChatTemplate::from_metadata(file(None).metadata(), &tokenizer).unwrap_err();
    assert_eq!(error, ChatError::NoTemplate);
    assert!(error.to_string().contains("--raw"), "{error}");
}
