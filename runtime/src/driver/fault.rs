//! Makes chosen driver calls of one context fail, and lists the calls made: for tests of what happens then.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::sys::CUresult;

/// The answer that an injected fault gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultCode {
    /// Memory ran out.
    OutOfMemory,
    /// A kernel touched memory that is not its own; device lost.
    IllegalAddress,
    /// The driver refuses the arguments.
    InvalidValue,
    /// A kernel failed for an unknown reason; device lost.
    LaunchFailed,
}

impl FaultCode {
    fn result(self) -> CUresult {
        match self {
            FaultCode::OutOfMemory => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            FaultCode::IllegalAddress => CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            FaultCode::InvalidValue => CUresult::CUDA_ERROR_INVALID_VALUE,
            FaultCode::LaunchFailed => CUresult::CUDA_ERROR_LAUNCH_FAILED,
        }
    }
}

/// One planned failure. The driver is not asked when it strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The driver function that fails.
    pub(crate) call: &'static str,
    /// How many calls of it succeed before.
    pub(crate) skip: u32,
    /// How many calls of it fail then.
    pub(crate) times: u32,
    /// With what.
    pub(crate) code: FaultCode,
}

/// The hook of one context. While nothing is planned or recorded, it costs one relaxed load and one branch a call.
#[derive(Debug, Default)]
pub(super) struct FaultHook {
    armed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    faults: Vec<Fault>,
    calls: Option<Vec<&'static str>>,
}

impl FaultHook {
    /// The answer that a test planned for this call, if any.
    #[inline]
    pub(super) fn intercept(&self, call: &'static str) -> Option<CUresult> {
        if self.armed.load(Ordering::Relaxed) { self.intercept_armed(call) } else { None }
    }

    #[cold]
    fn intercept_armed(&self, call: &'static str) -> Option<CUresult> {
        self.update(|state| {
            if let Some(calls) = &mut state.calls {
                calls.push(call);
            }
            let at = state.faults.iter().position(|f| f.call == call)?;
            let fault = &mut state.faults[at];
            if fault.skip > 0 {
                fault.skip -= 1;
                return None;
            }
            let result = fault.code.result();
            fault.times -= 1;
            if fault.times == 0 {
                state.faults.remove(at);
            }
            Some(result)
        })
    }

    /// Plans a failure, after those already planned.
    pub(super) fn plan(&self, fault: Fault) {
        self.update(|state| {
            if fault.times > 0 {
                state.faults.push(fault);
            }
        });
    }

    /// Forgets every planned failure.
    pub(super) fn clear(&self) {
        self.update(|state| state.faults.clear());
    }

    /// Starts a new list of calls.
    pub(super) fn record(&self) {
        self.update(|state| state.calls = Some(Vec::new()));
    }

    /// Ends the list of calls and returns it.
    pub(super) fn recorded(&self) -> Vec<&'static str> {
        self.update(|state| state.calls.take().unwrap_or_default())
    }

    fn update<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        // A test that panicked while it held the lock left plain data behind, which is still fine to use.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let result = change(&mut state);
        self.armed.store(!state.faults.is_empty() || state.calls.is_some(), Ordering::Relaxed);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_strikes_where_and_as_often_as_planned() {
        let hook = FaultHook::default();
        hook.plan(Fault { call: "cuMemAlloc_v2", skip: 1, times: 2, code: FaultCode::OutOfMemory });
        let answers: Vec<_> = (0..4).map(|_| hook.intercept("cuMemAlloc_v2")).collect();
        let oom = Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(answers, [None, oom, oom, None]);
        assert!(!hook.armed.load(Ordering::Relaxed), "a spent hook costs nothing again");
    }

    #[test]
    fn other_calls_and_other_contexts_are_left_alone() {
        let (one, two) = (FaultHook::default(), FaultHook::default());
        one.plan(Fault { call: "cuGraphLaunch", skip: 0, times: 1, code: FaultCode::LaunchFailed });
        assert_eq!(one.intercept("cuMemAlloc_v2"), None);
        assert_eq!(two.intercept("cuGraphLaunch"), None);
        assert_eq!(one.intercept("cuGraphLaunch"), Some(CUresult::CUDA_ERROR_LAUNCH_FAILED));
    }

    #[test]
    fn calls_are_listed_in_order() {
        let hook = FaultHook::default();
        hook.intercept("before");
        hook.record();
        hook.intercept("cuGraphLaunch");
        hook.intercept("cuEventRecord");
        assert_eq!(hook.recorded(), ["cuGraphLaunch", "cuEventRecord"]);
        assert_eq!(hook.recorded(), [""; 0]);
    }
}
