//! A hub that gives scripted answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Between the answers of a script.
pub(crate) const SEPARATOR: &[u8] = b"\n%%\n";
/// Most bytes of a request: the client is ours.
const REQUEST: usize = 1 << 14;

/// Answers that are left, in reverse order.
static ANSWERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Sets the answers to the next requests. Later ones have none. Returns the server's address.
pub(crate) fn script(text: &[u8]) -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    let mut answers: Vec<Vec<u8>> = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.windows(SEPARATOR.len()).position(|part| part == SEPARATOR) {
        answers.push(rest[..end].to_vec());
        rest = &rest[end + SEPARATOR.len()..];
    }
    answers.push(rest.to_vec());
    answers.reverse();
    *ANSWERS.lock().expect("no thread panics with it") = answers;
    ADDRESS.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = format!("http://{}", listener.local_addr().expect("it has one"));
        // It ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that breaks off gets no answer.
                let _ = answer(stream);
            }
        });
        address
    })
}

/// Answers one request, and closes the connection.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    let (mut request, mut part) = (Vec::new(), [0; 2048]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST {
        match stream.read(&mut part)? {
            0 => return Ok(()),
            len => request.extend_from_slice(&part[..len]),
        }
    }
    let answer = ANSWERS.lock().expect("no thread panics with it").pop().unwrap_or_default();
    stream.write_all(&answer)?;
    stream.shutdown(Shutdown::Both)
}
