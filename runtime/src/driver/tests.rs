//! Tests on a real device. Without one they say that they were skipped; `MONOGRAPH_REQUIRE_CUDA=1` makes that fail.

use std::sync::Arc;

use super::*;
use crate::nvrtc::{CompileRequest, Nvrtc};

/// The first device, or `None` where there is none and none is required.
fn device() -> Option<Arc<Context>> {
    match Context::new(0) {
        Ok(context) => Some(context),
        Err(error) if std::env::var_os("MONOGRAPH_REQUIRE_CUDA").is_some_and(|v| v == "1") => panic!("{error}"),
        Err(error) => {
            println!("skipped: no CUDA device: {error}");
            None
        }
    }
}

const SOURCE: &str = r#"
extern "C" __global__ void times_two_plus(const int* a, const int* b, int* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = 2 * a[i] + b[i];
}
struct Big { int x[20]; };
extern "C" __global__ void by_value(int* out, Big big, char last) {
    extern __shared__ int s[];
    s[threadIdx.x] = big.x[threadIdx.x % 20] + last;
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}"#;

fn module(context: &Arc<Context>) -> Arc<Module> {
    let nvrtc = Nvrtc::find().expect("a machine with a device has NVRTC too");
    let arch = context.info().arch();
    let compiled = nvrtc.compile(&CompileRequest::new("tests.cu", SOURCE, &arch)).unwrap();
    Module::load(context, &compiled.image).unwrap()
}

const N: usize = 256;

fn upload(memory: &DeviceMemory, values: &[i32], stream: &Stream) {
    memory.write(0, bytemuck::cast_slice(values), stream).unwrap();
}

fn download(memory: &DeviceMemory, stream: &Stream) -> Vec<i32> {
    let mut values = vec![0; memory.bytes() / 4];
    memory.read(0, bytemuck::cast_slice_mut(&mut values), stream).unwrap();
    values
}

fn memories<const K: usize>(context: &Arc<Context>) -> [DeviceMemory; K] {
    std::array::from_fn(|_| DeviceMemory::new(context, N * 4).unwrap())
}

#[test]
fn the_device_is_described() {
    let Some(context) = device() else { return };
    let info = context.info();
    assert!(!info.name.is_empty() && info.compute_capability.0 >= 7, "{info:?}");
    assert!(info.sm_count > 0 && info.l2_bytes > 0 && info.shared_per_block >= 48 << 10, "{info:?}");
    assert_eq!(info.max_grid[0], i32::MAX as u32);
    let free = context.free_memory().unwrap();
    assert!(0 < free && free <= info.total_memory);
    let count = device_count().unwrap();
    let error = Context::new(count).unwrap_err();
    assert_eq!(error, DriverError::NoSuchDevice { ordinal: count, count });
}

#[test]
fn bytes_survive_every_kind_of_copy() {
    let Some(context) = device() else { return };
    let stream = Stream::new(&context).unwrap();
    let [a, b] = memories(&context);
    let values: Vec<i32> = (0..N as i32).map(|i| i * 7 - 3).collect();
    upload(&a, &values, &stream);
    assert_eq!(download(&a, &stream), values);

    b.poison_async(0xcd, &stream).unwrap();
    b.copy_async(8, &a, 4, 12, &stream).unwrap();
    let poison = i32::from_ne_bytes([0xcd; 4]);
    let copied = download(&b, &stream);
    assert_eq!(copied[..6], [poison, poison, values[1], values[2], values[3], poison]);

    let mut pinned = PinnedMemory::new(&context, 16).unwrap();
    assert_eq!(pinned.as_slice(), [0; 16]);
    pinned.as_mut_slice().copy_from_slice(bytemuck::cast_slice(&[1_i32, 2, 3, 4]));
    a.write_async(0, &pinned, 4, 8, &stream).unwrap();
    stream.synchronize().unwrap();
    a.read_async(0, &pinned, 0, 16, &stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(bytemuck::cast_slice::<u8, i32>(pinned.as_slice()), [2, 3, values[2], values[3]]);
    assert_ne!(pinned.device_pointer(), 0);
}

#[test]
fn a_copy_past_the_end_is_refused() {
    let Some(context) = device() else { return };
    let stream = Stream::new(&context).unwrap();
    let [a, b] = memories(&context);
    let refused = |result: Result<(), DriverError>| assert!(matches!(result, Err(DriverError::OutOfBounds { .. })));
    refused(a.write(N * 4 - 3, &[0; 4], &stream));
    refused(a.read(usize::MAX, &mut [0; 4], &stream));
    refused(a.copy_async(0, &b, N * 4, 1, &stream));
    let pinned = PinnedMemory::new(&context, 4).unwrap();
    refused(a.write_async(0, &pinned, 1, 4, &stream));
    refused(a.read_async(0, &pinned, 0, 5, &stream));
    let nothing = DeviceMemory::new(&context, 0).unwrap();
    assert_eq!((nothing.pointer(), nothing.bytes()), (0, 0));
    nothing.write(0, &[], &stream).unwrap();
}

#[test]
fn a_module_knows_its_kernels() {
    let Some(context) = device() else { return };
    let module = module(&context);
    let function = module.function("by_value").unwrap();
    assert_eq!(function.parameter_bytes(), [8, 80, 1]);
    assert_eq!(function.attributes().static_shared_bytes, 0);
    assert!(function.attributes().registers > 0);
    assert!(function.blocks_per_sm(256, 0).unwrap() >= 1);
    let most = context.info().shared_per_block;
    function.allow_dynamic_shared(most).unwrap();
    function.allow_dynamic_shared(1024).unwrap();
    assert_eq!(function.blocks_per_sm(256, most).unwrap(), 1, "the larger amount is still allowed");
    let error = module.function("no_such_kernel").unwrap_err();
    assert!(error.to_string().contains("CUDA_ERROR_NOT_FOUND"), "{error}");
    assert!(Module::load(&context, b"not a module").is_err());
}

/// `c = 2(2(2a + b) + b) + b`, kernel after kernel, through memories 2, 3 and 4.
fn chain(context: &Arc<Context>, m: &[DeviceMemory; 5]) -> (Graph, [NodeId; 3]) {
    let function = module(context).function("times_two_plus").unwrap();
    let mut graph = Graph::new(context).unwrap();
    let nodes = [(0, 2), (2, 3), (3, 4)].map(|(from, to)| {
        let args = KernelArgs::pointers(&[m[from].pointer(), m[1].pointer(), m[to].pointer()]);
        let (grid, block) = ([N as u32 / 64, 1, 1], [64, 1, 1]);
        graph.add_kernel(KernelNode { function: function.clone(), grid, block, shared_bytes: 0, args }).unwrap()
    });
    graph.add_edges(&[Edge::plain(nodes[0], nodes[1]), Edge::plain(nodes[1], nodes[2])]).unwrap();
    (graph, nodes)
}

#[test]
fn a_chain_of_kernels_runs_and_takes_new_arguments() {
    let Some(context) = device() else { return };
    let stream = Stream::new(&context).unwrap();
    let m: [DeviceMemory; 5] = memories(&context);
    let other = DeviceMemory::new(&context, N * 4).unwrap();
    upload(&m[1], &[5; N], &stream);
    let (graph, nodes) = chain(&context, &m);
    let mut exec = graph.instantiate().unwrap();
    exec.upload(&stream).unwrap();
    let expected = |a: i32| vec![8 * a + 7 * 5; N];
    for a in [1, -4, 100] {
        upload(&m[0], &[a; N], &stream);
        exec.launch(&stream).unwrap();
        assert_eq!(download(&m[4], &stream), expected(a));
    }

    upload(&other, &[1000; N], &stream);
    let args = KernelArgs::pointers(&[other.pointer(), m[1].pointer(), m[2].pointer()]);
    exec.set_kernel_args(nodes[0], &args).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(download(&m[4], &stream), expected(1000));

    let error = exec.set_kernel_args(nodes[0], &KernelArgs::pointers(&[1])).unwrap_err();
    let wrong = DriverError::Arguments { kernel: "times_two_plus".into(), expected: vec![8; 3], given: vec![8] };
    assert_eq!(error, wrong);
    exec.launch(&stream).unwrap();
    assert_eq!(download(&m[4], &stream), expected(1000), "a refused update changes nothing");
}

#[test]
fn a_graph_is_read_back_as_it_was_built() {
    let Some(context) = device() else { return };
    let m: [DeviceMemory; 5] = memories(&context);
    let (mut graph, nodes) = chain(&context, &m);
    let copy = Memcpy { target: m[0].pointer() + 16, source: m[4].pointer(), bytes: 32 };
    let copied = graph.add_memcpy(copy).unwrap();
    let empty = graph.add_empty().unwrap();
    let event = graph.add_event(&Arc::new(Event::timed(&context).unwrap())).unwrap();
    let more = [Edge::plain(nodes[2], copied), Edge::plain(copied, empty), Edge::plain(empty, event)];
    graph.add_edges(&more).unwrap();

    let views = graph.read_nodes().unwrap();
    assert_eq!(views.iter().map(|(n, _)| n.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    let bytes = |i: usize| m[i].pointer().to_ne_bytes().to_vec();
    for (node, from, to) in [(0, 0, 2), (1, 2, 3), (2, 3, 4)] {
        let expected = NodeView::Kernel {
            symbol: "times_two_plus".into(),
            grid: [N as u32 / 64, 1, 1],
            block: [64, 1, 1],
            shared_bytes: 0,
            args: vec![bytes(from), bytes(1), bytes(to)],
        };
        assert_eq!(views[node].1, expected);
    }
    assert_eq!(views[3].1, NodeView::Memcpy(copy));
    assert_eq!((&views[4].1, &views[5].1), (&NodeView::Empty, &NodeView::Event));
    let first = [Edge::plain(nodes[0], nodes[1]), Edge::plain(nodes[1], nodes[2])];
    assert_eq!(graph.read_edges().unwrap(), [&first[..], &more[..]].concat());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    graph.write_dot(&file).unwrap();
    let dot = std::fs::read_to_string(file).unwrap();
    assert!(dot.contains("digraph") && dot.contains("times_two_plus"), "{dot}");

    let foreign = Edge::plain(NodeId(0), NodeId(99));
    assert!(matches!(graph.add_edges(&[foreign]), Err(DriverError::WrongNode { node: 99, .. })));
}

#[test]
fn a_programmatic_edge_keeps_its_port_and_kind() {
    let Some(context) = device() else { return };
    let m: [DeviceMemory; 5] = memories(&context);
    let function = module(&context).function("times_two_plus").unwrap();
    let mut graph = Graph::new(&context).unwrap();
    let args = KernelArgs::pointers(&[m[0].pointer(), m[1].pointer(), m[2].pointer()]);
    let kernel = KernelNode { function, grid: [1, 1, 1], block: [64, 1, 1], shared_bytes: 0, args };
    let (a, b) = (graph.add_kernel(kernel.clone()).unwrap(), graph.add_kernel(kernel).unwrap());
    graph.add_edges(&[Edge::programmatic(a, b)]).unwrap();
    assert_eq!(graph.read_edges().unwrap(), [Edge { from: a, to: b, from_port: 1, to_port: 0, kind: 1 }]);
    graph.instantiate().unwrap();
}

#[test]
fn arguments_of_any_size_and_dynamic_shared_memory_reach_the_kernel() {
    let Some(context) = device() else { return };
    let stream = Stream::new(&context).unwrap();
    let out = DeviceMemory::new(&context, 64 * 4).unwrap();
    let big: [i32; 20] = std::array::from_fn(|i| 10 * i as i32);
    let mut args = KernelArgs::pointers(&[out.pointer()]);
    args.push_bytes(bytemuck::cast_slice(&big));
    args.push_bytes(&[7]);
    let function = module(&context).function("by_value").unwrap();
    let mut graph = Graph::new(&context).unwrap();
    // More than the 48 KiB that need no opting in.
    let kernel = KernelNode { function, grid: [1, 1, 1], block: [64, 1, 1], shared_bytes: 64 << 10, args };
    graph.add_kernel(kernel).unwrap();
    graph.instantiate().unwrap().launch(&stream).unwrap();
    let expected: Vec<i32> = (0..64).map(|i| big[(63 - i) % 20] + 7).collect();
    assert_eq!(download(&out, &stream), expected);
}

#[test]
fn a_copy_node_copies_and_takes_new_addresses() {
    let Some(context) = device() else { return };
    let stream = Stream::new(&context).unwrap();
    let [a, b, c] = memories(&context);
    upload(&a, &[1; N], &stream);
    upload(&b, &[2; N], &stream);
    let mut graph = Graph::new(&context).unwrap();
    let node = graph.add_memcpy(Memcpy { target: c.pointer(), source: a.pointer(), bytes: N * 4 }).unwrap();
    let mut exec = graph.instantiate().unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(download(&c, &stream), [1; N]);
    exec.set_memcpy(node, Memcpy { target: c.pointer(), source: b.pointer(), bytes: N * 4 }).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(download(&c, &stream), [2; N]);
    let error = exec.set_kernel_args(node, &KernelArgs::default()).unwrap_err();
    assert!(matches!(error, DriverError::WrongNode { wanted: "a kernel", .. }));
}

#[test]
fn events_order_streams_and_measure_time() {
    let Some(context) = device() else { return };
    let (one, two) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let [a, b] = memories(&context);
    let (start, end) = (Event::timed(&context).unwrap(), Event::timed(&context).unwrap());
    start.record(&one).unwrap();
    a.poison_async(1, &one).unwrap();
    end.record(&one).unwrap();
    two.wait(&end).unwrap();
    b.copy_async(0, &a, 0, N * 4, &two).unwrap();
    two.synchronize().unwrap();
    assert!(end.is_done().unwrap() && two.is_done().unwrap());
    let ms = end.elapsed_ms(&start).unwrap();
    assert!((0.0..1000.0).contains(&ms), "{ms}");
    assert_eq!(download(&b, &two), [0x0101_0101; N]);
}

#[test]
fn planned_faults_strike_and_leave_the_device_well() {
    let Some(context) = device() else { return };
    // A context of its own to plan on: faults never reach another `Context` of the same device.
    let neighbour = Context::new(0).unwrap();
    context.inject_fault(Fault { call: "cuMemAlloc_v2", skip: 0, times: 1, code: FaultCode::OutOfMemory });
    DeviceMemory::new(&neighbour, 16).unwrap();
    let error = DeviceMemory::new(&context, 16).unwrap_err();
    assert!(error.is_out_of_memory() && !error.is_device_lost(), "{error}");
    assert!(error.to_string().contains("CUDA_ERROR_OUT_OF_MEMORY (2)"), "{error}");
    DeviceMemory::new(&context, 16).unwrap();

    let m: [DeviceMemory; 5] = memories(&context);
    let (graph, _) = chain(&context, &m);
    let out_of_memory = Fault { call: "cuGraphInstantiateWithParams", skip: 0, times: 1, code: FaultCode::OutOfMemory };
    context.inject_fault(out_of_memory);
    let failed = graph.instantiate().unwrap_err();
    assert!(failed.error.is_out_of_memory());
    let exec = failed.graph.instantiate().unwrap();

    let stream = Stream::new(&context).unwrap();
    context.record_calls();
    exec.launch(&stream).unwrap();
    assert_eq!(context.recorded_calls(), ["cuGraphLaunch"]);
    stream.synchronize().unwrap();
}

#[test]
fn objects_may_be_used_and_dropped_on_another_thread() {
    let Some(context) = device() else { return };
    let m: [DeviceMemory; 5] = memories(&context);
    let stream = Stream::new(&context).unwrap();
    upload(&m[0], &[1; N], &stream);
    upload(&m[1], &[1; N], &stream);
    let (graph, _) = chain(&context, &m);
    let exec = graph.instantiate().unwrap();
    let result = std::thread::spawn(move || {
        exec.launch(&stream).unwrap();
        download(&m[4], &stream)
    });
    assert_eq!(result.join().unwrap(), [15; N]);
}
