//! NSProcessInfo. The system that it reports is the one whose Metal is provided.

use super::array::Items;
use super::dictionary::Pairs;
use super::object::NS_OBJECT;
use super::string;
use crate::runtime::Id;
use crate::runtime::encode::Version;
use crate::runtime::object::allocate;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// macOS with the API that is provided.
const SYSTEM: Version = Version { major: 15, minor: 0, patch: 0 };

class! {
    NS_PROCESS_INFO = "NSProcessInfo": NS_OBJECT, as (), []
    methods {
        + "processInfo" (_class) -> Id {
            static SHARED: OnceLock<Id> = OnceLock::new();
            *SHARED.get_or_init(|| {
                NS_PROCESS_INFO.data.live.fetch_sub(1, Ordering::Relaxed);
                allocate(&NS_PROCESS_INFO, 0)
            })
        }
        - "operatingSystemVersion" (_this) -> Version { SYSTEM }
        - "operatingSystemVersionString" (_this) -> Id {
            let Version { major, minor, .. } = SYSTEM;
            // Code that is compiled belongs to this version of the framework.
            string::new(&format!("Version {major}.{minor} (Metalworks {})", env!("CARGO_PKG_VERSION"))).autorelease()
        }
        - "isOperatingSystemAtLeastVersion:" (_this, version: Version) -> bool { SYSTEM >= version }
        - "processName" (_this) -> Id {
            let program = std::env::args_os().next().unwrap_or_default();
            let name = std::path::Path::new(&program).file_name().map(|name| name.to_string_lossy().into_owned());
            string::new(&name.unwrap_or_default()).autorelease()
        }
        - "processIdentifier" (_this) -> i32 { std::process::id().cast_signed() }
        - "processorCount" (_this) -> usize { std::thread::available_parallelism().map_or(1, usize::from) }
        - "activeProcessorCount" (_this) -> usize { std::thread::available_parallelism().map_or(1, usize::from) }
        - "physicalMemory" (_this) -> u64 { physical_memory() }
        - "systemUptime" (_this) -> f64 { uptime() }
        - "isMacCatalystApp" (_this) -> bool { false }
        - "isiOSAppOnMac" (_this) -> bool { false }
        - "isLowPowerModeEnabled" (_this) -> bool { false }
        - "thermalState" (_this) -> isize { 0 }
        - "arguments" (_this) -> Id {
            Items::strong(std::env::args_os().map(|argument| string::new(&argument.to_string_lossy())).collect()).autorelease()
        }
        - "environment" (_this) -> Id {
            let pairs = std::env::vars_os();
            let pairs = pairs.map(|(name, value)| (string::new(&name.to_string_lossy()), string::new(&value.to_string_lossy())));
            Pairs::strong(pairs.collect()).autorelease()
        }
    }
}

/// The memory of the machine in bytes.
pub(crate) fn physical_memory() -> u64 {
    // SAFETY: the calls have no preconditions.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0)
}

/// Nanoseconds between the start of the machine and an instant, without sleep. All times come from one comparison of the
/// clocks, and so are in the order of their instants.
pub(crate) fn nanoseconds(instant: Instant) -> u64 {
    static COMPARED: OnceLock<(Instant, Duration)> = OnceLock::new();
    let (then, uptime) = COMPARED.get_or_init(|| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes to the structure.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
        (Instant::now(), seconds + Duration::from_nanos(time.tv_nsec.unsigned_abs()))
    });
    let (after, before) = (instant.saturating_duration_since(*then), then.saturating_duration_since(instant));
    (*uptime + after).saturating_sub(before).as_nanos() as u64
}

/// Seconds since the machine started, without sleep.
pub(crate) fn uptime() -> f64 {
    nanoseconds(Instant::now()) as f64 * 1e-9
}
