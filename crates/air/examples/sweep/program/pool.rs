//! Processes that compile one function at a time: one that dies did so on the function that it had.

use super::Outcome;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A function that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(120);

/// The start of the verdict on one that was given up.
pub(crate) const TOO_LONG: &str = "abort: not done after";

/// A process is replaced after this many functions, so that what LLVM leaks does not add up.
const FUNCTIONS_EACH: usize = 400;

/// Compiles all `names`; the outcomes come as they are known.
pub(crate) fn run(library: &str, jobs: usize, names: Vec<String>) -> Receiver<(String, Outcome)> {
    let (results, receiver) = channel();
    let queue = Arc::new(Mutex::new(names.into_iter()));
    for _ in 0..jobs {
        let (library, queue, results) = (library.to_string(), queue.clone(), results.clone());
        std::thread::spawn(move || drive(&library, || queue.lock().ok()?.next(), &results));
    }
    receiver
}

fn drive(library: &str, mut next: impl FnMut() -> Option<String>, results: &Sender<(String, Outcome)>) {
    let mut worker: Option<WorkerProcess> = None;
    while let Some(name) = next() {
        let outcome = match worker
            .take()
            .filter(|worker| worker.done < FUNCTIONS_EACH)
            .map_or_else(|| WorkerProcess::start(library), Ok)
        {
            Ok(mut alive) => match alive.compile(&name) {
                Ok(outcome) => {
                    worker = Some(alive);
                    outcome
                }
                Err(outcome) => outcome,
            },
            Err(verdict) => Outcome { verdict, milliseconds: 0, bytes: 0 },
        };
        if results.send((name, outcome)).is_err() {
            break;
        }
    }
}

struct WorkerProcess {
    process: Child,
    names: Option<ChildStdin>,
    answers: Receiver<String>,
    /// Its last message before it died.
    complaint: Arc<Mutex<String>>,
    done: usize,
}

impl WorkerProcess {
    fn start(library: &str) -> Result<WorkerProcess, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut process = Command::new(program)
            .args(["--worker", library])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start a process: {error}"))?;
        let (sender, answers) = channel();
        let names = process.stdin.take();
        if let Some(output) = process.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let complaint = Arc::new(Mutex::new(String::new()));
        if let Some(errors) = process.stderr.take() {
            let complaint = complaint.clone();
            std::thread::spawn(move || listen(errors, &complaint));
        }
        Ok(WorkerProcess { process, names, answers, complaint, done: 0 })
    }

    /// The outcome; the error is that of a process that is no more.
    fn compile(&mut self, name: &str) -> Result<Outcome, Outcome> {
        let start = Instant::now();
        self.done += 1;
        let sent = self.names.as_mut().is_some_and(|names| writeln!(names, "{name}").is_ok());
        let answer = if sent { self.answers.recv_timeout(LIMIT) } else { Err(RecvTimeoutError::Disconnected) };
        let milliseconds = start.elapsed().as_millis() as u64;
        let lost = |verdict: String| Outcome { verdict, milliseconds, bytes: 0 };
        match answer {
            Ok(line) => parse(&line).ok_or_else(|| lost(format!("an answer that makes no sense: {line}"))),
            Err(RecvTimeoutError::Timeout) => Err(lost(format!("{TOO_LONG} {} s", LIMIT.as_secs()))),
            Err(RecvTimeoutError::Disconnected) => {
                let status =
                    self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                // Its last output may still be on its way.
                std::thread::sleep(Duration::from_millis(50));
                let complaint = self.complaint.lock().map(|complaint| complaint.clone()).unwrap_or_default();
                Err(lost(format!("abort: {}", if complaint.is_empty() { status } else { complaint })))
            }
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // An idle process ends with its input; one that is stuck is killed.
        drop(self.names.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Keeps the first line that says what is wrong, or else the first line.
fn listen(errors: impl Read, complaint: &Mutex<String>) {
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        let line = line.trim().replace('\t', " ");
        if let Ok(mut complaint) = complaint.lock()
            && (complaint.is_empty() || (line.contains("ERROR") && !complaint.contains("ERROR")))
        {
            *complaint = line;
        }
    }
}

fn parse(line: &str) -> Option<Outcome> {
    let mut fields = line.splitn(3, '\t');
    let (milliseconds, bytes) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Outcome { verdict: fields.next()?.into(), milliseconds, bytes })
}
