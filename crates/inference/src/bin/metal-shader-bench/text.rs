//! Formats numbers and dates.

use std::time::{Duration, SystemTime};

/// `1.50 GiB`
pub(crate) fn bytes(bytes: usize) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) if bytes.is_multiple_of(size) => format!("{} {unit}", bytes / size),
        Some((unit, size)) => format!("{:.2} {unit}", bytes as f64 / size as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Three significant digits.
pub(crate) fn number(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "-".into(),
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The current time as `2026-01-31T12:00:00Z`.
pub(crate) fn now() -> String {
    date(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs())
}

fn date(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= months[month] {
        days -= months[month];
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates() {
        assert_eq!(super::date(0), "1970-01-01T00:00:00Z");
        assert_eq!(super::date(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(super::date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(super::date(1_735_689_599), "2024-12-31T23:59:59Z");
    }

    #[test]
    fn numbers() {
        assert_eq!(super::bytes(3 << 20), "3 MiB");
        assert_eq!(super::bytes((3 << 20) / 2), "1.50 MiB");
        assert_eq!(super::bytes(12), "12 bytes");
        assert_eq!([0.5, 12.34, 1234.5].map(super::number), ["0.50", "12.3", "1234"]);
        assert_eq!(super::number(f64::NAN), "-");
    }
}
