//! What the child answers, before it is brought together with what this process knows.

use monograph_ir::{AccessKind, FindingKind, KernelThread, Touch};

/// An answer of the child.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    /// Done.
    Done,
    /// Something is wrong with the kernel; the child is gone.
    Found(Box<Report>),
    /// The child did not understand; the child is gone.
    Refused(String),
}

/// A finding in the child's terms: addresses.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Report {
    pub(crate) kind: FindingKind,
    pub(crate) pc: Option<u64>,
    /// Addresses of calls that may be under way there, innermost first.
    pub(crate) returns: Vec<u64>,
    pub(crate) thread: Option<KernelThread>,
    pub(crate) access: Option<Touch>,
    pub(crate) address: Option<Address>,
    pub(crate) other_pc: Option<u64>,
    pub(crate) other_thread: Option<KernelThread>,
    pub(crate) other_access: Option<Touch>,
    pub(crate) waits: Vec<(Option<u64>, String)>,
    pub(crate) message: String,
}

/// What an address is to the launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Address {
    /// So many bytes from the start of a parameter.
    Parameter(usize, i64),
    /// So many bytes from the start of a shared array.
    Shared(String, i64),
    /// An address that belongs to nothing.
    Wild(u64),
}

impl Report {
    pub(crate) fn new(kind: FindingKind, message: impl Into<String>) -> Report {
        Report {
            kind,
            pc: None,
            returns: Vec::new(),
            thread: None,
            access: None,
            address: None,
            other_pc: None,
            other_thread: None,
            other_access: None,
            waits: Vec::new(),
            message: message.into(),
        }
    }

    /// Takes in one line of the child's; false for a line of no known form.
    fn take(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "pc" => set(&mut self.pc, hexadecimal(rest)),
            "return" => {
                let pc = hexadecimal(rest);
                self.returns.extend(pc);
                pc.is_some()
            }
            "thread" => set(&mut self.thread, thread(rest)),
            "address" => set(&mut self.address, address(rest)),
            "access" => set(&mut self.access, touch(rest)),
            "other-pc" => set(&mut self.other_pc, hexadecimal(rest)),
            "other-thread" => set(&mut self.other_thread, thread(rest)),
            "other-access" => set(&mut self.other_access, touch(rest)),
            "wait" => {
                let (pc, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let pc = hexadecimal(pc);
                // 0 stands for an unknown place.
                self.waits.push((pc.filter(|&pc| pc != 0), text.into()));
                pc.is_some()
            }
            "message" => {
                self.message = rest.into();
                true
            }
            _ => false,
        }
    }
}

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let known = value.is_some();
    *place = value;
    known
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

fn thread(text: &str) -> Option<KernelThread> {
    let numbers: Vec<u32> = text.split(' ').map(|w| w.parse().ok()).collect::<Option<_>>()?;
    match numbers[..] {
        [bx, by, bz, tx, ty, tz] => Some(KernelThread { block: [bx, by, bz], thread: [tx, ty, tz] }),
        _ => None,
    }
}

fn touch(text: &str) -> Option<Touch> {
    let (kind, bytes) = text.split_once(' ')?;
    let kind = match kind {
        "read" => AccessKind::Read,
        "write" => AccessKind::Write,
        "atomic" => AccessKind::Atomic,
        _ => return None,
    };
    Some(Touch { kind, bytes: bytes.parse().ok()? })
}

fn address(text: &str) -> Option<Address> {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        ["PARAM", number, offset] => Some(Address::Parameter(number.parse().ok()?, offset.parse().ok()?)),
        ["SHARED", name, offset] => Some(Address::Shared(name.into(), offset.parse().ok()?)),
        ["WILD", address] => hexadecimal(address).map(Address::Wild),
        _ => None,
    }
}

/// Reads one answer, line by line; `None` where the lines end before the answer does.
///
/// # Errors
/// The line that is of no known form, or what reading fails with.
pub(crate) fn read<E>(mut next: impl FnMut() -> Result<Option<String>, E>) -> Result<Option<Answer>, E> {
    let Some(first) = next()? else { return Ok(None) };
    let unknown = |line: &str| Ok(Some(Answer::Refused(format!("it answered `{line}`, which is not understood"))));
    if first == "ok" {
        return Ok(Some(Answer::Done));
    }
    if let Some(text) = first.strip_prefix("error ") {
        return Ok(Some(Answer::Refused(text.into())));
    }
    let kind = first.strip_prefix("finding ").and_then(|n| FindingKind::ALL.iter().find(|k| k.name() == n));
    let Some(&kind) = kind else { return unknown(&first) };
    let mut report = Report::new(kind, "");
    loop {
        match next()? {
            // What is there already is worth more than its missing end.
            None => return Ok(Some(Answer::Found(Box::new(report)))),
            Some(line) if line == "end" => return Ok(Some(Answer::Found(Box::new(report)))),
            Some(line) if report.take(&line) => {}
            Some(line) => return unknown(&line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn answer(text: &str) -> Option<Answer> {
        let mut lines = text.lines().map(String::from);
        read(|| Ok::<_, Infallible>(lines.next())).unwrap()
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(answer("ok\n"), Some(Answer::Done));
        assert_eq!(answer(""), None);
        assert_eq!(answer("error no kernel foo"), Some(Answer::Refused("no kernel foo".into())));
        let text = "finding race\npc 401a2f\nreturn 401a40\nthread 1 0 0 2 3 0\naddress SHARED tile -4\naccess read 4\nother-pc 0x40\n\
                    other-thread 1 0 0 0 0 0\nother-access atomic 8\nwait 0 threads 1..2\nmessage two words\nend\n";
        let mut expected = Report::new(FindingKind::Race, "two words");
        expected.pc = Some(0x401a2f);
        expected.returns = vec![0x401a40];
        expected.thread = Some(KernelThread { block: [1, 0, 0], thread: [2, 3, 0] });
        expected.address = Some(Address::Shared("tile".into(), -4));
        expected.access = Some(Touch { kind: AccessKind::Read, bytes: 4 });
        expected.other_pc = Some(0x40);
        expected.other_thread = Some(KernelThread { block: [1, 0, 0], thread: [0; 3] });
        expected.other_access = Some(Touch { kind: AccessKind::Atomic, bytes: 8 });
        expected.waits = vec![(None, "threads 1..2".into())];
        assert_eq!(answer(text), Some(Answer::Found(Box::new(expected.clone()))));
        assert_eq!(answer(&text.replace("end\n", "")), Some(Answer::Found(Box::new(expected))));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for text in ["hello", "finding nonsense\nend", "finding race\naddress HERE\nend", "finding race\nthread 1\nend"]
        {
            assert!(matches!(answer(text), Some(Answer::Refused(_))), "{text}");
        }
    }
}
