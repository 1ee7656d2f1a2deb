//! Derived trees against paths and values written by hand.
#![allow(missing_docs, reason = "the structs are those of tests")]

use monograph_derive::Tree;
use monograph_ir::{Array, Element, Entry, Key, Leaf, Path, Spec, Tree as _, leaves, map, paths};
use std::marker::PhantomData;

#[derive(Tree, Clone)]
#[tree(crate = "monograph_ir")]
struct Linear<T> {
    w: T,
    b: Option<T>,
}

#[derive(Tree, Clone)]
#[tree(crate = "monograph_ir")]
struct Mlp<T> {
    layers: Vec<Linear<T>>,
    head: [Linear<T>; 2],
    norm: (T, T),
    eps: f64,
    name: String,
}

/// A tuple struct, with a lifetime, a constant, a where clause and defaults; the leaf is called as the derived code's.
#[derive(Tree)]
#[tree(crate = "::monograph_ir")]
struct Tagged<'a, U = Spec, const N: usize = 2>([U; N], &'a str, Linear<U>, [u8; N])
where
    'a: 'a;

#[derive(Tree, Clone, Copy)]
#[tree(crate = "monograph_ir")]
struct Relu<T>(PhantomData<T>);

#[derive(Tree)]
#[tree(crate = "monograph_ir")]
struct Raw<T> {
    r#type: T,
    f: T,
    path: Relu<T>,
}

fn linear(n: usize, bias: bool) -> Linear<Spec> {
    Linear { w: f32::spec([n, n]), b: bias.then(|| f32::spec([n])) }
}

fn mlp() -> Mlp<Spec> {
    Mlp {
        layers: vec![linear(1, true), linear(2, true)],
        head: [linear(3, true), linear(4, false)],
        norm: (f32::spec([5]), f32::spec([6])),
        eps: 1e-5,
        name: "mlp".to_string(),
    }
}

fn strings<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

#[test]
fn paths_follow_the_fields() {
    let names = [
        "0.layers.0.w",
        "0.layers.0.b",
        "0.layers.1.w",
        "0.layers.1.b",
        "0.head.0.w",
        "0.head.0.b",
        "0.head.1.w",
        "0.norm.0",
        "0.norm.1",
        "1",
    ];
    assert_eq!(strings(paths(&(mlp(), f32::spec([])))), names);
    assert_eq!(strings(leaves(&mlp()))[6..], ["f32[4, 4]", "f32[5]", "f32[6]"]);
}

#[test]
fn fields_without_the_leaf_are_static() {
    let mut found = Vec::new();
    mlp().visit(&mut Path::root(), &mut |path, entry| {
        if let Entry::Static(value) = entry {
            found.push(format!("{path} = {value:?}"));
        }
    });
    assert_eq!(found, ["eps = 1e-5", "name = \"mlp\""]);
    let other = Mlp { eps: 1e-6, ..mlp() };
    let difference = Key::of(&&mlp()).difference(&&other).unwrap();
    assert_eq!(difference.to_string(), "eps: was 1e-5, is 1e-6");
}

#[test]
fn maps_keep_structure_and_static_fields() {
    let arrays: Mlp<Array> = map(&mlp(), |_, spec| Array::zeros::<f32>(&spec.shape).unwrap());
    assert_eq!((arrays.eps, arrays.name.as_str()), (1e-5, "mlp"));
    assert_eq!(arrays.layers[1].w.spec(), &f32::spec([2, 2]));
    assert!(arrays.head[0].b.is_some() && arrays.head[1].b.is_none());
    let mut order = Vec::new();
    let back: Mlp<Spec> = map(&arrays, |path, array| {
        order.push(path.to_string());
        array.spec().clone()
    });
    assert_eq!(order, strings(paths(&mlp())));
    assert_eq!(leaves(&back), leaves(&mlp()));
}

#[test]
fn tuple_structs_lifetimes_and_constants() {
    let text = String::from("label");
    let tagged = Tagged([f32::spec([1]), f32::spec([2]), f32::spec([3])], &text, linear(4, true), [7; 3]);
    assert_eq!(strings(paths(&tagged)), ["0.0", "0.1", "0.2", "2.w", "2.b"]);
    let arrays: Tagged<'_, Array, 3> = map(&tagged, |_, spec| Array::zeros::<f32>(&spec.shape).unwrap());
    assert_eq!((arrays.1, arrays.3, arrays.0[2].elements()), ("label", [7; 3], 3));
}

#[test]
fn any_field_name_will_do() {
    let raw = Raw { r#type: f32::spec([1]), f: f32::spec([2]), path: Relu(PhantomData) };
    assert_eq!(strings(paths(&raw)), ["type", "f"]);
    let _: Raw<Array> = map(&raw, |_, _| Array::scalar(0f32));
}

/// A function over any leaf, as a model's `forward` is.
#[test]
fn the_leaf_stays_generic() {
    fn count<T: Leaf>(model: &Mlp<T>) -> usize {
        leaves(model).len()
    }
    assert_eq!(count(&mlp()), 9);
}
