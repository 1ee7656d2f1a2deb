//! The implementation of `Tree` that the derive macro writes.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Data, DataStruct, DeriveInput, Error, Field, GenericParam, Generics, Ident, Member, Path, Result, TypeParam,
};

/// The `impl Tree` for a struct.
///
/// # Errors
/// Where the input is no struct, has not exactly one type parameter, or bounds that parameter.
pub(crate) fn tree(input: &DeriveInput) -> Result<TokenStream> {
    let krate = crate_path(input)?;
    let data = struct_data(input)?;
    let leaf = &leaf_parameter(input)?.ident;
    let fields: Vec<TreeField> =
        data.fields.members().zip(&data.fields).map(|(member, field)| TreeField::new(member, field, leaf)).collect();

    let name = &input.ident;
    let params = impl_parameters(&input.generics, leaf, &krate);
    let where_clause = &input.generics.where_clause;
    let this = instance(input, leaf);
    let other = format_ident!("__U");
    let mapped = instance(input, &other);
    let visits = fields.iter().map(|field| field.visit(&krate));
    let maps = fields.iter().map(|field| field.map(&krate));
    Ok(quote! {
        #[automatically_derived]
        impl<#params> #krate::Tree for #this #where_clause {
            type Leaf = #leaf;
            type Map<#other: #krate::Leaf> = #mapped;

            fn visit<'__a>(
                &'__a self,
                path: &mut #krate::Path,
                f: &mut dyn ::core::ops::FnMut(&#krate::Path, #krate::Entry<'__a, #leaf>),
            ) {
                #(#visits)*
            }

            fn map_leaves<#other: #krate::Leaf>(
                &self,
                path: &mut #krate::Path,
                f: &mut dyn ::core::ops::FnMut(&#krate::Path, &#leaf) -> #other,
            ) -> #mapped {
                #name { #(#maps),* }
            }
        }
    })
}

/// The crate given by `#[tree(crate = "path")]`, else the facade.
fn crate_path(input: &DeriveInput) -> Result<Path> {
    let mut path = syn::parse_quote!(::monograph);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("tree")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("the only option is `crate = \"path\"`"));
            }
            let value: syn::LitStr = meta.value()?.parse()?;
            path = value.parse_with(Path::parse_mod_style)?;
            Ok(())
        })?;
    }
    Ok(path)
}

fn struct_data(input: &DeriveInput) -> Result<&DataStruct> {
    match &input.data {
        Data::Struct(data) => Ok(data),
        Data::Enum(data) => Err(Error::new(
            data.enum_token.span,
            "Tree can be derived for structs only; hold the alternatives in `Option` fields, or choose while building the graph",
        )),
        Data::Union(data) => Err(Error::new(data.union_token.span, "Tree can be derived for structs only")),
    }
}

fn leaf_parameter(input: &DeriveInput) -> Result<&TypeParam> {
    let params: Vec<&TypeParam> = input.generics.type_params().collect();
    let leaf = match params[..] {
        [leaf] => leaf,
        [] => {
            let message = format!("Tree needs a type parameter, the leaf: `struct {}<T> {{ w: T }}`", input.ident);
            return Err(Error::new_spanned(&input.ident, message));
        }
        [_, second, ..] => {
            return Err(Error::new_spanned(
                second,
                "Tree needs exactly one type parameter, the leaf: `struct Mlp<T> { w: T }`; make configuration static fields of known types",
            ));
        }
    };
    let predicates = input.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let bound = predicates.map(ToTokens::to_token_stream).find(|predicate| mentions(predicate.clone(), &leaf.ident));
    let bound = if leaf.bounds.is_empty() { bound } else { Some(leaf.bounds.to_token_stream()) };
    match bound {
        None => Ok(leaf),
        Some(bound) => Err(Error::new_spanned(
            bound,
            "a tree's leaf takes no bounds, because the struct must hold for every leaf; put them on the `impl` that needs them",
        )),
    }
}

/// A field of the struct, and whether it is a subtree or static.
struct TreeField<'a> {
    member: Member,
    field: &'a Field,
    subtree: bool,
}

impl<'a> TreeField<'a> {
    fn new(member: Member, field: &'a Field, leaf: &Ident) -> Self {
        let subtree = mentions(field.ty.to_token_stream(), leaf);
        TreeField { member, field, subtree }
    }

    fn visit(&self, krate: &Path) -> TokenStream {
        let member = &self.member;
        // The field's span lets an unmet requirement on its type point at the field.
        let body = if self.subtree {
            quote_spanned!(self.field.ty.span()=> #krate::Tree::visit(&self.#member, path, f))
        } else {
            quote_spanned!(self.field.ty.span()=> f(path, #krate::Entry::Static(&self.#member)))
        };
        let within = self.within(body);
        quote!(#within;)
    }

    fn map(&self, krate: &Path) -> TokenStream {
        let member = &self.member;
        let value = if self.subtree {
            self.within(quote_spanned!(self.field.ty.span()=> #krate::Tree::map_leaves(&self.#member, path, f)))
        } else {
            quote_spanned!(self.field.ty.span()=> ::core::clone::Clone::clone(&self.#member))
        };
        quote!(#member: #value)
    }

    /// `body` with the path extended by the field.
    fn within(&self, body: TokenStream) -> TokenStream {
        match &self.member {
            Member::Named(name) => {
                let name = name.unraw().to_string();
                quote!(path.field(#name, |path| #body))
            }
            Member::Unnamed(index) => {
                let index = index.index as usize;
                quote!(path.index(#index, |path| #body))
            }
        }
    }
}

/// The struct's parameters without defaults, and with the leaf bounded.
fn impl_parameters(generics: &Generics, leaf: &Ident, krate: &Path) -> TokenStream {
    let params = generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(lifetime) => lifetime.to_token_stream(),
        GenericParam::Type(_) => quote!(#leaf: #krate::Leaf),
        GenericParam::Const(constant) => {
            let (name, ty) = (&constant.ident, &constant.ty);
            quote!(const #name: #ty)
        }
    });
    quote!(#(#params),*)
}

/// The struct's type with that leaf.
fn instance(input: &DeriveInput, leaf: &Ident) -> TokenStream {
    let name = &input.ident;
    let args = input.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_token_stream(),
        // It is the only type parameter.
        GenericParam::Type(_) => leaf.to_token_stream(),
        GenericParam::Const(constant) => constant.ident.to_token_stream(),
    });
    quote!(#name<#(#args),*>)
}

fn mentions(tokens: TokenStream, leaf: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *leaf,
        TokenTree::Group(group) => mentions(group.stream(), leaf),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fails(source: &str, message: &str) {
        let error = tree(&syn::parse_str(source).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        fails("enum Choice<T> { A(T) }", "Tree can be derived for structs only; hold the alternatives");
        fails("union Bits<T> { a: T }", "Tree can be derived for structs only");
        fails("struct Model { w: f32 }", "Tree needs a type parameter, the leaf: `struct Model<T> { w: T }`");
        fails("struct Unit;", "Tree needs a type parameter, the leaf");
        fails("struct Model<T, C> { w: T, c: C }", "Tree needs exactly one type parameter, the leaf");
    }

    #[test]
    fn bounds_of_the_leaf_are_refused() {
        let message = "a tree's leaf takes no bounds";
        fails("struct Model<T: Clone> { w: T }", message);
        fails("struct Model<T> where T: Clone { w: T }", message);
        fails("struct Model<T> where Vec<T>: Clone { w: T }", message);
        assert!(
            tree(&syn::parse_quote!(
                struct Model<T>
                where
                    String: Clone,
                {
                    w: T,
                }
            ))
            .is_ok()
        );
    }

    #[test]
    fn options_are_checked() {
        fails("#[tree(rename = \"x\")] struct Model<T> { w: T }", "the only option is `crate = \"path\"`");
        let default = tree(&syn::parse_quote!(
            struct Model<T> {
                w: T,
            }
        ))
        .unwrap()
        .to_string();
        assert!(default.contains(":: monograph :: Tree"), "{default}");
        let renamed = tree(&syn::parse_quote!(
            #[tree(crate = "a::b")]
            struct Model<T> {
                w: T,
            }
        ))
        .unwrap()
        .to_string();
        assert!(renamed.contains("a :: b :: Tree") && !renamed.contains("monograph"), "{renamed}");
    }
}
