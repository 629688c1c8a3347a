//! The result as two tables in Markdown: functions by family, and reasons.

use super::Outcome;
use super::family::family;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
struct Row {
    functions: usize,
    compiled: usize,
    milliseconds: u64,
    longest: u64,
    bytes: u64,
}

impl Row {
    fn add(&mut self, outcome: &Outcome) {
        self.functions += 1;
        self.compiled += usize::from(outcome.verdict == "ok");
        self.milliseconds += outcome.milliseconds;
        self.longest = self.longest.max(outcome.milliseconds);
        self.bytes += outcome.bytes;
    }

    fn line(&self, family: &str) -> String {
        let refused = self.functions - self.compiled;
        let mean = self.milliseconds / self.functions.max(1) as u64;
        let kilobytes = self.bytes / self.compiled.max(1) as u64 / 1024;
        let Row { functions, compiled, longest, .. } = self;
        format!("| {family} | {functions} | {compiled} | {refused} | {mean} | {longest} | {kilobytes} |\n")
    }
}

pub(crate) fn markdown(outcomes: &BTreeMap<String, Outcome>) -> String {
    let mut families: BTreeMap<&str, Row> = BTreeMap::new();
    let mut reasons: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut all = Row::default();
    for (name, outcome) in outcomes {
        let family = family(name);
        families.entry(family).or_default().add(outcome);
        all.add(outcome);
        if outcome.verdict != "ok" {
            let reason = reasons.entry(reason(&outcome.verdict, name)).or_default();
            *reason.entry(family).or_default() += 1;
        }
    }
    let mut text =
        String::from("| family | functions | compiled | refused | ms, mean | ms, longest | KiB, mean |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    for (family, row) in &families {
        text.push_str(&row.line(family));
    }
    text.push_str(&all.line("**all**"));
    if !reasons.is_empty() {
        text.push_str("\n| functions | reason | in |\n|--:|---|---|\n");
        let mut reasons: Vec<_> = reasons
            .into_iter()
            .map(|(reason, families)| (families.values().sum::<usize>(), reason, families))
            .collect();
        reasons.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (functions, reason, families) in reasons {
            let families = families.into_keys().collect::<Vec<_>>().join("; ");
            let _ = writeln!(text, "| {functions} | {} | {families} |", reason.replace('|', "\\|"));
        }
    }
    text
}

/// The reason without the parts that differ between functions: the name, and the numbers of LLVM's values.
fn reason(verdict: &str, name: &str) -> String {
    let mut reason = String::new();
    let mut characters = verdict.replace(name, "…").chars().collect::<Vec<_>>().into_iter().peekable();
    while let Some(character) = characters.next() {
        reason.push(character);
        if character == '%' {
            while characters.next_if(|next| next.is_ascii_digit()).is_some() {}
        }
    }
    reason.truncate(reason.char_indices().nth(160).map_or(reason.len(), |(at, _)| at));
    reason
}
