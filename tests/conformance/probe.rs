//! Probes: small kernels written by hand, each a launch of one plan, so that the same text runs on every device.

use monograph::ir::interp::Tensor;
use monograph::ir::plan::{
    ALIGNMENT, Access, Buffer, BufferId, DeviceId, IndexMap, Input, Kernel, KernelId, Launch, PLAN_VERSION, Plan,
    Program, ProgramId, Region, Slot, Value, Variant, Work,
};
use monograph::ir::{Graph, Literal, Op, Origin, OutputKind, ParamKind};
use monograph::{Array, Binding, DType, Source, Spec};
use monograph_compiler::codegen::{NVRTC_OPTIONS, prelude, storage};
use monograph_runtime::Device;

/// How close two devices must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Bound {
    /// Equal bits, any NaN for any NaN.
    Exact,
    /// So many units in the last place: functions that each device approximates in its own way.
    Ulps(f64),
}

/// A kernel.
pub(crate) struct Probe {
    name: String,
    text: String,
    /// Which inputs of the set it reads, as `x0`, `x1`, ….
    reads: Vec<usize>,
    /// What it writes, as `y0`.
    write: Spec,
    grid: u32,
    block: u32,
    bound: Bound,
}

/// Probes that share inputs and a program.
pub(crate) struct Set {
    name: &'static str,
    inputs: Vec<Tensor>,
    probes: Vec<Probe>,
}

impl Set {
    pub(crate) fn new(name: &'static str, inputs: Vec<Tensor>) -> Set {
        Set { name, inputs, probes: Vec::new() }
    }

    /// A kernel in which thread `i` computes element `i` of the output by an expression over `a`, `b`, `c`: the elements
    /// of the inputs as they are held in registers.
    pub(crate) fn each(&mut self, reads: &[usize], result: DType, expression: &str, bound: Bound) {
        let extent = self.inputs[reads[0]].spec().shape.size();
        let mut text = format!("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= {extent}) return;\n");
        for (number, (&read, letter)) in reads.iter().zip(["a", "b", "c"]).enumerate() {
            let element = match self.inputs[read].spec().dtype {
                DType::F16 => format!("float {letter} = mg_from_f16(x{number}[i])"),
                DType::BF16 => format!("float {letter} = mg_from_bf16(x{number}[i])"),
                DType::Bool => format!("bool {letter} = x{number}[i] != 0"),
                dtype => format!("{} {letter} = x{number}[i]", storage(dtype)),
            };
            text += &format!("    {element};\n");
        }
        text += &format!("    y0[i] = {expression};\n");
        self.kernel(reads, Spec::new(result, [extent]), [extent.div_ceil(256) as u32, 256], &text, bound);
    }

    /// A kernel of these statements, for so many blocks of so many threads.
    pub(crate) fn kernel(
        &mut self,
        reads: &[usize],
        write: Spec,
        [grid, block]: [u32; 2],
        statements: &str,
        bound: Bound,
    ) {
        let name = format!("{}_{}", self.name, self.probes.len());
        let parameters = reads.iter().enumerate();
        let parameters = parameters.map(|(i, &r)| format!("const {}* x{i}", storage(self.inputs[r].spec().dtype)));
        let parameters: Vec<String> = parameters.chain([format!("{}* y0", storage(write.dtype))]).collect();
        let parameters = parameters.join(", ");
        let text = format!("extern \"C\" __global__ void {name}({parameters}) {{\n{statements}}}\n");
        self.probes.push(Probe { name, text, reads: reads.to_vec(), write, grid, block, bound });
    }

    /// The text of all probes.
    pub(crate) fn text(&self) -> String {
        self.probes.iter().map(|p| p.text.as_str()).collect()
    }

    fn plan(&self, device: &Device) -> Plan {
        let mut plan = Plan {
            version: PLAN_VERSION,
            name: self.name.into(),
            target: device.target(),
            buffers: Vec::new(),
            programs: vec![Program {
                name: self.name.into(),
                source: format!("{}{}", prelude(), self.text()),
                options: NVRTC_OPTIONS.iter().map(ToString::to_string).collect(),
                cubin: None,
            }],
            kernels: Vec::new(),
            launches: Vec::new(),
            edges: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            states: Vec::new(),
            constants: Vec::new(),
            probes: Vec::new(),
        };
        let mut ends = [0, 0];
        let mut buffer = |buffers: &mut Vec<Buffer>, region: Region, spec: &Spec| {
            let size = spec.bytes().expect("a probe is small");
            let end = &mut ends[usize::from(region == Region::Arena)];
            buffers.push(Buffer { device: DeviceId(0), region, offset: *end, size, alignment: ALIGNMENT });
            *end = (*end + size).next_multiple_of(ALIGNMENT);
            BufferId(buffers.len() as u32 - 1)
        };
        for (i, input) in self.inputs.iter().enumerate() {
            let spec = input.spec().clone();
            let buffer = buffer(&mut plan.buffers, Region::Inputs, &spec);
            plan.inputs.push(Input { name: format!("x{i}"), spec, binding: Binding::Copied, buffer });
        }
        for (i, probe) in self.probes.iter().enumerate() {
            let slot = Slot { buffer: buffer(&mut plan.buffers, Region::Arena, &probe.write), offset: 0 };
            let read = |&r: &usize| Slot { buffer: plan.inputs[r].buffer, offset: 0 };
            let work = Work::Kernel {
                kernel: KernelId(i as u32),
                reads: probe.reads.iter().map(read).collect(),
                writes: vec![slot],
            };
            plan.launches.push(Launch { name: probe.name.clone(), device: DeviceId(0), work, origins: Vec::new() });
            plan.outputs.push(Value { name: format!("y{i}"), spec: probe.write.clone(), slot });
            plan.kernels.push(self.kernel_of(probe));
        }
        plan
    }

    /// The kernel of a probe. Its body has the right parameters and result; no device interprets it here.
    fn kernel_of(&self, probe: &Probe) -> Kernel {
        let mut body = Graph::new(&*probe.name);
        let access = |spec: &Spec| Access { spec: spec.clone(), map: IndexMap::Any };
        let specs: Vec<&Spec> = probe.reads.iter().map(|&r| self.inputs[r].spec()).collect();
        for (i, spec) in specs.iter().enumerate() {
            let kind = ParamKind::Input(Binding::Copied);
            body.parameter(format!("x{i}"), (*spec).clone(), kind, Origin::Unknown);
        }
        let zero = Op::Constant(Literal::zero(probe.write.dtype));
        let zero = body.apply(zero, &[], Origin::Unknown).expect("a constant");
        let spread = Op::Broadcast(probe.write.shape.clone());
        let result = body.apply(spread, &[zero], Origin::Unknown).expect("a scalar is broadcast to any shape");
        body.output("y0", result, OutputKind::Result);
        Kernel {
            name: probe.name.clone(),
            body,
            domain: probe.write.shape.clone(),
            reads: specs.into_iter().map(access).collect(),
            writes: vec![access(&probe.write)],
            variants: vec![Variant {
                program: ProgramId(0),
                symbol: probe.name.clone(),
                grid: [probe.grid, 1, 1],
                block: [probe.block, 1, 1],
                shared: 0,
            }],
        }
    }

    /// What each probe writes on a device.
    fn run(&self, device: &Device) -> Vec<Tensor> {
        let failed = |e: monograph::Error| -> ! { panic!("{} on {}: {e}", self.name, device.describe()) };
        let mut exe = device.load(self.plan(device), &[], &[]).unwrap_or_else(|e| failed(e));
        let tensor = |a: &Array| Tensor::from_bytes(a.spec().clone(), &a.bytes().expect("it lies on the host"));
        let array = |t: &Tensor| Array::from_bytes(t.spec().clone(), t.bytes()).expect("as many bytes as it has");
        let inputs: Vec<Array> = self.inputs.iter().map(array).collect();
        let sources: Vec<Source> = inputs.iter().map(Source::Array).collect();
        exe.replay(&sources).unwrap_or_else(|e| failed(e));
        let output = |i| exe.output(i).to_array().unwrap_or_else(|e| failed(e));
        (0..self.probes.len()).map(|i| tensor(&output(i)).expect("as many bytes as it has")).collect()
    }

    /// Runs all probes on the devices; each must agree with the first.
    pub(crate) fn agree(&self, devices: &[Device]) {
        let Some((first, others)) = devices.split_first() else { return };
        let expected = self.run(first);
        for device in others {
            // Two emulations differ in schedule alone.
            let alike = device.place() == first.place();
            for ((probe, expected), found) in self.probes.iter().zip(&expected).zip(&self.run(device)) {
                let bound = if alike { Bound::Exact } else { probe.bound };
                let what = format!("{} against {}", device.describe(), first.describe());
                compare(&what, probe, &self.inputs, expected, found, bound);
            }
        }
    }
}

fn compare(what: &str, probe: &Probe, inputs: &[Tensor], expected: &Tensor, found: &Tensor, bound: Bound) {
    let dtype = expected.spec().dtype;
    let size = dtype.size();
    let unit = if dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let smallest = if dtype == DType::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
    for (i, (a, b)) in expected.bytes().chunks(size).zip(found.bytes().chunks(size)).enumerate() {
        let (x, y) = (expected.get_f64(i).unwrap_or(0.0), found.get_f64(i).unwrap_or(0.0));
        let close = match bound {
            _ if a == b => true,
            _ if !dtype.is_float() => false,
            _ if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
            Bound::Exact => false,
            Bound::Ulps(n) => (x - y).abs() <= n * unit * x.abs().max(smallest),
        };
        let operands: Vec<_> = probe.reads.iter().map(|&r| inputs[r].get_f64(i)).collect();
        assert!(
            close,
            "{what}: element {i} of operands {operands:?} is {y:e} {b:x?}, not {x:e} {a:x?}\n{}",
            probe.text
        );
    }
}
