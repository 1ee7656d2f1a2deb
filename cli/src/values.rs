//! `Values`: the data of a program's parameters, from `NAME=VALUE` arguments.

use crate::failure::Failure;
use crate::npy::Npy;
use crate::suggest::{closest, listed};
use crate::{file, random};
use monograph_ir::{AlignedBytes, Array, Error, Graph, Literal, Param, ParamKind, Spec};
use std::collections::BTreeMap;
use std::path::Path;

/// Where the data of a parameter comes from.
enum Value {
    /// The same at each replay.
    Fixed(Array),
    /// Drawn from a seed; an input anew for each replay.
    Random(u64),
}

/// The data of every parameter, by name.
pub(crate) struct Values {
    of: BTreeMap<String, Value>,
    /// States that start as zeros because nobody said otherwise.
    pub(crate) zeroed: Vec<String>,
}

impl Values {
    /// Reads the arguments, and fills in what they leave out: random data if there is a seed, else zeros for states.
    ///
    /// # Errors
    /// A name that is no parameter or is given twice, a value that does not fit its parameter, and parameters without
    /// a value, all at once.
    pub(crate) fn new(graph: &Graph, arguments: &[String], seed: Option<u64>) -> Result<Values, Failure> {
        let params = graph.params();
        let mut given: BTreeMap<&str, &str> = BTreeMap::new();
        for argument in arguments {
            let (param, text) = split(params, argument)?;
            if given.insert(&param.name, text).is_some() {
                return Err(Failure::usage(format!("`{}` is given twice", param.name)));
            }
        }
        missing(params, &given, seed)?;
        if given.values().filter(|text| **text == "-").count() > 1 {
            return Err(Failure::usage("standard input (`-`) can be read for one parameter only"));
        }
        let mut values = Values { of: BTreeMap::new(), zeroed: Vec::new() };
        for param in params {
            let value = match (given.get(param.name.as_str()), seed) {
                (Some(text), _) => value(param, text)?,
                (None, Some(seed)) => Value::Random(seed),
                (None, None) => {
                    values.zeroed.push(param.name.clone());
                    Value::Fixed(filled(&param.spec, Literal::zero(param.spec.dtype))?)
                }
            };
            values.of.insert(param.name.clone(), value);
        }
        Ok(values)
    }

    /// The data of a parameter at a replay.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(crate) fn at(&self, name: &str, spec: &Spec, replay: u64) -> Result<Array, Error> {
        match self.of.get(name) {
            Some(Value::Fixed(array)) => Ok(array.clone()),
            Some(Value::Random(seed)) => Ok(random::array(spec, *seed, name, replay)?),
            None => Err(Error::Internal(format!("the plan has a parameter `{name}` that the program has not"))),
        }
    }

    /// Whether the data of a parameter is another at each replay.
    pub(crate) fn varies(&self, name: &str) -> bool {
        matches!(self.of.get(name), Some(Value::Random(_)))
    }
}

/// The parameter of an argument, and the text behind its name. A name may itself contain `=`, so the longest wins.
fn split<'a>(params: &'a [Param], argument: &'a str) -> Result<(&'a Param, &'a str), Failure> {
    let known = params.iter().filter_map(|p| Some((p, argument.strip_prefix(p.name.as_str())?.strip_prefix('=')?)));
    if let Some(found) = known.max_by_key(|(p, _)| p.name.len()) {
        return Ok(found);
    }
    let Some((name, _)) = argument.split_once('=') else {
        return Err(Failure::usage(format!("`{argument}` is not of the form NAME=VALUE"))
            .help("for example `--input x=x.npy`, `--input x=random:1` or `--input x=0.5`"));
    };
    let names = || params.iter().map(|p| p.name.as_str());
    let failure = Failure::usage(format!("the program has no parameter `{name}`"));
    Err(match closest(name, names()) {
        Some(guess) => failure.help(format!("did you mean `{guess}`?")),
        None if params.is_empty() => failure.help("it takes no parameters at all"),
        None => failure.help(format!("its parameters are {}", listed(names()))),
    })
}

/// Refuses to guess the data of inputs and constants.
fn missing(params: &[Param], given: &BTreeMap<&str, &str>, seed: Option<u64>) -> Result<(), Failure> {
    let needed = |p: &&Param| p.kind != ParamKind::State && !given.contains_key(p.name.as_str());
    let missing: Vec<&Param> = params.iter().filter(needed).collect();
    let [first, ..] = missing[..] else { return Ok(()) };
    if seed.is_some() {
        return Ok(());
    }
    let list: Vec<String> = missing.iter().map(|p| format!("{} `{}`: {}", kind(p), p.name, p.spec)).collect();
    Err(Failure::usage(format!("no value is given for {}", list.join(", ")))
        .help(format!("give it with `--{} {}=FILE.npy`", kind(first), first.name))
        .help("or let `--random 1` give random data for all that is missing"))
}

/// What a parameter is called in messages and as an option.
fn kind(param: &Param) -> &'static str {
    match param.kind {
        ParamKind::Input(_) => "input",
        ParamKind::Constant => "constant",
        ParamKind::State => "state",
    }
}

/// Reads one value.
fn value(param: &Param, text: &str) -> Result<Value, Failure> {
    let (name, spec) = (&param.name, &param.spec);
    if text.is_empty() {
        return Err(
            Failure::usage(format!("nothing follows `{name}=`")).help("give a .npy file, a number, or random:SEED")
        );
    }
    if text == "zeros" {
        return Ok(Value::Fixed(filled(spec, Literal::zero(spec.dtype))?));
    }
    if let Some(seed) = text.strip_prefix("random:") {
        let wrong =
            |_| Failure::usage(format!("`{seed}` is no seed for `{name}`")).help("a seed is a number from 0 to 2^64");
        return seed.parse().map(Value::Random).map_err(wrong);
    }
    if text == "random" {
        return Err(
            Failure::usage(format!("`{name}=random` has no seed")).help(format!("for example `{name}=random:1`"))
        );
    }
    let path = Path::new(text);
    let is_number = text.parse::<f64>().is_ok() || text == "true" || text == "false" || text.starts_with("0x");
    if is_number && !path.is_file() {
        let literal = Literal::parse(spec.dtype, text).filter(|l| !overflows(*l, text));
        let wrong = || Failure::usage(format!("the number {text} cannot be held by `{name}`, which is {spec}"));
        return Ok(Value::Fixed(filled(spec, literal.ok_or_else(wrong)?)?));
    }
    read(param, path).map(Value::Fixed)
}

/// Whether a number became infinite that was not written so.
fn overflows(literal: Literal, text: &str) -> bool {
    literal.dtype().is_float()
        && literal.to_f64().is_infinite()
        && text.parse::<f64>().is_ok()
        && !text.contains(['n', 'N'])
}

fn read(param: &Param, path: &Path) -> Result<Array, Failure> {
    let (name, spec) = (&param.name, &param.spec);
    let file = file::name(path);
    let about = |message: String| Failure::usage(format!("{} `{name}`: {file} {message}", kind(param)));
    let (reader, length) = file::open(path).map_err(|failure| {
        let file_like = path.extension().is_some() || path.components().count() > 1 || file::is_stdin(path);
        if file_like {
            failure
        } else {
            failure.help(format!("the value of `{name}` is a .npy file, a number, zeros, or random:SEED"))
        }
    })?;
    let npy = Npy::open(reader, length).map_err(about)?;
    let found = npy.spec();
    if found.dtype != spec.dtype {
        return Err(about(format!("holds {found}, but the program takes {spec}"))
            .help(format!("convert it in Python: x.astype('{}')", numpy_name(spec))));
    }
    if found.shape != spec.shape {
        let failure = about(format!("holds {found}, but the program takes {spec}"));
        let same = found.shape.elements() == spec.shape.elements();
        return Err(if same {
            failure.help(format!("reshape it in Python: x.reshape({:?})", spec.shape.dims()))
        } else {
            failure
        });
    }
    npy.read().map_err(about)
}

/// NumPy's name of a spec's dtype.
fn numpy_name(spec: &Spec) -> &'static str {
    use monograph_ir::DType::*;
    match spec.dtype {
        Bool => "bool",
        I8 => "int8",
        U8 => "uint8",
        I32 => "int32",
        U32 => "uint32",
        I64 => "int64",
        F16 => "float16",
        BF16 => "bfloat16",
        F32 => "float32",
        F64 => "float64",
    }
}

/// A tensor with one number in every element.
fn filled(spec: &Spec, literal: Literal) -> Result<Array, Error> {
    let size = spec.dtype.size();
    let mut bytes = AlignedBytes::zeroed(spec.bytes().unwrap_or(0) as usize)?;
    let little = literal.bits().to_le_bytes();
    if literal.bits() != 0 {
        for element in bytes.chunks_exact_mut(size) {
            element.copy_from_slice(&little[..size]);
            if cfg!(target_endian = "big") {
                element.reverse();
            }
        }
    }
    Ok(Array::from_aligned(spec.clone(), bytes)?)
}
