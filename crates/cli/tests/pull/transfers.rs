//! Downloads that break, are redirected, refused or wrong.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::server::{HubFile, Received, Server, answer, status};
use crate::{Machine, tiny_model};

const MODEL: &str = "hf:user/repo/x.gguf";
const PATH: &str = "/user/repo/resolve/main/x.gguf";

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn model_file() -> HubFile {
    HubFile::new(PATH, tiny_model())
}

/// Sends half of a file, as if it were all.
fn send_half(stream: &mut TcpStream, file: &HubFile) -> std::io::Result<()> {
    write!(stream, "{}\r\n", file.head("200 OK", file.bytes.len()))?;
    stream.write_all(&file.bytes[..file.bytes.len() / 2])
}

#[test]
fn a_file_is_downloaded_once() {
    let file = HubFile { sha256: Some(hash(&tiny_model())), ..model_file() };
    let server = Server::of(vec![file]);
    let machine = Machine::new();
    let path = machine.file("x.gguf");
    assert_eq!(machine.pull_from(MODEL, &server).exits(0).stdout, format!("{path}\n"));
    assert_eq!(server.lines(), [format!("HEAD {PATH} 0"), format!("GET {PATH} 0")]);
    assert_eq!(machine.pull_from(MODEL, &server).exits(0).stdout, format!("{path} (already there)\n"));
    assert!(server.requests().is_empty());
    assert!(std::fs::read(path).expect("it is there") == tiny_model());
    assert_eq!(machine.files(), ["x.gguf"]);
}

#[test]
fn a_broken_connection_is_resumed() {
    let (file, gets) = (model_file(), AtomicUsize::new(0));
    let server = Server::new(move |request, stream| {
        match request.method == "GET" && gets.fetch_add(1, Ordering::Relaxed) == 0 {
            true => send_half(stream, &file),
            false => answer(request, stream, std::slice::from_ref(&file)),
        }
    });
    let machine = Machine::new();
    machine.pull_from(MODEL, &server).exits(0);
    let requests = server.requests();
    let half = tiny_model().len() / 2;
    assert_eq!((requests.len(), requests[2].start()), (3, half));
    assert_eq!(requests[2].header("if-range"), Some("\"1\""));
    assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == tiny_model());
}

/// A machine with half of the file, and a hub that can send all from now on: `after`.
fn interrupted(after: HubFile) -> (Machine, Server) {
    let before = HubFile { sha256: after.sha256.clone(), ..model_file() };
    let (gets, machine) = (AtomicUsize::new(0), Machine::new());
    let refuses = Arc::new(AtomicBool::new(true));
    let refusing = refuses.clone();
    let server = Server::new(move |request, stream| match refusing.load(Ordering::Relaxed) {
        true if request.method == "GET" && gets.fetch_add(1, Ordering::Relaxed) > 0 => {
            status(stream, "403 Forbidden", "")
        }
        true if request.method == "GET" => send_half(stream, &before),
        true => answer(request, stream, std::slice::from_ref(&before)),
        false => answer(request, stream, std::slice::from_ref(&after)),
    });
    machine.pull_from(MODEL, &server).exits(2).says("access denied");
    assert_eq!(machine.files(), [".x.gguf.note", ".x.gguf.part"]);
    refuses.store(false, Ordering::Relaxed);
    server.requests();
    (machine, server)
}

#[test]
fn another_process_resumes() {
    let (machine, server) = interrupted(model_file());
    let listed = machine.run(&["list"], &server.address, &[]).exits(0).stdout;
    assert!(listed.contains("hf:user/repo/x.gguf") && listed.contains("incomplete"), "{listed}");
    machine.pull_from(MODEL, &server).exits(0);
    assert_eq!(server.lines()[1], format!("GET {PATH} {}", tiny_model().len() / 2));
    assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == tiny_model());
    assert_eq!(machine.files(), ["x.gguf"]);
}

#[test]
fn a_file_that_changed_is_downloaded_from_its_beginning() {
    let mut bytes = tiny_model();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    // The server says so when it is asked for the rest.
    let (machine, server) = interrupted(HubFile { bytes: bytes.clone(), etag: Some("\"2\""), ..model_file() });
    machine.pull_from(MODEL, &server).exits(0);
    assert_eq!(server.requests()[1].header("if-range"), Some("\"1\""));
    assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == bytes);
    // Nothing tells whether it is the same file.
    let (machine, server) = interrupted(HubFile { bytes: [&bytes[..], &[0]].concat(), etag: None, ..model_file() });
    machine.pull_from(MODEL, &server).exits(0);
    assert_eq!(server.lines()[1], format!("GET {PATH} 0"));
}

#[test]
fn a_server_may_ignore_the_range() {
    let (file, gets) = (model_file(), AtomicUsize::new(0));
    let server = Server::new(move |request, stream| {
        if request.method == "GET" && gets.fetch_add(1, Ordering::Relaxed) == 0 {
            return send_half(stream, &file);
        }
        write!(stream, "{}\r\n", file.head("200 OK", file.bytes.len()))?;
        if request.method == "GET" { stream.write_all(&file.bytes) } else { Ok(()) }
    });
    let machine = Machine::new();
    machine.pull_from(MODEL, &server).exits(0);
    assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == tiny_model());
}

#[test]
fn the_token_does_not_follow_to_another_server() {
    let file = model_file();
    let storage = Server::of(vec![file.clone()]);
    let (elsewhere, size) = (storage.address.clone(), file.bytes.len());
    let hub = Server::new(move |request, stream| match request.path.strip_prefix("/old") {
        // To another path of the same server, and then to the storage.
        Some(path) => status(stream, "307 Temporary Redirect", &format!("Location: {path}\r\n")),
        None => {
            let hash = hash(&file.bytes);
            let headers =
                format!("Location: {elsewhere}{PATH}\r\nX-Linked-Size: {size}\r\nX-Linked-Etag: \"{hash}\"\r\n");
            status(stream, "302 Found", &headers)
        }
    });
    let machine = Machine::new();
    let old = format!("{}/old", hub.address);
    machine.run(&["pull", MODEL], &old, &[("HF_TOKEN", " secret ")]).exits(0);
    let (of_hub, of_storage) = (hub.requests(), storage.requests());
    let token = |request: &Received| request.header("authorization").map(str::to_owned);
    assert_eq!((of_hub.len(), of_storage.len()), (4, 1));
    assert!(of_hub.iter().all(|request| token(request).as_deref() == Some("Bearer secret")));
    assert_eq!(token(&of_storage[0]), None);
}

#[test]
fn the_token_of_the_file_is_used() {
    let server = Server::of(vec![model_file()]);
    let machine = Machine::new();
    machine.scratch.file("token", "from-file\n");
    machine.pull_from(MODEL, &server).exits(0);
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some("Bearer from-file")));
    let run = machine.run(&["pull", "hf:user/repo/y.gguf"], &server.address, &[("HF_TOKEN", "a b")]);
    run.exits(2).says("the token in HF_TOKEN has invalid characters");
}

#[test]
fn refusals_say_what_to_do() {
    let server = Server::new(|request, stream| match request.path.rsplit('/').next() {
        Some("private.gguf") => status(stream, "401 Unauthorized", "X-Error-Code: RepoNotFound\r\n"),
        Some("gated.gguf") => status(stream, "403 Forbidden", "X-Error-Code: GatedRepo\r\n"),
        Some("revision.gguf") => status(stream, "404 Not Found", "X-Error-Code: RevisionNotFound\r\n"),
        Some("loop.gguf") => status(stream, "302 Found", &format!("Location: {}\r\n", request.path)),
        Some("busy.gguf") => status(stream, "503 Service Unavailable", "Retry-After: 0\r\n"),
        _ => status(stream, "404 Not Found", ""),
    });
    let machine = Machine::new();
    let pull = |name: &str| machine.pull_from(&format!("hf:user/repo/{name}.gguf"), &server);
    pull("private").exits(2).says("or set HF_TOKEN to a Hugging Face token that has access (HTTP status 401)");
    pull("gated").exits(2).says("accept the conditions of the model on its web page, and set HF_TOKEN");
    pull("revision").exits(1).says("there is no such revision");
    pull("missing").exits(1).says("there is no such file: check the names");
    pull("loop").exits(2).says("the server redirects without end");
    server.requests();
    pull("busy").exits(2).says("the server has a problem: try again later (HTTP status 503)");
    assert_eq!(server.requests().len(), 5);
    machine.pull_from("user/nothing", &server).exits(1).says("there is no such file");
    // The token of this user has expired.
    let place = machine.scratch.file("token", "hf_old");
    pull("private").exits(2).says(&format!("check the names, and that the token in '{place}' is valid"));
    let run = machine.run(&["pull", "user/repo/private.gguf"], &server.address, &[("HF_TOKEN", "hf_old")]);
    run.exits(2).says("check the names, and that the token in HF_TOKEN is valid and has access");
    let run = machine.run(&["pull", MODEL], "ftp://hub", &[]);
    run.exits(2).says("'ftp://hub' is not an address: set HF_ENDPOINT");
    assert!(machine.files().is_empty());
}

#[test]
fn a_slow_server_has_time_and_a_silent_one_is_asked_again() {
    let (file, gets) = (model_file(), AtomicUsize::new(0));
    let server = Server::new(move |request, stream| {
        if request.method == "HEAD" || gets.fetch_add(1, Ordering::Relaxed) > 0 {
            return answer(request, stream, std::slice::from_ref(&file));
        }
        write!(stream, "{}\r\n", file.head("200 OK", file.bytes.len()))?;
        for piece in file.bytes[..file.bytes.len() / 2].chunks(file.bytes.len() / 8) {
            stream.write_all(piece)?;
            std::thread::sleep(Duration::from_millis(20));
        }
        // Neither more bytes nor an end.
        loop {
            std::thread::park();
        }
    });
    let machine = Machine::new();
    machine.run(&["pull", MODEL], &server.address, &[("HF_HUB_DOWNLOAD_TIMEOUT", "2")]).exits(0);
    // Nothing is received twice, also if a pause was too long for a busy machine.
    let requests = server.requests();
    assert!(requests.len() > 2 && requests[2..].iter().all(|request| request.start() > 0));
    assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == tiny_model());
}

#[test]
fn downloads_are_checked() {
    let server = Server::of(vec![
        HubFile { sha256: Some("0".repeat(64)), ..HubFile::new("/hash.gguf", tiny_model()) },
        HubFile::new("/page.gguf", b"<!DOCTYPE html>".to_vec()),
        HubFile::new("/cut.gguf", tiny_model()[..5000].to_vec()),
    ]);
    let machine = Machine::new();
    let pull = |name: &str| machine.pull_from(&format!("hf:user/repo/{name}"), &server);
    pull("hash.gguf").exits(2).says("its SHA-256 differs from the announced one; try again");
    pull("page.gguf").exits(2).says("seems to be a web page");
    pull("cut.gguf").exits(2).says("the file is truncated or corrupt");
    assert!(machine.files().is_empty());
}

#[test]
fn a_download_stops_at_the_size_that_was_announced() {
    let server = Server::new(|request, stream| match (request.method.as_str(), request.path.as_str()) {
        ("HEAD", _) => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n"),
        (_, PATH) => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\nConnection: close\r\n\r\n")?;
            stream.write_all(&[0; 1001])
        }
        _ => {
            write!(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(b"a\r\n0123456789\r\n")?;
            }
        }
    });
    let machine = Machine::new();
    for model in [MODEL, "hf:user/repo/endless.gguf"] {
        let run = machine.pull_from(model, &server).exits(2);
        run.says("the server sends more than the 1000 bytes that it announced");
    }
    assert!(machine.files().is_empty());
}

#[test]
fn announced_sizes_that_overflow_fit_no_disk() {
    let server = Server::new(|_, stream| {
        let size = u64::MAX / 3 * 2;
        write!(stream, "HTTP/1.1 200 OK\r\nX-Linked-Size: {size}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    });
    let machine = Machine::new();
    let run = machine.pull_from("hf:user/repo/x-00001-of-00002.gguf", &server).exits(2);
    run.says("not enough disk space for the model");
    assert!(machine.files().is_empty());
}

/// Others may write to a shared folder of models.
#[test]
fn links_and_pipes_under_our_names_are_refused() {
    let server = Server::of(vec![model_file()]);
    let machine = Machine::new();
    std::fs::create_dir_all(machine.file("")).expect("a folder can be made");
    let victim = machine.scratch.file("victim", "of the user");
    for name in [".x.gguf.lock", ".x.gguf.part", ".x.gguf.note"] {
        let path = machine.file(name);
        std::os::unix::fs::symlink(&victim, &path).expect("a link can be made");
        machine.pull_from(MODEL, &server).exits(2).says("cannot write");
        assert_eq!(std::fs::read_to_string(&victim).expect("it is there"), "of the user", "{name}");
        std::fs::remove_file(&path).expect("it is there");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("there is mkfifo");
        assert!(made.success());
        machine.pull_from(MODEL, &server).exits(2).says("it is not a regular file: remove it");
        std::fs::remove_file(&path).expect("it is there");
    }
    machine.pull_from(MODEL, &server).exits(0);
}

#[test]
fn two_processes_do_not_download_the_same_file() {
    let (asked, has_asked) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    let gates = Mutex::new((asked, goes));
    let file = model_file();
    let server = Server::new(move |request, stream| {
        if request.method == "GET" {
            let gates = gates.lock().expect("nobody panicked");
            let _ = gates.0.send(());
            let _ = gates.1.recv();
        }
        answer(request, stream, std::slice::from_ref(&file))
    });
    let machine = Machine::new();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| machine.pull_from(MODEL, &server));
        has_asked.recv().expect("the first one asks");
        machine.pull_from(MODEL, &server).exits(2).says("another process is downloading");
        machine.run(&["rm", MODEL], &server.address, &[]).exits(2).says("another process is downloading");
        go.send(()).expect("the server waits");
        first.join().expect("it does not panic").exits(0);
    });
    machine.run(&["rm", MODEL], &server.address, &[]).exits(0);
    assert!(machine.files().is_empty());
}

#[test]
fn proxies_are_used_unless_the_host_is_an_exception() {
    let file = model_file();
    let proxy = Server::new(move |request, stream| match request.method.as_str() {
        // A tunnel, with the hub at its other end.
        "CONNECT" => {
            write!(stream, "HTTP/1.1 200 Connection established\r\n\r\n")?;
            let inner = crate::server::read(stream)?.expect("there is a request");
            answer(&inner, stream, std::slice::from_ref(&file))
        }
        _ => answer(request, stream, std::slice::from_ref(&file)),
    });
    let machine = Machine::new();
    let run = |exceptions: &str| {
        let variables = [("http_proxy", proxy.address.as_str()), ("no_proxy", exceptions)];
        machine.run(&["pull", MODEL], "http://hub.invalid", &variables)
    };
    run("localhost, .invalid").exits(2).says("cannot connect: check the network");
    assert!(proxy.requests().is_empty());
    run("localhost,other.invalid").exits(0);
    assert!(proxy.requests().iter().all(|request| request.path.contains("hub.invalid")));
    assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == tiny_model());
}
