//! The memory of this machine, so that a program that is too large is refused instead of killed.

use crate::failure::Failure;
use std::fs;

/// Bytes that can be allocated without swapping, where the system tells.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Refuses what does not fit.
///
/// # Errors
/// More bytes than are available.
pub(crate) fn check(what: &str, bytes: u64) -> Result<(), Failure> {
    match available() {
        Some(available) if bytes > available => Err(Failure::usage(format!(
            "{what} needs {} of memory, but only {} are available",
            in_units(bytes),
            in_units(available)
        ))),
        _ => Ok(()),
    }
}

/// Bytes in the largest unit that leaves a whole part.
pub(crate) fn in_units(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{:.1} {}", bytes as f64 / (1u64 << (10 * unit)) as f64, UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        assert_eq!(in_units(0), "0 B");
        assert_eq!(in_units(1023), "1023 B");
        assert_eq!(in_units(1536), "1.5 KiB");
        assert_eq!(in_units(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn too_much_is_refused() {
        assert!(check("a test", 1).is_ok());
        if available().is_some() {
            assert!(check("a test", u64::MAX).is_err());
        }
    }
}
