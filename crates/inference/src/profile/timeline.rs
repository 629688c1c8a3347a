//! Timelines in the JSON of Chrome's trace viewer, which Perfetto reads too.
//!
//! ```text
//! process host     a lane for each thread: encode, run, tokenize, … nested
//! process device   dispatches; several lanes if some overlap
//!                  a lane for each thread: threadgroups of kernels, and waits
//! ```

use super::phases::TimedDispatch;
use compute::files;
use compute::trace::{Activity, Trace, TraceSpan};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Process numbers of the lanes.
const HOST: usize = 1;
const DEVICE: usize = 2;

/// A lane: its process, its name, and its events in order.
struct TimelineLane {
    process: usize,
    name: String,
    events: Vec<TimelineEvent>,
}

struct TimelineEvent {
    name: String,
    category: &'static str,
    start: Instant,
    end: Instant,
    arguments: Value,
}

/// Writes a trace and the dispatches of a profile as JSON.
pub fn write_timeline(
    out: &mut impl Write,
    device: &str,
    trace: &Trace,
    dispatches: &[TimedDispatch],
) -> io::Result<()> {
    let mut lanes = host_lanes(trace);
    lanes.extend(dispatch_lanes(dispatches));
    lanes.extend(thread_lanes(trace));
    let origin = lanes.iter().flat_map(|lane| &lane.events).map(|event| event.start).min();
    let origin = origin.unwrap_or_else(Instant::now);
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    for (process, name) in [(HOST, "host"), (DEVICE, device)] {
        let event = json!({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}});
        writeln!(out, "{event},")?;
    }
    for (index, lane) in lanes.iter().enumerate() {
        let (thread, process) = (index + 1, lane.process);
        let name =
            json!({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": lane.name}});
        let order = json!({"ph": "M", "name": "thread_sort_index", "pid": process, "tid": thread,
            "args": {"sort_index": thread}});
        writeln!(out, "{name},\n{order},")?;
        for event in &lane.events {
            let at = |time: Instant| time.saturating_duration_since(origin).as_nanos();
            let (start, length) = (at(event.start), at(event.end).saturating_sub(at(event.start)));
            // Microseconds, exactly.
            let [start, length] = [start, length].map(|time| format!("{}.{:03}", time / 1000, time % 1000));
            let name = Value::from(event.name.as_str());
            writeln!(
                out,
                "{{\"ph\":\"X\",\"pid\":{process},\"tid\":{thread},\"ts\":{start},\"dur\":{length},\
                \"cat\":\"{}\",\"name\":{name},\"args\":{}}},",
                event.category, event.arguments
            )?;
        }
    }
    let dropped = json!({"ph": "M", "name": "dropped_spans", "pid": HOST, "args": {"count": trace.dropped}});
    writeln!(out, "{dropped}\n]}}")
}

/// Spans of the host, by thread.
fn host_lanes(trace: &Trace) -> Vec<TimelineLane> {
    let event = |span: &TraceSpan| match span.activity {
        Activity::Host(name) => Some(("host", name.to_owned(), json!({}))),
        _ => None,
    };
    lanes_of(trace, HOST, event)
}

/// Work of the device's threads.
fn thread_lanes(trace: &Trace) -> Vec<TimelineLane> {
    let event = |span: &TraceSpan| match &span.activity {
        Activity::Threadgroups { kernel, count } => {
            Some(("kernel", kernel.to_string(), json!({"threadgroups": count})))
        }
        Activity::Wait => Some(("wait", "wait".to_owned(), json!({}))),
        Activity::Host(_) => None,
    };
    lanes_of(trace, DEVICE, event)
}

fn lanes_of(
    trace: &Trace,
    process: usize,
    event: impl Fn(&TraceSpan) -> Option<(&'static str, String, Value)>,
) -> Vec<TimelineLane> {
    let (mut lanes, mut names) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for lane in &trace.lanes {
        let events = lane.spans.iter().filter_map(|span| {
            let (category, name, arguments) = event(span)?;
            Some(TimelineEvent { name, category, start: span.start, end: span.end, arguments })
        });
        let mut events: Vec<TimelineEvent> = events.collect();
        if events.is_empty() {
            continue;
        }
        // Outer spans before inner ones.
        events.sort_by_key(|event| (event.start, std::cmp::Reverse(event.end)));
        let number = names.entry(&lane.thread).or_default();
        *number += 1;
        let name = if *number == 1 { lane.thread.clone() } else { format!("{} {number}", lane.thread) };
        lanes.push(TimelineLane { process, name, events });
    }
    lanes
}

/// Dispatches. Those that overlap are in different lanes.
fn dispatch_lanes(dispatches: &[TimedDispatch]) -> Vec<TimelineLane> {
    let mut sorted: Vec<&TimedDispatch> = dispatches.iter().collect();
    sorted.sort_by_key(|dispatch| dispatch.start);
    let mut lanes: Vec<TimelineLane> = Vec::new();
    for dispatch in sorted {
        let ends = |lane: &TimelineLane| lane.events.last().is_none_or(|event| event.end <= dispatch.start);
        let index = lanes.iter().position(ends).unwrap_or(lanes.len());
        if index == lanes.len() {
            let name = if index == 0 { "dispatches".into() } else { format!("dispatches {}", index + 1) };
            lanes.push(TimelineLane { process: DEVICE, name, events: Vec::new() });
        }
        let (start, end) = (dispatch.start, dispatch.end.max(dispatch.start));
        let arguments = dispatch.work.as_ref().map_or_else(
            || json!({}),
            |work| {
                let seconds = (end - start).as_secs_f64();
                json!({"sizes": &*work.sizes, "bytes": work.bytes, "GB/s": rate(work.bytes, seconds),
                "GFLOP/s": rate(work.flops, seconds)})
            },
        );
        let name = dispatch.kernel.to_string();
        lanes[index].events.push(TimelineEvent { name, category: "dispatch", start, end, arguments });
    }
    lanes
}

/// Billions per second, with three decimals.
fn rate(count: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { (count / seconds / 1e6).round() / 1e3 } else { 0.0 }
}

/// A file that a timeline is written to. It appears complete, or not at all.
#[derive(Debug)]
pub struct TimelineFile {
    path: PathBuf,
}

impl TimelineFile {
    /// Checks that the file can be written, before the work that is to be traced.
    pub fn new(path: &Path) -> io::Result<TimelineFile> {
        files::check_replaceable(path)?;
        Ok(TimelineFile { path: path.to_owned() })
    }

    /// Writes the timeline: to a temporary file beside it, which is then renamed. A device or a pipe is written to.
    pub fn write(&self, device: &str, trace: &Trace, dispatches: &[TimedDispatch]) -> io::Result<()> {
        files::replace(&self.path, |out| write_timeline(out, device, trace, dispatches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DispatchWork, Phase};
    use compute::trace::TraceLane;
    use std::fs;
    use std::time::Duration;

    fn example() -> (Trace, Vec<TimedDispatch>) {
        let origin = Instant::now();
        let at = |time: u64| origin + Duration::from_nanos(time);
        let span =
            |activity: Activity, start: u64, end: u64| TraceSpan { activity, start: at(start), end: at(end) };
        let groups = |kernel: &str, count: u64| Activity::Threadgroups { kernel: kernel.into(), count };
        let lane = |thread: &str, spans: Vec<TraceSpan>| TraceLane { thread: thread.into(), spans };
        let main = vec![
            span(Activity::Host("encode"), 0, 1000),
            span(groups("a", 3), 1500, 2500),
            span(Activity::Wait, 2500, 2750),
            span(Activity::Host("run"), 1000, 4001),
            span(Activity::Host("generate"), 0, 4001),
        ];
        let helper = || vec![span(groups("a\"b", 1), 1600, 2700)];
        let lanes = vec![lane("main", main), lane("kernels", helper()), lane("kernels", helper())];
        let dispatch = |kernel: &str, start: u64, end: u64, bytes: f64| TimedDispatch {
            kernel: kernel.into(),
            start: at(start),
            end: at(end),
            work: Some(DispatchWork { sizes: "N=3".into(), bytes, flops: 0.0 }),
            phase: Phase::Decode,
        };
        (Trace { lanes, dropped: 2 }, vec![dispatch("a", 1500, 2700, 2400.0), dispatch("b", 2000, 3000, 0.0)])
    }

    #[test]
    fn lanes_of_host_dispatches_and_threads() {
        let (trace, dispatches) = example();
        let mut text = Vec::new();
        write_timeline(&mut text, "CPU (2 threads)", &trace, &dispatches).unwrap();
        let json: Value = serde_json::from_slice(&text).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let of = |ph: &str, name: &str| -> Vec<&Value> {
            events.iter().filter(|event| event["ph"] == ph && event["name"] == name).collect()
        };
        let names: Vec<_> = of("M", "thread_name")
            .iter()
            .map(|event| (event["pid"].as_u64().unwrap(), event["args"]["name"].as_str().unwrap()))
            .collect();
        let expected =
            [(1, "main"), (2, "dispatches"), (2, "dispatches 2"), (2, "main"), (2, "kernels"), (2, "kernels 2")];
        assert_eq!(names, expected);
        let spans: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        let host: Vec<_> = spans.iter().filter(|event| event["pid"] == 1).map(|event| &event["name"]).collect();
        assert_eq!(host, ["generate", "encode", "run"], "outer spans come first");
        assert_eq!(of("X", "run")[0]["ts"], 1.0);
        assert_eq!(of("X", "run")[0]["dur"], 3.001);
        assert_eq!(of("X", "a\"b").len(), 2);
        assert_eq!(of("X", "a")[0]["args"], json!({"sizes": "N=3", "bytes": 2400.0, "GB/s": 2.0, "GFLOP/s": 0.0}));
        assert_eq!(of("X", "a")[1]["args"], json!({"threadgroups": 3}));
        assert_eq!(of("M", "dropped_spans")[0]["args"]["count"], 2);
    }

    #[test]
    fn files_appear_complete() {
        let folder = std::env::temp_dir().join(format!("metalworks-timeline-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("trace.json");
        let file = TimelineFile::new(&path).unwrap();
        assert!(!path.exists());
        let (trace, dispatches) = example();
        for _ in 0..2 {
            file.write("CPU", &trace, &dispatches).unwrap();
            assert!(serde_json::from_slice::<Value>(&fs::read(&path).unwrap()).is_ok());
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
        assert!(TimelineFile::new(&folder).is_err(), "a folder is not replaced");
        assert!(TimelineFile::new(&folder.join("none/trace.json")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
