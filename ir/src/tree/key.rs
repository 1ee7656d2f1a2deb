//! `Key`: what of its inputs a trace depends on, so that traces can be kept and found again.

use super::{InputSpec, Path, Signature};
use crate::Binding;
use std::fmt;

/// One part of a [`Key`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KeyPart {
    /// An input.
    Input(InputSpec),
    /// How many elements a `Vec` has.
    Length(usize),
    /// Whether an `Option` is `Some`.
    Present(bool),
    /// A static field, as its `Debug` text: configuration is often an `f64`, which neither hashes nor equals itself.
    Static(String),
}

/// What of its inputs a trace depends on: their specs, the lengths in their trees, and static fields.
///
/// Among signatures of one type, equal keys stand for equal traces: the type gives the order of the parts, and the
/// lengths tell where each part belongs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Key(Vec<KeyPart>);

/// Where and how a signature differs from a [`Key`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The place of the first part that differs.
    pub path: Path,
    /// The part in the key; none where the key ends before it.
    pub was: Option<KeyPart>,
    /// The part in the signature; none where the signature ends before it.
    pub now: Option<KeyPart>,
}

impl Key {
    /// The key of a signature.
    pub fn of<S: Signature>(signature: &S) -> Key {
        let mut parts = Vec::new();
        signature.key(&mut Path::root(), &mut |_, part| parts.push(part));
        Key(parts)
    }

    /// The parts in order.
    pub fn parts(&self) -> &[KeyPart] {
        &self.0
    }

    /// The first place where a signature differs from the key, if any.
    pub fn difference<S: Signature>(&self, signature: &S) -> Option<Difference> {
        self.first(signature, |was, now| was == Some(now))
    }

    /// The first place where a signature differs from the key in structure: the length of a `Vec`, an `Option`, a
    /// static field. What is said of inputs is not compared. Costs nothing where the key has nothing of the kind,
    /// because then the type is the structure.
    pub fn structural_difference<S: Signature>(&self, signature: &S) -> Option<Difference> {
        let is_input = |part: &KeyPart| matches!(part, KeyPart::Input(_));
        if self.0.iter().all(is_input) {
            return None;
        }
        self.first(signature, |was, now| was == Some(now) || (was.is_some_and(is_input) && is_input(now)))
    }

    fn first<S: Signature>(
        &self,
        signature: &S,
        same: impl Fn(Option<&KeyPart>, &KeyPart) -> bool,
    ) -> Option<Difference> {
        let mut parts = self.0.iter();
        let mut difference = None;
        signature.key(&mut Path::root(), &mut |path, now| {
            let was = parts.next();
            if difference.is_none() && !same(was, &now) {
                difference = Some(Difference { path: path.clone(), was: was.cloned(), now: Some(now) });
            }
        });
        let missing = |was: &KeyPart| Difference { path: Path::root(), was: Some(was.clone()), now: None };
        difference.or_else(|| parts.next().map(missing))
    }
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyPart::Input(InputSpec { spec, name, binding }) => {
                write!(f, "{spec}")?;
                if let Some(name) = name {
                    write!(f, " named `{name}`")?;
                }
                match binding {
                    Binding::Copied => Ok(()),
                    Binding::Bound => f.write_str(", bound"),
                }
            }
            KeyPart::Length(1) => f.write_str("1 element"),
            KeyPart::Length(length) => write!(f, "{length} elements"),
            KeyPart::Present(true) => f.write_str("some"),
            KeyPart::Present(false) => f.write_str("none"),
            KeyPart::Static(value) => f.write_str(value),
        }
    }
}

/// `layers: was 2 elements, is 3 elements`
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_root() {
            write!(f, "{}: ", self.path)?;
        }
        let part = |part: &Option<KeyPart>| part.as_ref().map_or("nothing".to_string(), KeyPart::to_string);
        write!(f, "was {}, is {}", part(&self.was), part(&self.now))
    }
}
