//! The C++ files of the emulator's runtime, as they lie in `cpp/`.

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../cpp/", $name)))),*]
    };
}

/// Each file: its name and its text.
pub(crate) const FILES: &[(&str, &str)] = files! {
    "access.h" "aliases.cpp" "async_copies.cpp" "async_copies.h" "atomics.cpp" "block_barrier.cpp" "block_barrier.h"
    "channel.cpp" "channel.h" "checker.cpp" "checker.h" "clocks.cpp" "clocks.h" "copies.cpp" "copies.h" "cuda.h"
    "debugger.cpp" "debugger.h" "device.h"
    "device_memory.h" "early_reads.cpp" "early_reads.h" "emulator.h" "fibers.cpp" "fibers.h" "findings.cpp" "findings.h" "flags.cpp" "intrinsics.cpp"
    "main.cpp" "mbarriers.cpp" "memory_functions.cpp" "memory_functions.h" "named_barriers.cpp" "order.cpp" "order.h" "places.cpp" "places.h" "races.cpp"
    "races.h" "report.cpp" "report.h" "scheduler.cpp" "scheduler.h" "segments.cpp" "segments.h" "shadow.cpp"
    "shadow.h" "shared_memory.cpp" "shared_memory.h" "signals.cpp" "signals.h" "sync.cpp" "sync.h" "text.cpp" "text.h"
    "threads.cpp" "threads.h" "tsan.cpp" "waits.cpp" "warps.cpp" "warps.h" "where.cpp" "words.cpp" "words.h"
};

/// The file whose debug information describes the state of the whole runtime.
pub(crate) const TYPES: &str = "debugger.cpp";

/// The files that are compiled on their own.
pub(crate) fn units() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().filter(|(name, _)| name.ends_with(".cpp")).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_here() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cpp")).unwrap();
        let mut names: Vec<String> = folder.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|n| n.ends_with(".h") || n.ends_with(".cpp"));
        names.sort();
        let listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, names);
    }
}
