//! The files that a name means, and models on the machine.

use crate::server::{HubFile, Server};
use crate::{Machine, tiny_model};

/// A list of files, as the hub gives it.
fn listing(files: &[&str]) -> Vec<u8> {
    let siblings: Vec<_> = files.iter().map(|file| serde_json::json!({"rfilename": file})).collect();
    serde_json::json!({"id": "user/repo", "sha": "c0ffee", "siblings": siblings}).to_string().into_bytes()
}

fn plain(path: &'static str, text: &str) -> HubFile {
    HubFile::new(path, text.as_bytes().to_vec())
}

#[test]
fn downloads_all_parts_of_a_model() {
    let names = ["/m-00001-of-00002.gguf", "/m-00002-of-00002.gguf"];
    let server = Server::of(names.map(|name| HubFile::new(name, tiny_model())).to_vec());
    let machine = Machine::new();
    machine.pull_from("hf:user/repo@v2/m-00001-of-00002.gguf", &server).exits(0);
    for name in names {
        let path = format!("{}/hf/user/repo@v2{name}", machine.models());
        assert!(std::fs::exists(path).expect("it can be looked for"));
    }
    assert!(server.lines().iter().all(|request| request.contains("/user/repo/resolve/v2/m-0000")));
}

#[test]
fn a_quantization_chooses_the_file_of_one_commit() {
    let files = ["README.md", "m-Q8_0.gguf", "m-Q4_K_M.gguf", "../../../evil-Q2_K.gguf"];
    let server = Server::of(vec![
        HubFile::new("/api/models/user/repo/revision/main", listing(&files)),
        HubFile::new("/user/repo/resolve/c0ffee/m-Q8_0.gguf", tiny_model()),
        HubFile::new("/user/repo/resolve/c0ffee/m-Q4_K_M.gguf", tiny_model()),
    ]);
    let machine = Machine::new();
    let path = format!("{}\n", machine.file("m-Q8_0.gguf"));
    assert_eq!(machine.pull_from("user/repo:q8_0", &server).exits(0).stdout, path);
    assert_eq!(machine.pull_from("user/repo", &server).exits(0).stdout, path.replace('\n', " (already there)\n"));
    let path = format!("{}\n", machine.file("m-Q4_K_M.gguf"));
    assert_eq!(machine.pull_from("hf:user/repo:Q4_K_M", &server).exits(0).stdout, path);
    let run = machine.pull_from("user/repo:Q2_K", &server).exits(1);
    run.says("has no GGUF file of quantization Q2_K; it has m-Q8_0.gguf, m-Q4_K_M.gguf").does_not_say("evil");
    // Commands for models find it.
    let info = |name: &str| machine.run(&["info", name], &server.address, &[]);
    assert!(info("user/repo:Q8_0").exits(0).stdout.contains("llama"));
    info("user/other").exits(2).says("there is no file 'user/other', and the model user/other is not downloaded");
}

#[test]
fn a_folder_is_complete_when_its_configuration_is_there() {
    let names =
        ["config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "tokenizer.json"];
    let mut files = vec![
        HubFile::new("/api/models/user/repo/revision/main", listing(&names)),
        plain("/c0ffee/config.json", "{}"),
        plain("/c0ffee/tokenizer.json", "{}"),
        plain("/c0ffee/model-00001-of-00002.safetensors", "one"),
    ];
    let machine = Machine::new();
    machine.pull_from("user/repo", &Server::of(files.clone())).exits(1).says("there is no such file");
    assert!(machine.files().is_empty());
    // The last shard is cut while it comes.
    let cut = HubFile { sha256: Some("0".repeat(64)), ..plain("/c0ffee/model-00002-of-00002.safetensors", "two") };
    files.push(cut);
    machine.pull_from("user/repo", &Server::of(files.clone())).exits(2).says("its SHA-256 differs");
    assert_eq!(machine.files(), ["model-00001-of-00002.safetensors", "tokenizer.json"]);
    let list = |server: &Server| machine.run(&["list", "--json"], &server.address, &[]).exits(0).json();
    files[4].sha256 = None;
    let server = Server::of(files);
    assert_eq!(list(&server)[0]["complete"], false);
    assert_eq!(
        machine.pull_from("user/repo", &server).exits(0).stdout,
        format!("{}\n", machine.file("").trim_end_matches('/'))
    );
    assert_eq!(machine.files(), names);
    let model = &list(&server)[0];
    assert_eq!((&model["name"], &model["format"]), (&"user/repo".into(), &"safetensors".into()));
    assert_eq!((&model["complete"], &model["bytes"]), (&true.into(), &10.into()));
    machine.run(&["rm", "user/repo"], &server.address, &[]).exits(0);
    assert!(machine.left().is_empty());
}

#[test]
fn models_are_listed_shown_and_removed() {
    let machine = Machine::new();
    let run = |arguments: &[&str]| machine.run(arguments, crate::UNREACHABLE, &[]);
    run(&["list"]).exits(0).says("there are no models");
    machine.scratch.file("models/hf/user/repo/m.gguf", "0123456789");
    machine.scratch.file("models/hf/user/repo/notes.txt", "kept");
    machine.scratch.file("models/own.gguf", vec![0; 2048]);
    let outside = machine.scratch.file("outside.gguf", "stays");
    std::os::unix::fs::symlink(machine.scratch.path(), format!("{}/link", machine.models())).expect("it is ours");
    let own = format!("{}/own.gguf", machine.models());
    let listed = run(&["list"]).exits(0).stdout;
    let lines: Vec<&str> = listed.lines().map(str::trim_end).collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines[1].starts_with(&own) && lines[1].ends_with("GGUF     2.0 KiB  just now"), "{listed}");
    assert!(lines[2].starts_with("hf:user/repo/m.gguf") && lines[2].contains("10 bytes"), "{listed}");
    let shown = run(&["show", "user/repo/m.gguf"]).exits(0).stdout;
    assert!(
        shown.starts_with(&format!("hf:user/repo/m.gguf\nGGUF, 10 bytes\n{}\n", machine.file("m.gguf"))),
        "{shown}"
    );
    assert_eq!(run(&["show", &own, "--json"]).exits(0).json()["bytes"], 2048);

    let near = run(&["info", "hf:user/repo/n.gguf"]).exits(2);
    near.says("run 'metalworks pull hf:user/repo/n.gguf'; did you mean 'hf:user/repo/m.gguf'?");
    run(&["run", "user/rebo", "-p", "x"]).exits(2).says("did you mean 'user/repo'?");
    run(&["rm", "hf:user/repo/n.gguf"])
        .exits(1)
        .says("there is no model")
        .says("did you mean 'hf:user/repo/m.gguf'?");
    run(&["rm", &outside]).exits(1).says("is not a model in the folder of models");
    run(&["rm", &format!("{}/link/outside.gguf", machine.models())]).exits(1).says("is not a model in the folder");
    run(&["rm", &format!("{}/../outside.gguf", machine.models())]).exits(1).says("is not a model in the folder");
    assert_eq!(run(&["rm", "hf:user/repo/m.gguf"]).exits(0).stdout, "hf:user/repo/m.gguf: removed 10 bytes\n");
    assert_eq!(machine.files(), ["notes.txt"]);
    run(&["rm", &own, "gone"]).exits(1).says("there is no model 'gone'");
    assert!(std::fs::exists(outside).expect("it can be looked for"));
    run(&["list"]).exits(0).says("there are no models");
}
