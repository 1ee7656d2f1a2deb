//! Trees against paths, keys and sources written by hand.

use super::*;
use crate::{ArrayError, Binding, DType, Element};
use std::any::Any;

/// What the derive macro writes, by hand: a list of layers and a static field.
struct Net<T> {
    layers: Vec<(T, Option<T>)>,
    head: [T; 2],
    eps: f64,
}

impl<T: Leaf> Tree for Net<T> {
    type Leaf = T;
    type Map<U: Leaf> = Net<U>;

    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, T>)) {
        path.field("layers", |path| self.layers.visit(path, f));
        path.field("head", |path| self.head.visit(path, f));
        path.field("eps", |path| f(path, Entry::Static(&self.eps)));
    }

    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &T) -> U) -> Net<U> {
        Net {
            layers: path.field("layers", |path| self.layers.map_leaves(path, f)),
            head: path.field("head", |path| self.head.map_leaves(path, f)),
            eps: self.eps,
        }
    }
}

fn net() -> Net<Spec> {
    let s = |n| f32::spec([n]);
    Net { layers: vec![(s(1), Some(s(2))), (s(3), None)], head: [s(4), s(5)], eps: 1e-5 }
}

fn strings<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

/// The entered inputs, each as `path: description`.
fn entered<S: Signature>(signature: &S) -> Vec<String> {
    let mut inputs = Vec::new();
    signature.enter(&mut Path::root(), &mut |path, input| {
        inputs.push(format!("{path}: {}", KeyPart::Input(input.clone())));
        input.spec
    });
    inputs
}

/// The sources, each as `path: spec`.
fn bound<B: Bind>(args: &B) -> Vec<String> {
    let mut sources = Vec::new();
    args.bind(&mut Path::root(), &mut |path, source| sources.push(format!("{path}: {}", source.spec())));
    sources
}

#[test]
fn paths_name_fields_and_indices() {
    assert_eq!(strings(paths(&net())), ["layers.0.0", "layers.0.1", "layers.1.0", "head.0", "head.1"]);
    assert_eq!(strings(paths(&(net(), f32::spec([]))))[0], "0.layers.0.0");
    assert_eq!(strings(leaves(&net())), ["f32[1]", "f32[2]", "f32[3]", "f32[4]", "f32[5]"]);
    let path = &paths(&f32::spec([]))[0];
    assert!(path.is_root() && path.to_string().is_empty());
    let deep = [[[[[[[[[[f32::spec([])]]]]]]]]]];
    assert_eq!(strings(paths(&deep)), ["0.0.0.0.0.0.0.0.0.0"]);
    assert_eq!(paths(&net())[3].segments(), [Segment::Field("head"), Segment::Index(0)]);
}

#[test]
fn tuples_have_up_to_eight_elements() {
    let s = |n| f32::spec([n]);
    let eight = (s(0), vec![s(1)], s(2), s(3), s(4), s(5), s(6), (s(7),));
    assert_eq!(strings(paths(&eight)), ["0", "1.0", "2", "3", "4", "5", "6", "7.0"]);
    let mapped: (Spec, Vec<Spec>, Spec, Spec, Spec, Spec, Spec, (Spec,)) = map(&eight, |_, s| i32::spec(&s.shape));
    assert_eq!((mapped.1[0].to_string().as_str(), mapped.7.0), ("i32[1]", i32::spec([7])));
    assert_eq!(entered(&(1i8, 2u8, 3i32, 4u32, 5i64, true, 0.5f32, 0.5f64))[5], "5: bool[]");
}

#[test]
fn entries_come_in_order() {
    let mut entries = Vec::new();
    let net = net();
    net.visit(&mut Path::root(), &mut |path, entry| entries.push(format!("{path} {entry:?}")));
    let kinds: Vec<&str> = entries.iter().map(|e| e.split(['{', ' ', '(']).nth(1).unwrap()).collect();
    assert_eq!(
        kinds,
        ["Length", "Leaf", "Present", "Leaf", "Leaf", "Present", "Leaf", "Leaf", "Static"],
        "{entries:#?}"
    );
    assert_eq!(entries[0], "layers Length(2)");
    assert_eq!(entries[5], "layers.1.1 Present(false)");
    assert_eq!(entries[8], "eps Static(1e-5)");
}

#[test]
fn maps_keep_structure_and_static_fields() {
    let arrays: Net<Array> = map(&net(), |_, spec| Array::zeros::<f32>(&spec.shape).unwrap());
    assert_eq!(arrays.layers[0].1.as_ref().unwrap().spec(), &f32::spec([2]));
    assert!(arrays.layers[1].1.is_none());
    assert_eq!((arrays.head[1].elements(), arrays.eps), (5, 1e-5));
    let mut order = Vec::new();
    let _: Net<Spec> = map(&arrays, |path, a| {
        order.push(path.to_string());
        a.spec().clone()
    });
    assert_eq!(order, strings(paths(&arrays)));
    let _: std::marker::PhantomData<Array> = map(&std::marker::PhantomData::<Spec>, |_, _| unreachable!());
}

#[test]
fn fallible_maps_stop_at_the_first_error() {
    let good: Result<Net<Array>, ArrayError> = try_map(&net(), |_, spec| Array::zeros::<f32>(&spec.shape));
    assert_eq!(good.unwrap().head[0].elements(), 4);
    let mut calls = 0;
    let bad: Result<Net<Array>, String> = try_map(&net(), |path, _| {
        calls += 1;
        if calls == 2 { Err(path.to_string()) } else { Ok(Array::scalar(1f32)) }
    });
    assert_eq!((bad.err().as_deref(), calls), (Some("layers.0.1"), 2));
}

#[test]
fn signatures_describe_inputs() {
    let batch = Array::zeros::<i32>([8, 0]).unwrap();
    let values = [1f32, 2.0, 3.0];
    let signature = (&net(), f32::spec([64, 784]).named("x"), &batch, (0.1f32, 3i32), &values[..], ());
    assert_eq!(
        entered(&signature),
        [
            "0.layers.0.0: f32[1]",
            "0.layers.0.1: f32[2]",
            "0.layers.1.0: f32[3]",
            "0.head.0: f32[4]",
            "0.head.1: f32[5]",
            "1: f32[64, 784] named `x`",
            "2: i32[8, 0]",
            "3.0: f32[]",
            "3.1: i32[]",
            "4: f32[3]",
        ]
    );
    assert_eq!(entered(&half::bf16::ONE), [": bf16[]"]);
    assert!(entered(&()).is_empty());
    // The structure a function sees is that of the signature.
    let (_, x, _): (Net<Spec>, Spec, ()) =
        (&net(), u8::spec([2]), ()).enter(&mut Path::root(), &mut |_, input| input.spec);
    assert_eq!(x, u8::spec([2]));
}

#[test]
fn names_and_bindings() {
    let input = f32::spec([3]).bound().named("weights");
    assert_eq!(input, f32::spec([3]).named("weights").bound());
    assert_eq!((input.name.as_deref(), input.binding), (Some("weights"), Binding::Bound));
    assert_eq!(f32::spec([3]).named("x").binding, Binding::Copied);
    assert_eq!(entered(&(&f32::spec([3]), input)), ["0: f32[3]", "1: f32[3] named `weights`, bound"]);
    let inputs: (InputSpec, InputSpec) = map(&(f32::spec([]), f32::spec([1])), |_, spec| spec.clone().bound());
    assert_eq!(entered(&&inputs), ["0: f32[], bound", "1: f32[1], bound"]);
}

#[test]
fn keys_tell_traces_apart() {
    let x = || f32::spec([2]);
    assert_eq!(Key::of(&(&net(), x())), Key::of(&(&net(), x())));
    assert_eq!(strings(&Key::of(&&net()).parts()[..4]), ["2 elements", "f32[1]", "some", "f32[2]"]);
    let key = Key::of(&(&net(), x()));
    let difference = |net: &Net<Spec>, x: Spec| key.difference(&(net, x)).map(|d| d.to_string());
    assert_eq!(difference(&net(), x()), None);
    let other = Net { eps: 2e-5, ..net() };
    assert_eq!(difference(&other, x()).as_deref(), Some("0.eps: was 1e-5, is 2e-5"));
    let other = Net { layers: vec![], ..net() };
    assert_eq!(difference(&other, x()).as_deref(), Some("0.layers: was 2 elements, is 0 elements"));
    let mut other = net();
    other.layers[0].1 = None;
    assert_eq!(difference(&other, x()).as_deref(), Some("0.layers.0.1: was some, is none"));
    assert_eq!(difference(&net(), i32::spec([2])).as_deref(), Some("1: was f32[2], is i32[2]"));
    // The same leaves in another grouping, and an empty group more.
    let groups = |lengths: &[usize]| -> Vec<Vec<Spec>> { lengths.iter().map(|&n| vec![x(); n]).collect() };
    assert_ne!(Key::of(&&groups(&[1, 2])), Key::of(&&groups(&[2, 1])));
    assert_ne!(Key::of(&&groups(&[2, 1])), Key::of(&&groups(&[2, 1, 0])));
    assert_ne!(Key::of(&x()), Key::of(&x().bound()));
}

#[test]
fn arrays_slices_and_scalars_feed_inputs() {
    let arrays: Net<Array> = map(&net(), |_, spec| Array::full(&spec.shape, 1f32).unwrap());
    let values = [7i64, 8];
    let args = (&arrays, &values[..], 0.25f64, true, ());
    assert_eq!(bound(&args)[4..], ["0.head.1: f32[5]", "1: i64[2]", "2: f64[]", "3: bool[]"]);
    let mut sources = Vec::new();
    args.bind(&mut Path::root(), &mut |_, source| sources.push(source));
    assert!(matches!(sources[0], Source::Array(a) if a.same_storage(&arrays.layers[0].0)));
    assert!(
        matches!(sources[5], Source::Slice { bytes, dtype: DType::I64, len: 2 } if bytes == i64::as_bytes(&values))
    );
    assert!(matches!(sources[6], Source::Scalar(s) if s.get::<f64>() == Some(0.25)));
    assert!(matches!(sources[7], Source::Scalar(s) if s.get::<bool>() == Some(true)));
    let empty: [f32; 0] = [];
    assert_eq!(bound(&&empty[..]), [": f32[0]"]);
}

/// An output of a runtime, which borrows its executable.
struct Foreign<'a> {
    handle: &'a u32,
    spec: Spec,
}

impl Leaf for Foreign<'_> {}

impl HasSpec for Foreign<'_> {
    fn spec(&self) -> &Spec {
        &self.spec
    }
}

impl Data for Foreign<'_> {
    fn source(&self) -> Source<'_> {
        Source::Foreign { data: self.handle, spec: &self.spec }
    }
}

#[test]
fn a_runtime_has_leaves_of_its_own() {
    let handle = 42;
    let form = (f32::spec([2]), vec![i32::spec([])]);
    let outputs: (Foreign<'_>, Vec<Foreign<'_>>) =
        form.fill(&mut |_, spec| Foreign { handle: &handle, spec: spec.clone() });
    assert_eq!(bound(&(&outputs, &outputs.0)), ["0.0: f32[2]", "0.1.0: i32[]", "1: f32[2]"]);
    (&outputs.0).bind(&mut Path::root(), &mut |_, source| {
        let Source::Foreign { data, .. } = source else { panic!("{source:?}") };
        let data: &dyn Any = data;
        assert_eq!(data.downcast_ref::<u32>(), Some(&42));
    });
}

#[test]
fn outputs_have_a_form() {
    fn finish<L, O: Outputs<L>>(outputs: &O, f: impl Fn(&L) -> Spec) -> (O::Form, Vec<String>) {
        let mut names = Vec::new();
        let form = outputs.finish(&mut |path, leaf| {
            names.push(path.to_string());
            f(leaf)
        });
        (form, names)
    }
    let outputs = (Array::scalar(1f32), vec![Array::scalar(2i32)]);
    let ((a, b), names) = finish(&outputs, |array| array.spec().clone());
    assert_eq!((a, b), (f32::spec([]), vec![i32::spec([])]));
    assert_eq!(names, ["0", "1.0"]);
    let ((), names) = finish::<Array, ()>(&(), |_| unreachable!());
    assert!(names.is_empty());
    ().fill::<Array>(&mut |_, _| unreachable!());
}
