//! What is fused with convolutions and poolings.

use monograph_compiler::codegen::{Family, supported};
use monograph_compiler::fuse::{Group, fuse};
use monograph_compiler::trace::{Conv, Pool, Tensor, trace};
use monograph_compiler::{Options, passes};
use monograph_ir::{Element, Spec};

/// The groups that a function over tensors of these shapes becomes.
fn groups(shapes: &[&[usize]], f: impl FnOnce(&[Tensor]) -> Tensor) -> Vec<Group> {
    let specs: Vec<Spec> = shapes.iter().map(|&s| Spec::new(f32::DTYPE, s)).collect();
    let program = trace(|inputs: Vec<Tensor>| f(&inputs), &specs).unwrap_or_else(|e| panic!("{e}"));
    let graph = passes::optimize(program.graph(), &Options::default()).expect("it optimizes");
    fuse(&graph, &Options::default())
}

fn families(groups: &[Group]) -> Vec<Family> {
    groups.iter().map(|g| supported(&g.body).expect("a group has code")).collect()
}

#[test]
fn bias_residual_and_activation_are_a_convolutions_epilogue() {
    let shapes = [&[2, 4, 8, 8][..], &[6, 4, 3, 3], &[6, 1, 1], &[2, 6, 8, 8]];
    let groups = groups(&shapes, |t| (t[0].conv2d(t[1], &Conv::new().padding(1)) + t[2] + t[3]).relu());
    assert_eq!(families(&groups), [Family::Convolution]);
    assert_eq!(groups[0].inputs.len(), 4);
}

#[test]
fn an_activation_before_is_its_prologue_where_nothing_else_reads_it() {
    let shapes = [&[2, 4, 8][..], &[6, 4, 3]];
    let alone = groups(&shapes, |t| t[0].relu().conv1d(t[1], &Conv::new()));
    assert_eq!(families(&alone), [Family::Convolution]);
    let dear = groups(&shapes, |t| t[0].exp().conv1d(t[1], &Conv::new()));
    assert_eq!(families(&dear), [Family::Pointwise, Family::Convolution]);
}

#[test]
fn gradients_read_through_their_views() {
    let shapes = [&[2, 6, 8, 8][..], &[6, 4, 3, 3]];
    let input = groups(&shapes, |t| t[0].conv_input_gradient(t[1], &[8, 8], &Conv::new().padding(1)));
    assert_eq!(families(&input), [Family::Convolution]);
    let shapes = [&[2, 4, 8, 8][..], &[2, 6, 8, 8]];
    let kernel = groups(&shapes, |t| t[0].conv_weight_gradient(t[1], &[3, 3], &Conv::new().padding(1)));
    // The result is written once more, with its first two dimensions exchanged.
    assert_eq!(families(&kernel), [Family::Convolution, Family::Pointwise]);
}

#[test]
fn a_pooling_is_a_kernel_of_its_own() {
    let shapes = [&[2, 4, 8, 8][..], &[6, 4, 3, 3]];
    let groups = groups(&shapes, |t| {
        let y = t[0].conv2d(t[1], &Conv::new().padding(1)).relu().max_pool2d(&Pool::new(2));
        y * y
    });
    assert_eq!(families(&groups), [Family::Convolution, Family::Windows]);
}

#[test]
fn an_average_divides_in_its_epilogue() {
    let pool = Pool::new(3).stride(2);
    let whole = groups(&[&[2, 4, 9, 9]], |t| t[0].avg_pool2d(&pool));
    assert_eq!(families(&whole), [Family::Windows]);
}
