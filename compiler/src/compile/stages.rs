//! How long each stage of a compilation took.

use std::fmt;
use std::time::{Duration, Instant};

/// One stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Wall time.
    pub time: Duration,
}

/// The stages of a compilation in their order. Displays as a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stages(pub Vec<Stage>);

impl Stages {
    /// Runs a stage and notes its time.
    pub(crate) fn time<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        let time = start.elapsed();
        tracing::debug!(stage = name, ?time);
        self.0.push(Stage { name, time });
        result
    }

    /// The time of all of them.
    pub fn total(&self) -> Duration {
        self.0.iter().map(|s| s.time).sum()
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = Stage { name: "total", time: self.total() };
        for stage in self.0.iter().chain([&total]) {
            writeln!(f, "{:<12} {:>10.3} ms", stage.name, stage.time.as_secs_f64() * 1e3)?;
        }
        Ok(())
    }
}
