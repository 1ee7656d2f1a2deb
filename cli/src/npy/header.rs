//! The header of a .npy file: a Python dictionary with `descr`, `fortran_order` and `shape`.

use super::MAGIC;
use std::io::Read;

/// The longest header that is read, in bytes. NumPy refuses more than 10,000.
const LONGEST: u64 = 1 << 16;

/// What a header says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// The type string: `<f4`.
    pub(super) descr: String,
    /// Whether the first dimension is the contiguous one.
    pub(super) fortran: bool,
    /// Extents.
    pub(super) shape: Vec<u64>,
}

impl Header {
    /// Reads a header, and returns its size in bytes with all that comes before the data.
    pub(super) fn read(reader: &mut impl Read, length: Option<u64>) -> Result<(Header, u64), String> {
        let mut take = |count: u64| {
            let mut bytes = Vec::new();
            let read = reader.by_ref().take(count).read_to_end(&mut bytes);
            read.map_err(|e| format!("cannot be read: {e}")).map(|_| bytes)
        };
        let start = take(8)?;
        if !start.starts_with(MAGIC) {
            return Err(match () {
                () if start.is_empty() => "is empty".into(),
                () if MAGIC.starts_with(&start) => "is truncated in its header".into(),
                () if start.starts_with(b"PK") => {
                    "is a .npz archive; give one array of it, saved with numpy.save".into()
                }
                () => "is no .npy file: it does not start as one".into(),
            });
        }
        let count_bytes = match start[6..] {
            [1, _] => 2,
            [2 | 3, _] => 4,
            [major, minor] => return Err(format!("has version {major}.{minor} of the format; 1 to 3 are known")),
            _ => return Err("is truncated in its header".into()),
        };
        let count = take(count_bytes)?;
        if count.len() as u64 != count_bytes {
            return Err("is truncated in its header".into());
        }
        let count = count.iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let size = 8 + count_bytes + count;
        if length.is_some_and(|length| size > length) {
            return Err("is truncated in its header".into());
        }
        if count > LONGEST {
            return Err(format!("has a header of {count} bytes, and more than {LONGEST} are refused"));
        }
        let text = take(count)?;
        if text.len() as u64 != count {
            return Err("is truncated in its header".into());
        }
        let text = String::from_utf8_lossy(&text);
        let header = Reader { rest: &text }.header().map_err(|e| format!("has a malformed header: {e}"))?;
        Ok((header, size))
    }
}

/// Reads the few forms of Python literals that a header has.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn header(mut self) -> Result<Header, String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.accept('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" if self.next() == Some('[') => {
                    return Err("it holds records; save one field of them, x['name']".into());
                }
                "descr" => descr = Some(self.string()?.to_string()),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.tuple()?),
                other => return Err(format!("the key {other:?} is not known")),
            }
            if !self.accept(',') {
                self.expect('}')?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err("something follows the dictionary".into());
        }
        let missing = |key: &str| format!("the key {key:?} is missing");
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.next() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) {
            return Ok(());
        }
        Err(match self.next() {
            Some(found) => format!("{wanted:?} was expected where {found:?} stands"),
            None => format!("{wanted:?} was expected at its end"),
        })
    }

    /// A string without escapes.
    fn string(&mut self) -> Result<&'a str, String> {
        let quote = self.next().filter(|c| matches!(c, '\'' | '"')).ok_or("a string was expected")?;
        let (text, rest) = self.rest[1..].split_once(quote).ok_or("a string does not end")?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            other => Err(format!("True or False was expected where {other:?} stands")),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        let mut extents = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            let word = self.word();
            // Python 2 wrote a long integer with an L.
            let digits = word.strip_suffix('L').unwrap_or(word);
            let extent = digits.parse().map_err(|_| format!("{word:?} is no extent between 0 and 2^64"))?;
            extents.push(extent);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(extents)
    }

    /// What comes before the next space or punctuation.
    fn word(&mut self) -> &'a str {
        self.next();
        let end = self.rest.find(|c: char| c.is_whitespace() || ",:(){}[]".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// A header with all that comes before the data: a multiple of 64 bytes, so that the data can be mapped aligned.
pub(super) fn bytes(descr: &str, dims: &[usize]) -> Vec<u8> {
    let comma = if dims.len() == 1 { "," } else { "" };
    let shape = dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    // Version 1 counts the text with two bytes.
    let (version, count_bytes) = if text.len() < 0xff00 { (1u8, 2) } else { (2, 4) };
    let before = MAGIC.len() + 2 + count_bytes;
    let padding = (before + text.len() + 1).next_multiple_of(64) - (before + text.len() + 1);
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version, 0]);
    bytes.extend(&(text.len() as u32).to_le_bytes()[..count_bytes]);
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Header, String> {
        Reader { rest: text }.header()
    }

    #[test]
    fn headers_are_read_in_any_order_and_spacing() {
        let header = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n").unwrap();
        assert_eq!(header, Header { descr: "<f4".into(), fortran: false, shape: vec![2, 3] });
        let header = parse("{\"shape\":(5L,),\"fortran_order\":True,\"descr\":\"|b1\"}").unwrap();
        assert_eq!(header, Header { descr: "|b1".into(), fortran: true, shape: vec![5] });
        assert_eq!(parse("{'descr':'<f8','fortran_order':False,'shape':()}").unwrap().shape, [] as [u64; 0]);
    }

    #[test]
    fn malformed_headers_are_errors() {
        let wrong = [
            "",
            "{",
            "}",
            "{'descr'",
            "{'descr':",
            "{'descr': 3}",
            "{'shape': (1 2)}",
            "{'shape': (-1,)}",
            "{'shape': (99999999999999999999,)}",
            "{'fortran_order': 1}",
            "{'descr': '<f4}",
            "{'a': 'b'}",
            "{'descr':'<f4','fortran_order':False}",
            "{'descr':'<f4','fortran_order':False,'shape':()} x",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
            "((((((",
            "{é}",
        ];
        for text in wrong {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"(".repeat(60_000)).is_err());
    }

    #[test]
    fn written_headers_are_aligned_and_read_back() {
        for dims in [&[][..], &[3], &[2, 0, 5], &[usize::MAX; 40], &[1; 30_000]] {
            let bytes = bytes("<f4", dims);
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(bytes.last(), Some(&b'\n'));
            if bytes.len() < LONGEST as usize {
                let (header, size) = Header::read(&mut &bytes[..], Some(bytes.len() as u64)).unwrap();
                assert_eq!(size, bytes.len() as u64);
                assert_eq!(header.shape, dims.iter().map(|&d| d as u64).collect::<Vec<_>>());
            }
        }
    }
}
