//! What can be chosen about an emulation.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Choices of the emulator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EmulatorOptions {
    /// In which order threads, blocks and launches run.
    pub schedule: Schedule,
    /// Whether every access to memory is checked: races, bounds, bytes that nobody wrote, and more. Without it kernels
    /// run several times faster, and only barriers, masks, crashes, hangs and the time limit are looked at.
    pub checked: bool,
    /// How long one launch may take.
    pub time_limit: Duration,
    /// Whether kernels are to be stepped through with a debugger: they are compiled without optimization and with all
    /// that a debugger wants to know, and before the first launch the process that runs them waits until a debugger is
    /// attached, which standard error says how to do. There is no time limit then.
    pub debugger: bool,
}

impl Default for EmulatorOptions {
    fn default() -> EmulatorOptions {
        EmulatorOptions {
            schedule: Schedule::InOrder,
            checked: true,
            time_limit: Duration::from_secs(60),
            debugger: false,
        }
    }
}

/// The order in which threads run. A correct kernel gives the same results under each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Schedule {
    /// Blocks and threads ascending; a thread runs until it waits. Launches in the plan's order.
    #[default]
    InOrder,
    /// Blocks and threads descending. Launches in the plan's order.
    Reverse,
    /// Launches, blocks and threads in a random order that is a function of this seed.
    Seeded(u64),
}

impl Schedule {
    /// The name that the child process knows.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Schedule::InOrder => "in-order",
            Schedule::Reverse => "reverse",
            Schedule::Seeded(_) => "seeded",
        }
    }

    /// The seed of one launch of one replay.
    pub(crate) fn seed(self, replay: u64, launch: u64) -> u64 {
        match self {
            Schedule::InOrder | Schedule::Reverse => 0,
            Schedule::Seeded(seed) => {
                let mut hasher = blake3::Hasher::new();
                for number in [seed, replay, launch] {
                    hasher.update(&number.to_le_bytes());
                }
                let mut first = [0; 8];
                first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
                u64::from_le_bytes(first)
            }
        }
    }
}

/// `in-order`, `reverse` or the seed.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Seeded(seed) => write!(f, "seed {seed}"),
            other => f.write_str(other.word()),
        }
    }
}

/// A text that names no schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownSchedule;

impl fmt::Display for UnknownSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schedules are `in-order`, `reverse`, and a number, the seed of a random one")
    }
}

impl std::error::Error for UnknownSchedule {}

/// Reads `in-order`, `reverse`, or a number: the seed.
impl FromStr for Schedule {
    type Err = UnknownSchedule;

    fn from_str(text: &str) -> Result<Schedule, UnknownSchedule> {
        match text {
            "in-order" => Ok(Schedule::InOrder),
            "reverse" => Ok(Schedule::Reverse),
            seed => seed.parse().map(Schedule::Seeded).map_err(|_| UnknownSchedule),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read() {
        assert_eq!("in-order".parse(), Ok(Schedule::InOrder));
        assert_eq!("reverse".parse(), Ok(Schedule::Reverse));
        assert_eq!("7".parse(), Ok(Schedule::Seeded(7)));
        assert_eq!("seven".parse::<Schedule>(), Err(UnknownSchedule));
        assert_eq!("-1".parse::<Schedule>(), Err(UnknownSchedule));
    }

    #[test]
    fn seeds_differ_by_launch_and_replay_and_repeat() {
        let schedule = Schedule::Seeded(5);
        let seeds = [schedule.seed(0, 0), schedule.seed(0, 1), schedule.seed(1, 0), Schedule::Seeded(6).seed(0, 0)];
        for (i, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..i].contains(seed));
        }
        assert_eq!(schedule.seed(0, 1), seeds[1]);
        assert_eq!(Schedule::Reverse.seed(3, 4), 0);
    }
}
