//! Reads the assembler's report (`ptxas -v`) in NVRTC's log.

use std::collections::BTreeMap;

/// What one kernel takes of the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KernelResources {
    /// Registers of one thread.
    pub registers: u32,
    /// Shared memory declared in the source, in bytes.
    pub static_shared_bytes: u32,
    /// Stack of one thread in bytes.
    pub stack_bytes: u32,
    /// Bytes of registers that one thread writes to memory because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes that one thread reads back of those.
    pub spill_load_bytes: u32,
    /// Barriers that the kernel uses.
    pub barriers: u32,
}

/// The resources of every kernel, by its symbol. Device functions that are no kernels are left out.
pub(super) fn parse(log: &str) -> BTreeMap<String, KernelResources> {
    let mut kernels = BTreeMap::new();
    // The report of a kernel starts with its entry line. Properties of device functions called by kernels may follow.
    let mut entry: Option<&str> = None;
    let mut in_entry = false;
    for line in log.lines().filter(|l| l.starts_with("ptxas")) {
        if let Some(symbol) = line.split_once("Compiling entry function '").and_then(|(_, l)| l.split('\'').next()) {
            kernels.insert(symbol.to_owned(), KernelResources::default());
            entry = Some(symbol);
        } else if let Some((_, function)) = line.split_once("Function properties for ") {
            in_entry = entry == Some(function.trim());
        } else if let Some(kernel) = entry.filter(|_| in_entry).and_then(|e| kernels.get_mut(e)) {
            read_line(line, kernel);
        }
    }
    kernels
}

fn read_line(line: &str, kernel: &mut KernelResources) {
    let text = line.split_once([':', '.']).map_or(line, |(_, text)| text);
    for item in text.split(',') {
        let item = item.trim().trim_start_matches("Used ").trim_start_matches("used ");
        let Some((number, unit)) = item.split_once(' ') else { continue };
        let Ok(number) = number.parse() else { continue };
        match unit {
            "registers" => kernel.registers = number,
            "barriers" => kernel.barriers = number,
            "bytes smem" => kernel.static_shared_bytes = number,
            "bytes stack frame" => kernel.stack_bytes = number,
            "bytes spill stores" => kernel.spill_store_bytes = number,
            "bytes spill loads" => kernel.spill_load_bytes = number,
            _ => {}
        }
    }
}

/// The log without the assembler's report: what a person should read.
pub(super) fn without_report(log: &str) -> String {
    let lines = log.lines().filter(|l| !l.starts_with("ptxas info") && !l.starts_with("ptxas         ."));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NVRTC 13.0 prints it.
    const LOG: &str = "\
p.cu(2): warning #177-D: variable \"b\" was declared but never referenced

ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5templPf' for 'sm_80'
ptxas info    : Function properties for _Z5templPf
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 5.063 ms
ptxas info    : Function properties for _Z1ff
ptxas         .     64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'spill' for 'sm_80'
ptxas info    : Function properties for spill
ptxas         .     976 bytes stack frame, 2596 bytes spill stores, 2600 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 976 bytes cumulative stack size, 364 bytes cmem[0]
ptxas info    : Compile time = 186.979 ms
ptxas info    : Compiling entry function 'add' for 'sm_80'
ptxas info    : Function properties for add
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 512 bytes smem, 368 bytes cmem[0]
ptxas info    : Compile time = 1.982 ms
";

    #[test]
    fn each_kernel_has_its_own_numbers() {
        let kernels = parse(LOG);
        assert_eq!(kernels.keys().collect::<Vec<_>>(), ["_Z5templPf", "add", "spill"]);
        assert_eq!(kernels["_Z5templPf"], KernelResources { registers: 8, ..Default::default() });
        let add = KernelResources { registers: 12, static_shared_bytes: 512, barriers: 1, ..Default::default() };
        assert_eq!(kernels["add"], add);
        let spill = KernelResources {
            registers: 32,
            stack_bytes: 976,
            spill_store_bytes: 2596,
            spill_load_bytes: 2600,
            ..Default::default()
        };
        assert_eq!(kernels["spill"], spill);
    }

    #[test]
    fn the_report_is_not_shown_to_people() {
        assert_eq!(without_report(LOG), "p.cu(2): warning #177-D: variable \"b\" was declared but never referenced");
        assert_eq!(without_report("ptxas warning : too slow\n"), "ptxas warning : too slow");
    }
}
