//! A hub for one test: a server that records its requests, and fails in the ways that networks do.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Request of a client.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// First byte that is asked for.
    pub(crate) fn start(&self) -> usize {
        let range = self.header("range").and_then(|range| range.strip_prefix("bytes="));
        range.and_then(|range| range.trim_end_matches('-').parse().ok()).unwrap_or(0)
    }

    /// `GET /path 1000`
    pub(crate) fn line(&self) -> String {
        format!("{} {} {}", self.method, self.path, self.start())
    }
}

/// Answers one request. Called on a thread for each connection.
pub(crate) type Handler = dyn Fn(&Received, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub(crate) fn new(
        handler: impl Fn(&Received, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = format!("http://{}", listener.local_addr().expect("it has one"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, handler): (_, Arc<Handler>) = (requests.clone(), Arc::new(handler));
        // It ends with the test.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (log, handler) = (log.clone(), handler.clone());
                std::thread::spawn(move || {
                    let Ok(Some(request)) = read(&stream) else { return };
                    log.lock().expect("nobody panicked").push(request.clone());
                    let _ = handler(&request, &mut stream);
                });
            }
        });
        Server { address, requests }
    }

    /// A server of files that does everything right.
    pub(crate) fn of(files: Vec<HubFile>) -> Server {
        Server::new(move |request, stream| answer(request, stream, &files))
    }

    /// All requests since the last call.
    pub(crate) fn requests(&self) -> Vec<Received> {
        std::mem::take(&mut self.requests.lock().expect("nobody panicked"))
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().iter().map(Received::line).collect()
    }
}

/// File of a hub.
#[derive(Clone)]
pub(crate) struct HubFile {
    /// End of its path.
    pub(crate) path: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Checksum and size that are announced.
    pub(crate) sha256: Option<String>,
    pub(crate) etag: Option<&'static str>,
}

impl HubFile {
    pub(crate) fn new(path: &'static str, bytes: Vec<u8>) -> HubFile {
        HubFile { path, bytes, sha256: None, etag: Some("\"1\"") }
    }

    /// Head of an answer with these bytes and no others.
    pub(crate) fn head(&self, status: &str, length: usize) -> String {
        let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n");
        if let Some(etag) = self.etag {
            head += &format!("ETag: {etag}\r\n");
        }
        if let Some(hash) = &self.sha256 {
            head += &format!("X-Linked-Etag: \"{hash}\"\r\nX-Linked-Size: {}\r\n", self.bytes.len());
        }
        head
    }
}

/// Answers a request for one of the files.
pub(crate) fn answer(request: &Received, stream: &mut TcpStream, files: &[HubFile]) -> std::io::Result<()> {
    let Some(file) = files.iter().find(|file| request.path.ends_with(file.path)) else {
        return status(stream, "404 Not Found", "");
    };
    let changed = request.header("if-range").is_some_and(|etag| Some(etag) != file.etag);
    let start = if changed { 0 } else { request.start() };
    let Some(rest) = file.bytes.get(start..) else {
        return status(stream, "416 Range Not Satisfiable", "");
    };
    match start {
        0 => write!(stream, "{}\r\n", file.head("200 OK", rest.len()))?,
        start => {
            let of = file.bytes.len();
            let head = file.head("206 Partial Content", rest.len());
            write!(stream, "{head}Content-Range: bytes {start}-{}/{of}\r\n\r\n", of - 1)?;
        }
    }
    if request.method == "HEAD" { Ok(()) } else { stream.write_all(rest) }
}

/// Answers with a status and no body. `headers` ends with a line break, or is empty.
pub(crate) fn status(stream: &mut TcpStream, status: &str, headers: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n")
}

/// Reads the head of a request.
pub(crate) fn read(stream: &TcpStream) -> std::io::Result<Option<Received>> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let Some(line) = lines.next() else { return Ok(None) };
    let line = line?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Some(Received { method, path, headers }))
}
