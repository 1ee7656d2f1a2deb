//! `monograph doctor`: what this machine has of what a GPU and the emulator need, what is missing, how to get it.

use super::Output;
use crate::args::Doctor;
use crate::failure::{ENVIRONMENT, pretty};
use crate::memory::in_units;
use monograph_emulator::{Stored, stored};
use monograph_runtime::{Report, doctor as examine};
use serde_json::{Value, json};
use std::fmt::Write;

/// Examines the machine. The exit code says whether a GPU can be used.
pub(super) fn doctor(args: &Doctor) -> Output {
    let report = examine();
    let text = if args.json { to_json(&report) } else { to_text(&report) };
    Output { text, code: if report.is_ready() { 0 } else { ENVIRONMENT } }
}

/// What the emulator keeps in its part of the cache.
fn of_emulator(report: &Report) -> Stored {
    report.cache.folder.as_ref().map(|folder| stored(&folder.join("emulator"))).unwrap_or_default()
}

fn to_text(report: &Report) -> String {
    let mut text = format!("monograph {}\n", env!("CARGO_PKG_VERSION"));
    match &report.driver {
        Ok(version) => row(&mut text, "driver", true, &format!("supports CUDA {version}")),
        Err(problem) => row(&mut text, "driver", false, problem),
    }
    for device in &report.devices {
        match &device.problem {
            None => row(&mut text, &device.place, true, &device.name),
            Some(problem) => row(&mut text, &device.place, false, &format!("{}: {problem}", device.name)),
        }
    }
    if report.driver.is_ok() && report.devices.is_empty() {
        row(&mut text, "devices", false, "the driver shows none; is CUDA_VISIBLE_DEVICES set to something else?");
    }
    match &report.nvrtc {
        Ok(nvrtc) => {
            let version = format!("{} at {} ({})", nvrtc.version, nvrtc.file.display(), nvrtc.origin);
            row(&mut text, "NVRTC", true, &version);
            row(&mut text, "", true, &format!("compiles for {}", nvrtc.architectures.join(", ")));
        }
        Err(problem) => row(&mut text, "NVRTC", false, problem),
    }
    let cache = &report.cache;
    match (&cache.folder, &cache.problem) {
        (None, _) => row(&mut text, "cache", true, "off"),
        (Some(folder), Some(problem)) => row(&mut text, "cache", false, &format!("{}: {problem}", folder.display())),
        (Some(folder), None) => {
            let content = format!("{}: {} programs, {}", folder.display(), cache.programs, in_units(cache.bytes));
            row(&mut text, "cache", true, &content);
            let Stored { entries, bytes } = of_emulator(report);
            row(
                &mut text,
                "",
                true,
                &format!("of the emulator {entries} objects and executables, {}", in_units(bytes)),
            );
        }
    }
    match &report.emulator {
        Ok(compiler) => row(
            &mut text,
            "emulate",
            true,
            &format!("kernels can be checked on the CPU with {compiler}: --device emulate"),
        ),
        Err(problem) => row(&mut text, "emulate", false, problem),
    }
    row(&mut text, "host", true, "the reference interpreter is always there: --device host");
    text.push_str(match report.is_ready() {
        true => "\nPrograms can run on a GPU.\n",
        false => "\nPrograms cannot run on a GPU here; they run on the host.\n",
    });
    text
}

/// A row with a mark in front; further lines of the text are indented below it.
fn row(text: &mut String, name: &str, fine: bool, content: &str) {
    let mark = if fine { "ok" } else { "!!" };
    let mut lines = content.trim_end().lines();
    let mark = if name.is_empty() { "" } else { mark };
    let _ = writeln!(text, "{mark:<2} {name:<7} {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(text, "           {line}");
    }
}

fn to_json(report: &Report) -> String {
    let outcome = |result: Result<Value, &String>| match result {
        Ok(value) => value,
        Err(problem) => json!({ "problem": problem }),
    };
    let devices: Vec<Value> =
        report.devices.iter().map(|d| json!({ "place": d.place, "name": d.name, "problem": d.problem })).collect();
    let nvrtc = report.nvrtc.as_ref().map(|n| {
        json!({
            "version": n.version,
            "file": n.file.display().to_string(),
            "origin": n.origin,
            "architectures": n.architectures,
        })
    });
    let cache = &report.cache;
    let Stored { entries, bytes } = of_emulator(report);
    pretty(&json!({
        "ok": report.is_ready(),
        "version": env!("CARGO_PKG_VERSION"),
        "driver": outcome(report.driver.as_ref().map(|version| json!({ "cuda": version }))),
        "devices": devices,
        "nvrtc": outcome(nvrtc),
        "emulator": outcome(report.emulator.as_ref().map(|compiler| json!({ "compiler": compiler }))),
        "cache": {
            "folder": cache.folder.as_ref().map(|f| f.display().to_string()),
            "programs": cache.programs,
            "bytes": cache.bytes,
            "emulator": { "entries": entries, "bytes": bytes },
            "problem": cache.problem,
        },
    }))
}
