//! From what the child reports to a finding that a person can act on.

use crate::answer::{Address, Report};
use crate::build::Executable;
use crate::lines::Lines;
use crate::waits;
use monograph_ir::{DType, Finding, KernelLine, MemoryKind, MemoryPlace, Origin, OtherAccess};
use std::fs;

/// What this process knows of the launch that a report is about.
#[derive(Default)]
pub(crate) struct Scene<'a> {
    /// The kernel's symbol and the source of its program, where a kernel ran.
    pub(crate) kernel: Option<(&'a str, &'a str)>,
    /// The launch of the plan.
    pub(crate) launch: Option<&'a str>,
    pub(crate) origins: &'a [Origin],
    /// What each of the kernel's parameters points to.
    pub(crate) parameters: Vec<Named>,
}

/// What a parameter points to.
pub(crate) struct Named {
    pub(crate) what: MemoryKind,
    pub(crate) name: String,
    pub(crate) dtype: DType,
}

/// Brings both together.
pub(crate) fn explain(report: Report, executable: &Executable, scene: &Scene<'_>) -> Finding {
    // Line tables are read for findings alone: nothing else needs them. Without them a finding has no line.
    let bytes = fs::read(&executable.path).unwrap_or_default();
    let lines = Lines::of(&bytes);
    let line = |pc: Option<u64>| -> Option<KernelLine> {
        let (kernel, source) = scene.kernel?;
        lines.as_ref()?.at(pc?, kernel, source)
    };
    // What a signal interrupts may be the runtime, called by the program.
    let at = line(report.pc).or_else(|| report.returns.iter().find_map(|&pc| line(Some(pc))));
    let memory = report.address.map(|address| place(address, &scene.parameters));
    let other = (report.other_pc.is_some() || report.other_thread.is_some()).then(|| OtherAccess {
        at: line(report.other_pc),
        thread: report.other_thread,
        access: report.other_access,
    });
    let waits = waits::group(report.waits.into_iter().map(|(pc, text)| (line(pc), text)).collect());
    Finding {
        kind: report.kind,
        kernel: scene.kernel.map(|(symbol, _)| symbol.to_string()).unwrap_or_default(),
        launch: scene.launch.map(String::from),
        origins: scene.origins.to_vec(),
        at,
        thread: report.thread,
        access: report.access,
        other,
        memory,
        waits,
        message: report.message,
    }
}

fn place(address: Address, parameters: &[Named]) -> MemoryPlace {
    match address {
        Address::Parameter(number, offset) => match parameters.get(number) {
            Some(named) => MemoryPlace {
                what: named.what,
                name: named.name.clone(),
                element: offset.div_euclid(named.dtype.size() as i64),
                dtype: Some(named.dtype),
            },
            None => MemoryPlace { what: MemoryKind::Parameter, name: number.to_string(), element: offset, dtype: None },
        },
        Address::Shared(name, offset) => MemoryPlace { what: MemoryKind::Shared, name, element: offset, dtype: None },
        Address::Wild(address) => {
            MemoryPlace { what: MemoryKind::Wild, name: format!("{address:#x}"), element: 0, dtype: None }
        }
    }
}
