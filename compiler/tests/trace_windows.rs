//! Convolutions and poolings as users write them: what they record, and what is said of a wrong use.

use monograph_compiler::trace::{Conv, Pool, Tensor, trace};
use monograph_ir::{Element, Error, Op, Spec};

/// The messages and helps of a rejected trace over tensors of these specs.
#[track_caller]
fn rejected(specs: &[Spec], f: impl FnOnce(&[Tensor]) -> Tensor) -> String {
    match trace(|inputs: Vec<Tensor>| f(&inputs), &specs.to_vec()) {
        Err(Error::Rejected(diagnostics)) => {
            assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
            let diagnostic = &diagnostics[0];
            assert!(diagnostic.origin.to_string().contains("trace_windows.rs"), "{}", diagnostic.origin);
            format!("{} | {}", diagnostic.message, diagnostic.help.join(" | "))
        }
        Err(other) => panic!("{other}"),
        Ok(program) => panic!("it is taken: {}", program.graph()),
    }
}

/// The spec of the result of a function over tensors of these specs.
#[track_caller]
fn result(specs: &[Spec], f: impl FnOnce(&[Tensor]) -> Tensor) -> String {
    let program = trace(|inputs: Vec<Tensor>| f(&inputs), &specs.to_vec()).unwrap_or_else(|e| panic!("{e}"));
    program.output_form().to_string()
}

fn f(shape: &[usize]) -> Spec {
    Spec::new(f32::DTYPE, shape)
}

#[test]
fn extents_of_results() {
    let specs = [f(&[2, 4, 15, 15]), f(&[6, 4, 3, 3])];
    let conv = |options: Conv| result(&specs, |t| t[0].conv2d(t[1], &options));
    assert_eq!(conv(Conv::new()), "f32[2, 6, 13, 13]");
    assert_eq!(conv(Conv::new().padding(1)), "f32[2, 6, 15, 15]");
    assert_eq!(conv(Conv::new().padding([1, 0])), "f32[2, 6, 15, 13]");
    assert_eq!(conv(Conv::new().padding((0, 1))), "f32[2, 6, 14, 14]");
    assert_eq!(conv(Conv::new().padding([(0, 1), (-1, -1)])), "f32[2, 6, 14, 11]");
    assert_eq!(conv(Conv::new().stride(2).padding(1)), "f32[2, 6, 8, 8]");
    assert_eq!(conv(Conv::new().stride([1, 4]).dilation([3, 1])), "f32[2, 6, 9, 4]");
    let back = [f(&[2, 6, 8, 8]), f(&[6, 4, 3, 3])];
    let options = Conv::new().stride(2).padding(1);
    assert_eq!(result(&back, |t| t[0].conv_transpose2d(t[1], &options)), "f32[2, 4, 15, 15]");
    let more = options.clone().output_padding([0, 1]);
    assert_eq!(result(&back, |t| t[0].conv_transpose2d(t[1], &more)), "f32[2, 4, 15, 16]");
    for extents in [[15, 15], [16, 15], [16, 16]] {
        let found = result(&back, |t| t[0].conv_input_gradient(t[1], &extents, &options));
        assert_eq!(found, format!("f32[2, 4, {}, {}]", extents[0], extents[1]));
    }
    let weights = [f(&[2, 4, 16, 15]), f(&[2, 6, 8, 8])];
    assert_eq!(result(&weights, |t| t[0].conv_weight_gradient(t[1], &[3, 3], &options)), "f32[6, 4, 3, 3]");
    let pools = [f(&[2, 4, 8, 8])];
    let pool = Pool::new(3).stride(2);
    assert_eq!(result(&pools, |t| t[0].max_pool2d(&pool)), "f32[2, 4, 3, 3]");
    assert_eq!(result(&pools, |t| t[0].max_pool2d(&pool.clone().ceil_mode(true))), "f32[2, 4, 4, 4]");
    assert_eq!(result(&pools, |t| t[0].max_pool1d(&Pool::new(2))), "f32[2, 4, 8, 4]");
    assert_eq!(result(&pools, |t| t[0].max_pool2d_with_indices(&pool).1), "i64[2, 4, 3, 3]");
}

#[test]
fn gradients_over_nothing() {
    // No batch, no channel of the input, no element along a dimension that padding covers.
    let options = Conv::new().padding(1);
    let specs = [f(&[0, 2, 4]), f(&[2, 3, 3])];
    assert_eq!(result(&specs, |t| t[0].conv_input_gradient(t[1], &[4], &options)), "f32[0, 3, 4]");
    let specs = [f(&[1, 2, 1]), f(&[2, 3, 2])];
    assert_eq!(result(&specs, |t| t[0].conv_input_gradient(t[1], &[0], &options)), "f32[1, 3, 0]");
    let specs = [f(&[0, 3, 4]), f(&[0, 2, 4])];
    assert_eq!(result(&specs, |t| t[0].conv_weight_gradient(t[1], &[3], &options)), "f32[2, 3, 3]");
}

#[test]
fn a_gradient_is_one_convolution() {
    let specs = vec![f(&[2, 6, 8]), f(&[6, 2, 3])];
    let options = Conv::new().padding(1).groups(3);
    let program = trace(|t: Vec<Tensor>| t[0].conv_input_gradient(t[1], &[8], &options), &specs).unwrap();
    let count = program.graph().nodes().iter().filter(|n| matches!(n.op, Op::Convolution { .. })).count();
    assert_eq!(count, 1);
    let views = |op: &Op| op.is_view() || matches!(op, Op::Convolution { .. } | Op::Parameter(_));
    assert!(program.graph().nodes().iter().all(|n| views(&n.op)), "{}", program.graph());
}

#[test]
fn wrong_convolutions() {
    let (x, k) = (f(&[2, 4, 8, 8]), f(&[6, 4, 3, 3]));
    let conv = |x: &Spec, k: &Spec, options: Conv| rejected(&[x.clone(), k.clone()], |t| t[0].conv2d(t[1], &options));
    let found = conv(&f(&[4, 8, 8]), &k, Conv::new());
    assert!(found.starts_with("`conv2d`: f32[4, 8, 8] with f32[6, 4, 3, 3]: both need 4 dimensions"), "{found}");
    assert!(found.contains("`.unsqueeze(0)` makes a batch of one"), "{found}");
    let found = conv(&x, &f(&[6, 3, 3, 3]), Conv::new());
    assert!(found.contains("a kernel for 4 channels in 1 groups has 4 in dimension 1, not 3"), "{found}");
    let found = conv(&x, &k, Conv::new().groups(3));
    assert!(found.contains("3 groups do not divide the 4 channels"), "{found}");
    let found = conv(&x, &f(&[6, 4, 9, 3]), Conv::new());
    assert!(found.contains("a window of 9 along dimension 0 does not fit into 8"), "{found}");
    let found = conv(&x, &k, Conv::new().stride(0));
    assert!(found.contains("`conv2d`: a stride of 0 | the least is 1"), "{found}");
    let found = conv(&x, &k, Conv::new().dilation(usize::MAX));
    assert!(found.contains("a dilation of 18446744073709551615"), "{found}");
    let found = conv(&x, &k, Conv::new().padding(i64::MIN));
    assert!(found.contains("a padding of (-9223372036854775808"), "{found}");
    let found = conv(&x, &k, Conv::new().stride([1, 2, 3]));
    assert!(found.contains("3 numbers for the stride of windows with 2 dimensions | give 2, or one number"), "{found}");
    let found = conv(&x, &Spec::new(f64::DTYPE, [6, 4, 3, 3]), Conv::new());
    assert!(found.contains("the dtypes differ"), "{found}");
    let found = rejected(&[f(&[4]), f(&[4])], |t| t[0].conv(t[1], &Conv::new()));
    assert!(found.contains("at least 3"), "{found}");
}

#[test]
fn wrong_ways_back() {
    let (y, k) = (f(&[2, 6, 8, 8]), f(&[6, 4, 3, 3]));
    let back = |k: &Spec, options: Conv| rejected(&[y.clone(), k.clone()], |t| t[0].conv_transpose2d(t[1], &options));
    let found = back(&f(&[5, 4, 3, 3]), Conv::new());
    assert!(found.contains("gives f32[2, 5, 8, 8], not f32[2, 6, 8, 8]"), "{found}");
    let found = back(&k, Conv::new().output_padding(1));
    assert!(found.contains("an output padding of 1 along dimension 0, where the stride is 1"), "{found}");
    let found = back(&k, Conv::new().padding(9));
    assert!(found.contains("leaves -8 elements along dimension 0"), "{found}");
    let found = back(&k, Conv::new().groups(4));
    assert!(found.contains("4 groups do not divide the 16 channels"), "{found}");
    let found = back(&k, Conv::new().groups(0));
    assert!(found.contains("0 groups"), "{found}");
    let specs = [y.clone(), k.clone()];
    let found = rejected(&specs, |t| t[0].conv_input_gradient(t[1], &[9, 10], &Conv::new()));
    assert!(found.contains("gives f32[2, 6, 7, 8], not f32[2, 6, 8, 8]"), "{found}");
    let found = rejected(&specs, |t| t[0].conv_input_gradient(t[1], &[9], &Conv::new()));
    assert!(found.contains("1 extents for 2 dimensions"), "{found}");
    let specs = [f(&[2, 4, 10, 10]), y.clone()];
    let found = rejected(&specs, |t| t[0].conv_weight_gradient(t[1], &[2, 3], &Conv::new()));
    assert!(found.contains("gives f32[2, 6, 9, 8], not f32[2, 6, 8, 8]"), "{found}");
    let found = rejected(&specs, |t| t[0].conv_weight_gradient(t[1], &[3], &Conv::new()));
    assert!(found.contains("1 sizes for 2 dimensions"), "{found}");
    let found = rejected(&specs, |t| t[0].conv_weight_gradient(t[1], &[3, 3], &Conv::new().groups(0)));
    assert!(found.contains("0 groups"), "{found}");
}

#[test]
fn wrong_poolings() {
    let x = [f(&[2, 8, 8])];
    let found = rejected(&[f(&[8])], |t| t[0].max_pool2d(&Pool::new(2)));
    assert!(found.contains("`max_pool2d`: f32[8] has fewer than 2 dimensions"), "{found}");
    let found = rejected(&x, |t| t[0].max_pool2d(&Pool::new(9)));
    assert!(found.contains("`max_pool2d`: a window of 9 along dimension 0 does not fit into 8"), "{found}");
    let found = rejected(&x, |t| t[0].max_pool2d(&Pool::new(0).stride(1)));
    assert!(found.contains("have no elements along dimension 0"), "{found}");
    let found = rejected(&x, |t| t[0].max_pool2d(&Pool::new([2, 2, 2])));
    assert!(found.contains("3 numbers for the kernel size of windows with 2 dimensions"), "{found}");
    let found = rejected(&[Spec::new(i32::DTYPE, [8])], |t| t[0].avg_pool1d(&Pool::new(2)));
    assert!(found.contains("`avg_pool1d` takes a float dtype"), "{found}");
    let indices = Spec::new(i64::DTYPE, [2, 4, 4]);
    let specs = [f(&[2, 4, 4]), indices.clone()];
    let found = rejected(&specs, |t| t[0].max_unpool2d(t[1], [7, 8], &Pool::new(2)));
    assert!(found.contains("there are [3, 4] windows over [7, 8], but the updates are f32[2, 4, 4]"), "{found}");
    let found = rejected(&[f(&[2, 4, 3]), indices], |t| t[0].max_unpool2d(t[1], [8, 8], &Pool::new(2)));
    assert!(found.contains("the shapes differ"), "{found}");
}
