//! `monograph run`: runs a program on files, numbers or random data.

use super::{Output, say};
use crate::args::{Place, Run};
use crate::failure::{Failure, pretty};
use crate::program::Loaded;
use crate::suggest::listed;
use crate::values::Values;
use crate::{file, memory, npy, preview};
use monograph_ir::plan::{Plan, Region};
use monograph_ir::{Array, Binding, Error, Source};
use monograph_runtime::{Device, Executable};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compiles for the device, replays, and shows or writes the outputs.
pub(super) fn run(args: &Run) -> Result<Output, Failure> {
    let program = Loaded::read(&args.file)?;
    let graph = &program.graph;
    let parameters: u64 = graph.params().iter().filter_map(|p| p.spec.bytes()).fold(0, u64::saturating_add);
    memory::check("the data of the program's parameters", parameters)?;
    if args.file.as_os_str() == "-" && args.inputs.iter().any(|i| i.ends_with("=-")) {
        return Err(Failure::usage("standard input (`-`) holds the program, so no parameter can be read from it"));
    }
    if let Some(option) = args.emulation.given().filter(|_| args.device != Place::Emulator) {
        return Err(Failure::usage(format!("`{option}` is for the emulator")).help("add `--device emulate`"));
    }
    let values = Values::new(graph, &args.inputs, args.random)?;
    if !values.zeroed.is_empty() {
        let names = listed(values.zeroed.iter().map(String::as_str));
        say(&format!("note: no value is given for the state {names}, so it starts as zeros"));
    }
    if let Some(dir) = &args.out {
        let failed = |e| Failure::usage(format!("the directory {} cannot be made: {e}", dir.display()));
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    let device = match args.device {
        Place::Best => Device::best(),
        Place::Host => Device::host(),
        Place::Emulator => Device::emulated_with(args.emulation.options()).map_err(no_emulator)?,
        Place::Cuda(number) => Device::cuda(number).map_err(no_device)?,
    };
    let options = args.tuning.options();
    let plan =
        monograph_compiler::compile(graph, &device.target(), &options).map_err(|error| program.failure(error))?;
    if device.is_host() || device.is_emulated() {
        let regions = [Region::Arena, Region::Inputs, Region::Constants, Region::States];
        let bytes = regions.iter().fold(parameters, |sum, &r| sum.saturating_add(plan.region_bytes(r)));
        memory::check("running the program without a GPU", bytes)?;
    }
    let (executable, times) = replay(&device, plan, &values, args.replays)?;
    let mut results = collect(&executable)?;
    if let Some(dir) = &args.out {
        save(&mut results, dir)?;
    }
    let report = Report { device: device.describe(), times, results };
    Ok(if args.json { report.json()? } else { report.text()? }.into())
}

fn no_emulator(error: Error) -> Failure {
    Failure::from(error).help("`--device host` runs the program through the interpreter and needs no compiler")
}

fn no_device(error: Error) -> Failure {
    Failure::from(error).help("`monograph doctor` says what is missing; `--device host` needs no GPU")
}

/// Loads the plan and runs it so many times. Returns the time of each run, from handing over the inputs to the end of
/// the last launch.
fn replay(device: &Device, plan: Plan, values: &Values, count: u32) -> Result<(Executable, Vec<Duration>), Error> {
    let constants: Vec<Array> =
        plan.constants.iter().map(|c| values.at(&c.name, &c.spec, 0)).collect::<Result<_, _>>()?;
    let states: Vec<Array> = plan.states.iter().map(|s| values.at(&s.name, &s.spec, 0)).collect::<Result<_, _>>()?;
    let mut executable = device.load(plan, &constants, &states)?;
    let mut times = Vec::new();
    let mut inputs: Vec<Array> = Vec::new();
    for replay in 0..u64::from(count) {
        for (i, input) in executable.plan().inputs.iter().enumerate() {
            if i < inputs.len() && !values.varies(&input.name) {
                continue;
            }
            let mut array = values.at(&input.name, &input.spec, replay)?;
            if input.binding == Binding::Bound {
                array = device.upload(&array)?;
            }
            if i < inputs.len() { inputs[i] = array } else { inputs.push(array) }
        }
        let sources: Vec<Source<'_>> = inputs.iter().map(Source::Array).collect();
        let started = Instant::now();
        executable.replay(&sources)?;
        executable.synchronize()?;
        times.push(started.elapsed());
    }
    Ok((executable, times))
}

/// A tensor after the last replay.
struct Outcome {
    kind: &'static str,
    name: String,
    array: Array,
    file: Option<PathBuf>,
}

fn collect(executable: &Executable) -> Result<Vec<Outcome>, Error> {
    let plan = executable.plan();
    let mut results = Vec::new();
    let mut push = |kind, name: &str, array| results.push(Outcome { kind, name: name.into(), array, file: None });
    for (i, output) in plan.outputs.iter().enumerate() {
        push("output", &output.name, executable.output(i).to_array()?);
    }
    for (state, array) in plan.states.iter().zip(executable.states()?) {
        push("state", &state.name, array);
    }
    for probe in &plan.probes {
        push("probe", &probe.name, executable.probe(&probe.name)?.to_array()?);
    }
    Ok(results)
}

/// Writes each tensor into a file of its own.
fn save(results: &mut [Outcome], dir: &Path) -> Result<(), Failure> {
    let mut taken = BTreeSet::new();
    for result in results {
        let path = dir.join(format!("{}.npy", free_name(&result.name, result.kind, &mut taken)));
        let bytes = result.array.bytes().map_err(Error::from)?;
        file::write_atomically(&path, |out| npy::write(out, result.array.spec(), &bytes))?;
        result.file = Some(path);
    }
    Ok(())
}

/// A file name that stays inside the directory, works on every system, and is not taken.
fn free_name(name: &str, kind: &str, taken: &mut BTreeSet<String>) -> String {
    const LONGEST: usize = 100;
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let mut name: String = name.chars().map(safe).take(LONGEST).collect();
    while name.len() > 2 * LONGEST {
        name.pop();
    }
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    let numbered = (2..).map(|n| format!("{name}.{kind}{n}"));
    let candidates = [name.clone(), format!("{name}.{kind}")].into_iter().chain(numbered);
    // Some file systems do not tell upper from lower case.
    candidates.into_iter().find(|c| taken.insert(c.to_lowercase())).unwrap_or(name)
}

struct Report {
    device: String,
    times: Vec<Duration>,
    results: Vec<Outcome>,
}

impl Report {
    fn text(&self) -> Result<String, Error> {
        let [fastest, median, slowest] = spread(&self.times).map(readable);
        let mut text = format!("device   {}\n", self.device);
        let _ = match self.times.len() {
            1 => writeln!(text, "time     {median} (first replay)"),
            n => writeln!(text, "time     {median} per replay (median of {n}; {fastest} to {slowest})"),
        };
        let width = |f: fn(&Outcome) -> String| self.results.iter().map(|r| f(r).chars().count()).max().unwrap_or(0);
        let names = width(|r| r.name.clone());
        let specs = width(|r| r.array.spec().to_string());
        for r in &self.results {
            let (kind, name, spec) = (r.kind, &r.name, r.array.spec().to_string());
            let _ = write!(text, "{kind:<7}  {name:<names$}  {spec:<specs$}  {}", preview::line(&r.array)?);
            let _ = match &r.file {
                Some(file) => writeln!(text, "  -> {}", file.display()),
                None => writeln!(text),
            };
        }
        Ok(text)
    }

    fn json(&self) -> Result<String, Error> {
        let [fastest, median, slowest] = spread(&self.times).map(|t| t.as_secs_f64() * 1e6);
        let mut results = Vec::new();
        for r in &self.results {
            results.push(json!({
                "kind": r.kind,
                "name": r.name,
                "dtype": r.array.dtype().name(),
                "shape": r.array.shape().dims(),
                "values": preview::values(&r.array)?,
                "file": r.file.as_ref().map_or(Value::Null, |f| f.display().to_string().into()),
            }));
        }
        Ok(pretty(&json!({
            "ok": true,
            "device": self.device,
            "replays": self.times.len(),
            "microseconds": { "median": median, "fastest": fastest, "slowest": slowest },
            "results": results,
        })))
    }
}

/// The shortest, the median and the longest time.
fn spread(times: &[Duration]) -> [Duration; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |i: usize| sorted.get(i).copied().unwrap_or_default();
    [at(0), at(sorted.len() / 2), at(sorted.len().saturating_sub(1))]
}

fn readable(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.2} µs", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_stay_inside_the_directory_and_differ() {
        let mut taken = BTreeSet::new();
        let mut name = |name: &str| free_name(name, "output", &mut taken);
        assert_eq!(name("../../etc/passwd"), "_._.._etc_passwd");
        assert_eq!(name("before relu"), "before_relu");
        assert_eq!(name("before/relu"), "before_relu.output");
        assert_eq!(name("Before relu"), "Before_relu.output2");
        assert_eq!(name(".hidden"), "_hidden");
        assert!(name(&"é".repeat(500)).len() <= 200);
        assert!(!name("a\0b").contains('\0'));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let ms = Duration::from_millis;
        assert_eq!(spread(&[ms(9), ms(1), ms(3)]), [ms(1), ms(3), ms(9)]);
        assert_eq!(readable(Duration::from_nanos(2100)), "2.10 µs");
        assert_eq!(readable(ms(1500)), "1.500 s");
    }
}
