//! NSDate.

use super::object::NS_OBJECT;
use super::string;
use crate::runtime::object::retain;
use crate::runtime::{Id, Strong};
use std::ffi::c_void;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time: seconds since 1970.
pub(crate) struct Date(f64);

/// Seconds from 1970 to 2001, where Foundation begins to count.
const REFERENCE: f64 = 978_307_200.0;

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// The time until a date; none for one that is over.
pub(crate) fn until(date: Id) -> Option<Duration> {
    let Date(seconds) = *date.cast::<Date>()?;
    Some(Duration::try_from_secs_f64(seconds - now()).unwrap_or_default())
}

class! {
    NS_DATE = "NSDate": NS_OBJECT, new Date, ["NSCopying", "NSCoding"]
    methods {
        + "date" (_class) -> Id { Strong::new(Date(now())).autorelease() }
        + "now" (_class) -> Id { Strong::new(Date(now())).autorelease() }
        + "dateWithTimeIntervalSinceNow:" (_class, seconds: f64) -> Id { Strong::new(Date(now() + seconds)).autorelease() }
        + "dateWithTimeIntervalSince1970:" (_class, seconds: f64) -> Id { Strong::new(Date(seconds)).autorelease() }
        + "distantFuture" (_class) -> Id { Strong::new(Date(64_092_211_200.0)).autorelease() }
        + "distantPast" (_class) -> Id { Strong::new(Date(-62_135_596_800.0)).autorelease() }
        - "init" (this) -> Id { this.set(Date(now())) }
        - "timeIntervalSince1970" (this) -> f64 { this.0 }
        - "timeIntervalSinceReferenceDate" (this) -> f64 { this.0 - REFERENCE }
        - "timeIntervalSinceNow" (this) -> f64 { this.0 - now() }
        - "timeIntervalSinceDate:" (this, other: Id) -> f64 { other.cast::<Date>().map_or(0.0, |other| this.0 - other.0) }
        - "dateByAddingTimeInterval:" (this, seconds: f64) -> Id { Strong::new(Date(this.0 + seconds)).autorelease() }
        - "compare:" (this, other: Id) -> isize { other.cast::<Date>().map_or(0, |other| this.0.total_cmp(&other.0) as isize) }
        - "isEqual:" (this, other: Id) -> bool { other.cast::<Date>().is_some_and(|other| this.0 == other.0) }
        - "hash" (this) -> usize { this.0.to_bits() as usize }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "description" (this) -> Id { string::new(&format!("{} seconds since 1970", this.0)).autorelease() }
    }
}
