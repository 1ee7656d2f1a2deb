//! From the driver's errors to those that users see.

use crate::driver::DriverError;
use monograph_ir::{DeviceError, DeviceErrorKind, Error};

/// Says what was being done when the driver refused.
pub(super) trait WithContext<T> {
    /// The same, or an error that says what was being done.
    fn during(self, what: &str) -> Result<T, Error>;
}

impl<T> WithContext<T> for Result<T, DriverError> {
    fn during(self, what: &str) -> Result<T, Error> {
        self.map_err(|error| Error::Device(device_error(&error, what)))
    }
}

fn device_error(error: &DriverError, what: &str) -> DeviceError {
    let kind = match error {
        DriverError::LibraryMissing { .. } | DriverError::SymbolMissing { .. } | DriverError::NoSuchDevice { .. } => {
            DeviceErrorKind::Unavailable
        }
        DriverError::WrongDevice { .. } => DeviceErrorKind::WrongDevice,
        e if e.is_out_of_memory() => DeviceErrorKind::OutOfMemory,
        e if e.is_device_lost() => DeviceErrorKind::Lost,
        _ => DeviceErrorKind::Driver,
    };
    let DriverError::Call { call, code, name, detail } = error else {
        return DeviceError { kind, call: None, code: None, message: format!("{what}: {error}") };
    };
    let advice = match kind {
        DeviceErrorKind::OutOfMemory => "; drop executables or arrays that are not needed, or make the program smaller",
        DeviceErrorKind::Lost => "; a kernel faulted, and the device can be used again only by a new process",
        _ => "",
    };
    let message = format!("{what}: {detail}{advice}");
    DeviceError { kind, call: Some(call), code: Some(format!("{code} ({name})")), message }
}
