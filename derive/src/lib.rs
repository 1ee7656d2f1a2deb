//! `#[derive(Tree)]` of Monograph.
#![forbid(unsafe_code)]

mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives `monograph::Tree` for a struct that is generic over its leaf.
///
/// ```
/// # use monograph_derive::Tree;
/// # use monograph_ir::{Array, Element, Spec, paths};
/// #[derive(Tree)]
/// # #[tree(crate = "monograph_ir")]
/// struct Linear<T> {
///     w: T,
///     b: Option<T>,
/// }
///
/// #[derive(Tree)]
/// # #[tree(crate = "monograph_ir")]
/// struct Mlp<T> {
///     layers: Vec<Linear<T>>,
///     eps: f64,
/// }
///
/// let shapes: Mlp<Spec> =
///     Mlp { layers: vec![Linear { w: f32::spec([4, 4]), b: Some(f32::spec([4])) }], eps: 1e-5 };
/// let names: Vec<String> = paths(&shapes).iter().map(|path| path.to_string()).collect();
/// assert_eq!(names, ["layers.0.w", "layers.0.b"]);
/// ```
///
/// The struct has exactly one type parameter, the leaf; lifetimes and constants may come beside it. A field whose
/// type mentions the leaf is a subtree: the leaf itself, another struct that derives `Tree`, or a `Vec`, array,
/// `Option` or tuple of subtrees. Every other field is static: it is `Clone` and `Debug`, it is copied when the tree
/// is mapped to another leaf, and a trace depends on its value.
///
/// The leaf takes no bounds, because the struct must hold for every leaf; put them on the `impl` that needs them.
///
/// `#[tree(crate = "path")]` on the struct names the crate where the trait is found, for a dependency that has been
/// renamed; it is `::monograph` otherwise.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::tree(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
