//! `Device`: compiles traced programs for where they will run.

use crate::{Array, EmulatorOptions, Error, Executable, Form, HostOptions, Options, Program, Target};
use monograph_ir::plan::{Plan, PlanError, Value};
use monograph_ir::{Graph, OutputKind, ParamKind};
use std::fmt;

/// The host, the emulator, or one GPU. Cheap to clone; clones are the same device.
///
/// Executables of one device run in the order of their replays.
#[derive(Clone)]
pub struct Device(monograph_runtime::Device);

impl Device {
    /// The first CUDA device if it can be used, else the host. A log line (through `tracing`) says which and why;
    /// [`Device::describe`] says it too.
    ///
    /// # Errors
    /// None for now: the host is always there. A `Result`, so that a device that must be there can be asked for in
    /// the same way.
    pub fn best() -> Result<Device, Error> {
        Ok(Device(monograph_runtime::Device::best()))
    }

    /// The CUDA device of that number.
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Toolchain`] where there is no driver, no such device or no NVRTC, each with how
    /// to get it.
    pub fn cuda(number: u32) -> Result<Device, Error> {
        monograph_runtime::Device::cuda(number).map(Device)
    }

    /// The host: runs the same plans through the reference interpreter. Exact and slow.
    pub fn host() -> Device {
        Device(monograph_runtime::Device::host())
    }

    /// The host with choices that find wrong plans: shuffled launches, a poisoned arena.
    pub fn host_with(options: HostOptions) -> Device {
        Device(monograph_runtime::Device::host_with(options))
    }

    /// The emulator: executes the kernels' CUDA C++ on the CPU, and checks every access to memory: races, bounds, bytes
    /// that nobody wrote, barriers that not all threads reach. Slow; needs a C++ compiler, and no GPU. What is wrong
    /// with a kernel is an [`Error::Finding`] of the replay, and says where.
    ///
    /// Compiled kernels are kept in the user's cache, as those for a GPU are.
    ///
    /// ```no_run
    /// // Not run as a test, because it needs a C++ compiler.
    /// use monograph::prelude::*;
    ///
    /// let program = trace(|x| (x * 2.0).relu(), f32::spec([3]))?;
    /// let mut exe = Device::emulated()?.compile(&program)?;
    /// let y = exe.replay(&Array::from_slice([3], &[1.0f32, -2.0, 3.0])?)?;
    /// assert_eq!(y.to_vec::<f32>()?, [2.0, 0.0, 6.0]);
    /// # Ok::<(), monograph::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Toolchain`] where there is no C++ compiler, with how to get one; [`Error::Device`] on a machine that the
    /// emulator does not know; [`Error::Io`] where the cache's folder cannot be made.
    pub fn emulated() -> Result<Device, Error> {
        monograph_runtime::Device::emulated().map(Device)
    }

    /// The emulator with choices: the order of threads and launches, without checks, another time limit.
    ///
    /// # Errors
    /// As [`Device::emulated`].
    pub fn emulated_with(options: EmulatorOptions) -> Result<Device, Error> {
        monograph_runtime::Device::emulated_with(options).map(Device)
    }

    /// Compiles a program with the default options and loads it: plans all memory, generates and compiles the
    /// kernels, builds the graph, moves constants and state onto the device.
    ///
    /// # Errors
    /// [`Error::Toolchain`] where NVRTC is missing or refuses a kernel, [`Error::TooManyNodes`] for a program too
    /// large for one graph, [`Error::Device`] where the device refuses.
    pub fn compile<S, I, O: Form>(&self, program: &Program<S, I, O>) -> Result<Executable<S, I, O>, Error> {
        self.compile_with(program, &Options::default())
    }

    /// [`Device::compile`] with options.
    ///
    /// # Errors
    /// As [`Device::compile`].
    pub fn compile_with<S, I, O: Form>(
        &self,
        program: &Program<S, I, O>,
        options: &Options,
    ) -> Result<Executable<S, I, O>, Error> {
        let plan = monograph_compiler::compile(program.graph(), &self.target(), options)?;
        self.load(program, plan)
    }

    /// Loads a plan that was compiled from this program before. The plan is verified anew.
    ///
    /// # Errors
    /// [`Error::Plan`] for a plan that is not sound or belongs to another program, otherwise as [`Device::compile`].
    pub fn load<S, I, O: Form>(&self, program: &Program<S, I, O>, plan: Plan) -> Result<Executable<S, I, O>, Error> {
        belongs(&plan, program.graph())?;
        let inner = self.0.load(plan, program.constants(), program.initial())?;
        Ok(Executable::new(inner, program))
    }

    /// A copy of an array in the device's memory, as inputs declared [`bound`](crate::Spec::bound) need it.
    ///
    /// # Errors
    /// [`Error::Device`] where there is not enough memory.
    pub fn upload(&self, array: &Array) -> Result<Array, Error> {
        self.0.upload(array)
    }

    /// What code for this device is generated for.
    pub fn target(&self) -> Target {
        self.0.target()
    }

    /// Where arrays of this device lie: `host`, `emulated`, `cuda:0`.
    pub fn place(&self) -> String {
        self.0.place()
    }

    /// The name for people: `NVIDIA H200 (cuda:0, sm_90a)`.
    pub fn describe(&self) -> String {
        self.0.describe()
    }

    /// Whether it is the host.
    pub fn is_host(&self) -> bool {
        self.0.is_host()
    }

    /// Whether it is the emulator.
    pub fn is_emulated(&self) -> bool {
        self.0.is_emulated()
    }
}

/// Refuses a plan whose tables are not those of the program.
fn belongs(plan: &Plan, graph: &Graph) -> Result<(), Error> {
    let of_plan = |values: &[Value]| values.iter().map(|v| (v.name.clone(), v.spec.clone())).collect::<Vec<_>>();
    let of_graph = |kind: OutputKind| {
        let outputs = graph.outputs().iter().filter(move |o| o.kind == kind);
        outputs.map(|o| (o.name.clone(), graph.spec(o.value).clone())).collect::<Vec<_>>()
    };
    let params = |wanted: fn(&ParamKind) -> bool| {
        let params = graph.params().iter().filter(move |p| wanted(&p.kind));
        params.map(|p| (p.name.clone(), p.spec.clone())).collect::<Vec<_>>()
    };
    let inputs: Vec<_> = plan.inputs.iter().map(|i| (i.name.clone(), i.spec.clone())).collect();
    let states: Vec<_> = plan.states.iter().map(|s| (s.name.clone(), s.spec.clone())).collect();
    let constants: Vec<_> = plan.constants.iter().map(|c| (c.name.clone(), c.spec.clone())).collect();
    let same = [
        ("inputs", inputs == params(|k| matches!(k, ParamKind::Input(_)))),
        ("states", states == params(|k| matches!(k, ParamKind::State))),
        ("constants", constants == params(|k| matches!(k, ParamKind::Constant))),
        ("outputs", of_plan(&plan.outputs) == of_graph(OutputKind::Result)),
        ("probes", of_plan(&plan.probes) == of_graph(OutputKind::Probe)),
    ];
    match same.iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((what, _)) => Err(Error::Plan(PlanError {
            launches: Vec::new(),
            message: format!("its {what} are not those of the program, so it was compiled from another one"),
        })),
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
