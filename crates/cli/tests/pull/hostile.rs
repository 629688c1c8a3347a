//! Servers that mean harm: each pull ends by itself, with an error, and leaves nothing behind.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use crate::server::{Received, Server, status};
use crate::{Machine, support::Run};

const MODEL: &str = "hf:user/repo/x.gguf";
/// Announced size of a file: its download may take days.
const LARGE: u64 = 4 << 30;
/// A second of patience, so that the tests are quick.
const IMPATIENT: &[(&str, &str)] = &[("HF_HUB_DOWNLOAD_TIMEOUT", "1")];

/// Writes until the client has enough.
fn endless(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let many = bytes.repeat((1 << 16) / bytes.len());
    loop {
        stream.write_all(&many)?;
    }
}

/// Writes a byte at a time, until the client has enough.
fn dripping(stream: &mut TcpStream, byte: u8) -> std::io::Result<()> {
    loop {
        stream.write_all(&[byte])?;
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Pulls from a server with such answers. No file is left.
fn pull(
    model: &str,
    answer: impl Fn(&Received, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> Run {
    pull_with(model, IMPATIENT, answer)
}

fn pull_with(
    model: &str,
    patience: &[(&str, &str)],
    answer: impl Fn(&Received, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> Run {
    let (machine, server) = (Machine::new(), Server::new(answer));
    let run = machine.run(&["pull", model], &server.address, patience);
    let complete: Vec<String> = machine.files().into_iter().filter(|name| !name.starts_with('.')).collect();
    assert!(complete.is_empty(), "{complete:?}");
    run
}

/// Answers with a text.
fn text(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len())
}

/// Answers with a list of files.
fn list(stream: &mut TcpStream, files: impl Iterator<Item = String>) -> std::io::Result<()> {
    let files: Vec<String> = files.map(|file| serde_json::json!({ "rfilename": file }).to_string()).collect();
    text(stream, &format!("{{\"sha\": \"abc\", \"siblings\": [{}]}}", files.join(",")))
}

#[test]
fn heads_without_end() {
    for part in ["X: ", "X: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n"] {
        pull(MODEL, move |_, stream| {
            if !part.starts_with("HTTP") {
                stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            }
            endless(stream, part.as_bytes())
        })
        .exits(2);
    }
}

#[test]
fn lists_without_end() {
    for (head, part) in [
        ("Connection: close", "{\"siblings\": [["),
        ("Content-Length: 18446744073709551615", "[[[["),
        // A chunk's extension, chunks, and what follows the last one.
        ("Transfer-Encoding: chunked", "a;"),
        ("Transfer-Encoding: chunked", "3\r\n[[[\r\n"),
        ("Transfer-Encoding: chunked", "0\r\nX: y\r\n"),
    ] {
        let run = pull("user/repo", move |_, stream| {
            write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n")?;
            endless(stream, part.as_bytes())
        });
        assert_ne!(run.exits(2).stderr, "", "{head}, {part}");
    }
}

#[test]
fn answers_that_drip() {
    let slow = |_: &Received, stream: &mut TcpStream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        dripping(stream, b' ')
    };
    pull("user/repo", slow).exits(2).says("timeout");
    pull(MODEL, |request, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n")?;
        if request.method == "HEAD" { Ok(()) } else { dripping(stream, b'G') }
    })
    .exits(2)
    .says("the server is too slow");
    pull(MODEL, |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
        dripping(stream, b'y')
    })
    .exits(2)
    .says("the server does not answer");
}

/// The file is large, so that its download has much time.
#[test]
fn trailers_without_end() {
    type Trailers = fn(&mut TcpStream) -> std::io::Result<()>;
    let trailers: [(&str, Trailers); 3] = [
        ("without data", |stream| endless(stream, b"X-Trailer: more\r\n")),
        ("without data", |stream| dripping(stream, b'x')),
        ("stalled", |stream| endless(stream, b"x")),
    ];
    for (message, trailers) in trailers {
        let run = pull(MODEL, move |request, stream| {
            if request.method == "HEAD" {
                return write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\nConnection: close\r\n\r\n");
            }
            write!(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n")?;
            trailers(stream)
        });
        run.exits(2).says(message);
    }
}

/// One byte for each connection would take years.
#[test]
fn connections_that_give_a_byte_each() {
    pull(MODEL, |request, stream| {
        let (start, size) = (request.start(), 1_000_000);
        let range = format!("Content-Range: bytes {start}-{}/{size}\r\n", size - 1);
        let head = if start > 0 { format!("206 Partial Content\r\n{range}") } else { "200 OK\r\n".to_owned() };
        write!(
            stream,
            "HTTP/1.1 {head}ETag: \"1\"\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            size - start
        )?;
        if request.method == "HEAD" { Ok(()) } else { stream.write_all(b"G") }
    })
    .exits(2)
    .says("the connection broke");
}

#[test]
fn redirects_that_lead_astray() {
    for location in [
        "file:///etc/passwd",
        "ftp://hub/x",
        "gopher://127.0.0.1/",
        "javascript:x",
        "http://",
        "http://[::1",
        "\\\\host\\x",
        "x y",
        "",
    ] {
        let run = pull(MODEL, move |_, stream| status(stream, "302 Found", &format!("Location: {location}\r\n")));
        run.exits(2).says("the server redirects to '");
    }
    pull(MODEL, |_, stream| status(stream, "302 Found", "")).exits(2).says("the server redirects to no address");
    // A loop of many addresses.
    let run = pull(MODEL, |request, stream| {
        status(stream, "307 Temporary Redirect", &format!("Location: {}x\r\n", request.path))
    });
    run.exits(2).says("the server redirects without end");
}

#[test]
fn lengths_that_contradict() {
    for head in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: -5",
        "Content-Length: 99999999999999999999999",
        "Content-Length: 0x5",
        "Transfer-Encoding: chunked, chunked",
        "Content-Encoding: gzip\r\nContent-Length: 5",
    ] {
        let run = pull("user/repo", move |_, stream| {
            write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n\x1f\u{b}\x08\r\n")
        });
        assert_ne!(run.exits(2).stderr, "", "{head}");
    }
}

#[test]
fn names_that_are_paths_or_escapes() {
    let names =
        ["../x.gguf", "/etc/x.gguf", "a/../../x.gguf", "a\\x.gguf", "-o.gguf", ".x.gguf", "\u{1b}[2Jx.gguf"];
    let longer =
        ["a\u{202e}.gguf", "x.gguf/..", "~/x.gguf", "C:x.gguf", "x\u{0}.gguf", "%2e%2e/x.gguf", "//x.gguf"];
    let names: Vec<String> = names.iter().chain(&longer).map(|name| name.to_string()).collect();
    let run = pull("user/repo", move |_, stream| list(stream, names.clone().into_iter()));
    run.exits(1).says("has neither GGUF files");
    for wrong in
        ["{\"sha\": \"../..\", \"siblings\": []}", "{\"sha\": \"\\u001b[2J\", \"siblings\": \"\\u001b[2J\"}"]
    {
        let run = pull("user/repo", move |_, stream| text(stream, wrong)).exits(2).says("is not a list of files");
        assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    }
}

#[test]
fn lists_that_are_huge() {
    let many = |name: fn(u32) -> String| {
        // The server takes its time to write it.
        pull_with("user/repo", &[], move |_, stream| {
            list(stream, (0..200_000).map(name).chain(["config.json".into()]))
        })
    };
    many(|number| format!("model-{number}.safetensors")).exits(2).says("200001 files: at most 500 make a model");
    many(|number| format!("{number}.txt")).exits(1).says("has neither GGUF files");
    let run = pull("user/repo", |_, stream| list(stream, ["x-00001-of-65535.gguf".into()].into_iter()));
    run.exits(2).says("65535 files: at most 500 make a model");
    let deep = |_: &Received, stream: &mut TcpStream| text(stream, &"[".repeat(1 << 20));
    pull("user/repo", deep).exits(2).says("is not a list of files");
}

/// A name twice is one file.
#[test]
fn lists_that_repeat_a_name() {
    let server = Server::new(|request, stream| match request.path.contains("/api/") {
        true => list(stream, ["config.json", "model.safetensors", "config.json"].map(String::from).into_iter()),
        false => text(stream, "{}"),
    });
    let machine = Machine::new();
    machine.run(&["pull", "user/repo"], &server.address, &[]).exits(0);
    assert_eq!(machine.files(), ["config.json", "model.safetensors"]);
}
