//! Plans of small programs: what is copied, what is in place, what waits for what, and where outputs lie.

mod executor;

use monograph_compiler::schedule::plan_dot;
use monograph_compiler::{Options, compile, compile_timed, summary};
use monograph_ir::plan::{Plan, Region, Slot, Work};
use monograph_ir::text::parse;
use monograph_ir::{Error, Graph, Target};

fn graph(text: &str) -> Graph {
    parse(text, "test.mg").unwrap_or_else(|e| panic!("{e}"))
}

/// The plan of a program, checked against the interpreter.
fn plan_with(text: &str, fuse: bool) -> Plan {
    let graph = graph(text);
    let mut options = Options::default();
    options.fuse = fuse;
    let plan = compile(&graph, &Target::default(), &options).unwrap_or_else(|e| panic!("{e}"));
    executor::check(&graph, &plan, 1);
    plan
}

fn plan(text: &str) -> Plan {
    plan_with(text, true)
}

fn copies(plan: &Plan) -> usize {
    plan.launches.iter().filter(|l| matches!(l.work, Work::Copy { .. })).count()
}

fn region(plan: &Plan, slot: Slot) -> Region {
    plan.buffers[slot.buffer.index()].region
}

/// Whether two buffers share bytes.
fn overlap(plan: &Plan, a: Slot, b: Slot) -> bool {
    let (a, b) = (&plan.buffers[a.buffer.index()], &plan.buffers[b.buffer.index()]);
    a.region == b.region && a.offset < b.offset + b.size && b.offset < a.offset + a.size
}

fn slots(plan: &Plan, launch: usize) -> (Vec<Slot>, Vec<Slot>) {
    match &plan.launches[launch].work {
        Work::Kernel { reads, writes, .. } => (reads.clone(), writes.clone()),
        Work::Copy { source, target, .. } => (vec![*source], vec![*target]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_step_of_state_is_in_place() {
    let plan = plan(
        "graph @t(state %s: f32[1000]) {
           %one = constant 1.0 : f32[]
           %ones = broadcast %one {shape = [1000]}
           %next = add %s, %ones
           return state \"s\" = %next
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (1, 0));
    assert_eq!(plan.region_bytes(Region::Arena), 0);
    assert_eq!(plan.region_bytes(Region::States), 4000);
}

#[test]
fn a_transposed_state_is_not_in_place() {
    let plan = plan(
        "graph @t(state %s: f32[8, 8]) {
           %p = permute %s {axes = [1, 0]}
           %next = neg %p
           return state \"s\" = %next
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (2, 1));
}

#[test]
fn another_reader_of_the_old_state_goes_first_and_the_writer_waits_for_it() {
    let plan = plan(
        "graph @t(state %s: f32[100], %x: f32[1]) {
           %next = exp %s
           %sum = reduce_sum %s {axes = [0]} : f32[]
           return \"sum\" = %sum, state \"s\" = %next
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (2, 0));
    assert_eq!(plan.edges.len(), 1, "{:?}", plan.edges);
}

#[test]
fn a_reader_that_needs_the_new_state_too_forces_a_copy() {
    let plan = plan_with(
        "graph @t(state %s: f32[64]) {
           %next = exp %s
           %turned = reverse %s {axes = [0]}
           %both = add %next, %turned
           return \"both\" = %both, state \"s\" = %next
         }",
        false,
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (3, 1));
}

#[test]
fn states_that_change_places_go_through_scratch() {
    let plan = plan(
        "graph @t(state %a: f32[10], state %b: f32[10]) {
           return state \"a\" = %b, state \"b\" = %a
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (3, 3));
}

#[test]
fn three_states_in_a_ring_with_a_kernel_beside() {
    let plan = plan(
        "graph @t(state %a: f32[10], state %b: f32[10], state %c: f32[10], state %d: f32[10]) {
           %n = neg %a
           return state \"a\" = %b, state \"b\" = %c, state \"c\" = %a, state \"d\" = %n
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (5, 4));
}

#[test]
fn history_moves_on() {
    let plan = plan(
        "graph @t(state %now: f32[10], state %before: f32[10]) {
           %twice = add %now, %now
           %next = sub %twice, %before
           return \"next\" = %next, state \"now\" = %next, state \"before\" = %now
         }",
    );
    assert_eq!(copies(&plan), 2);
}

#[test]
fn an_old_state_that_is_returned_is_copied_first() {
    let plan = plan(
        "graph @t(state %s: f32[10], %x: f32[10]) {
           %next = add %s, %x
           return \"old\" = %s, \"old again\" = %s, state \"s\" = %next
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (2, 1));
    assert_eq!(region(&plan, plan.outputs[0].slot), Region::Arena);
    assert_eq!(plan.outputs[0].slot, plan.outputs[1].slot);
}

#[test]
fn a_state_that_stays_takes_nothing() {
    let plan = plan(
        "graph @t(state %s: f32[10], state %t: f32[10]) {
           %y = neg %t
           return \"s\" = %s, \"y\" = %y, state \"s\" = %s
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (1, 0));
    assert_eq!(region(&plan, plan.outputs[0].slot), Region::States);
}

#[test]
fn one_value_for_two_states_and_an_output() {
    let plan = plan(
        "graph @t(state %s: f32[10], state %t: f32[10], %x: f32[10]) {
           %y = exp %x
           return \"y\" = %y, state \"s\" = %y, state \"t\" = %y
         }",
    );
    assert_eq!((plan.launches.len(), copies(&plan)), (2, 1));
    assert_eq!(region(&plan, plan.outputs[0].slot), Region::States);
}

#[test]
fn a_state_that_becomes_an_input_or_a_constant_is_copied() {
    let plan = plan(
        "graph @t(state %s: f32[10], state %t: f32[10], %x: f32[10], constant %c: f32[10], bound %b: f32[10]) {
           return \"x\" = %x, \"c\" = %c, \"b\" = %b, state \"s\" = %x, state \"t\" = %c
         }",
    );
    // Two copies into the states, and one of the bound input, which moves with its caller's memory.
    assert_eq!((plan.launches.len(), copies(&plan)), (3, 3));
    let regions: Vec<Region> = plan.outputs.iter().map(|o| region(&plan, o.slot)).collect();
    assert_eq!(regions, [Region::Inputs, Region::Constants, Region::Arena]);
}

#[test]
fn no_output_takes_the_bytes_of_a_value_that_another_kernel_still_reads() {
    // `e` is as large as both results; fused, all is one kernel, so this is about the kernels one by one.
    let plan = plan_with(
        "graph @t(%x: f32[100]) {
           %e = exp %x
           %left = abs %e
           %right = neg %e
           return \"left\" = %left, \"right\" = %right
         }",
        false,
    );
    assert_eq!(plan.launches.len(), 3);
    let (_, e) = slots(&plan, 0);
    let (_, left) = slots(&plan, 1);
    let (_, right) = slots(&plan, 2);
    // Without an edge between the two, neither may write over what the other reads.
    assert_eq!(plan.edges.len(), 2);
    assert!(!overlap(&plan, e[0], left[0]) && !overlap(&plan, e[0], right[0]));
}

#[test]
fn a_chain_of_kernels_stays_in_the_same_bytes() {
    let plan = plan_with(
        "graph @t(%x: f32[1000]) {
           %a = exp %x
           %b = sin %a
           %c = exp %b
           %d = sqrt %c
           return \"d\" = %d
         }",
        false,
    );
    assert_eq!(plan.launches.len(), 4);
    assert_eq!(plan.region_bytes(Region::Arena), 4000);
    assert_eq!(plan.edges.len(), 3);
}

#[test]
fn a_reader_of_four_results_waits_for_all_of_them() {
    let plan = plan_with(
        "graph @t(%a: f32[4], %b: f32[4], %c: f32[4], %d: f32[4]) {
           %p = exp %a
           %q = exp %b
           %r = exp %c
           %s = exp %d
           %all = concat %p, %q, %r, %s {axis = 0}
           return \"all\" = %all
         }",
        false,
    );
    assert_eq!(plan.launches.len(), 5);
    assert_eq!(plan.kernels.len(), 2, "the four are one kernel");
    let mut waits: Vec<u32> = plan.edges.iter().filter(|e| e.to.0 == 4).map(|e| e.from.0).collect();
    waits.sort_unstable();
    assert_eq!(waits, [0, 1, 2, 3]);
}

#[test]
fn returned_views_and_duplicates() {
    let plan = plan(
        "graph @t(%x: f32[4, 8]) {
           %e = exp %x
           %flat = reshape %e {shape = [32]}
           %turned = permute %e {axes = [1, 0]}
           return \"e\" = %e, \"flat\" = %flat, \"turned\" = %turned, \"again\" = %e, probe \"e\" = %e
         }",
    );
    assert_eq!(plan.launches.len(), 2);
    assert_eq!(plan.outputs[0].slot, plan.outputs[1].slot);
    assert_eq!(plan.outputs[0].slot, plan.outputs[3].slot);
    assert_eq!(plan.outputs[0].slot, plan.probes[0].slot);
    assert!(!overlap(&plan, plan.outputs[0].slot, plan.outputs[2].slot));
}

#[test]
fn empty_results_launch_nothing() {
    let plan = plan(
        "graph @t(%x: f32[0, 8], %y: f32[8]) {
           %e = exp %x
           %s = reduce_sum %e {axes = [0]} : f32[8]
           %z = add %s, %y
           return \"e\" = %e, \"z\" = %z
         }",
    );
    assert_eq!(plan.launches.len(), 1);
}

#[test]
fn a_thousand_equal_kernels_are_one() {
    let mut text = String::from("graph @t(%x: f32[256], %v0: f32[256]) {\n");
    for i in 0..1000 {
        text += &format!("%v{} = add %v{i}, %x\n", i + 1);
    }
    text += "return \"y\" = %v1000 }";
    let plan = plan_with(&text, false);
    assert_eq!((plan.launches.len(), plan.kernels.len(), plan.programs.len()), (1000, 1, 1));
    assert_eq!(plan.edges.len(), 999);
    assert_eq!(plan.region_bytes(Region::Arena), 1024);
}

#[test]
fn the_same_graph_gives_the_same_plan() {
    use monograph_ir::testing::{self, random_graph};
    for seed in 0..10 {
        let graph = random_graph(seed, &testing::Options::default());
        let compiled = || compile(&graph, &Target::default(), &Options::default()).unwrap();
        assert_eq!(compiled(), compiled());
    }
}

#[test]
fn summary_and_picture_name_launches_bytes_and_places() {
    let graph = graph(
        "graph @step(state %s: f32[1000], %x: f32[1000]) {
           %next = add %s, %x
           return \"old\" = %s, state \"s\" = %next
         }",
    );
    let (plan, stages) = compile_timed(&graph, &Target::default(), &Options::default(), None).unwrap();
    let text = summary(&plan);
    assert!(text.contains("step: 2 launches (1 copies), 1 edges"), "{text}");
    assert!(text.contains("reads 8000 B, writes 4000 B  test.mg:2:"), "{text}");
    let dot = plan_dot(&plan);
    assert!(dot.contains("n0 -> n1"), "{dot}");
    assert!(dot.contains("copy old s.0") && dot.contains("test.mg:2:"), "{dot}");
    assert!(stages.0.iter().any(|s| s.name == "fuse") && stages.to_string().contains("total"));
}

#[test]
fn what_no_graph_can_hold_is_rejected() {
    let graph = graph("graph @t(%x: f32[4]) { %n = nonzero %x return \"n\" = %n }");
    let error = compile(&graph, &Target::default(), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error}");
}

#[test]
fn sharing_by_order_is_a_choice() {
    // A chain of large values with a sum beside each, which nothing else waits for.
    let mut text = String::from("graph @t(%v0: f32[600000]) {\n");
    for i in 1..=6 {
        text += &format!("%r{i} = reverse %v{} {{axes = [0]}}\n%v{i} = sin %r{i}\n", i - 1);
        text += &format!("%s{i} = reduce_sum %v{i} {{axes = [0]}} : f32[]\n");
    }
    text += "return %s1, %s2, %s3, %s4, %s5, %s6 }";
    let graph = graph(&text);
    let compiled = |order_for_memory| {
        let mut options = Options::default();
        options.fuse = false;
        options.order_for_memory = order_for_memory;
        compile(&graph, &Target::default(), &options).unwrap()
    };
    let (free, ordered) = (compiled(false), compiled(true));
    assert_eq!((free.launches.len(), free.edges.len()), (12, 11));
    let arena = |plan: &Plan| plan.region_bytes(Region::Arena) / 2_400_000;
    assert_eq!((arena(&free), arena(&ordered)), (6, 2));
    assert!(ordered.edges.len() > free.edges.len());
    executor::check(&graph, &ordered, 3);
}

#[test]
fn what_is_computed_over_a_returned_constant_waits_for_it() {
    // `%3` is small enough to be evaluated wherever it is needed, but it reads what another kernel writes.
    let graph = graph(
        "graph @t() {
           %0 = constant 2 : i64[]
           %1 = broadcast %0 {shape = [1, 2]}
           %2 = iota {axis = 1} : i64[1, 2]
           %3 = gt %1, %2
           %4 = cast %3 {dtype = i64}
           %5 = shl %2, %4
           %6 = or %5, %1
           %7 = mul %1, %6
           return \"a\" = %1, \"b\" = %4, \"c\" = %7
         }",
    );
    for (fuse, optimize) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut options = Options::default();
        (options.fuse, options.optimize) = (fuse, optimize);
        let plan = compile(&graph, &Target::default(), &options).unwrap_or_else(|e| panic!("{e}"));
        executor::check(&graph, &plan, 1);
    }
}
