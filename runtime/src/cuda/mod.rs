//! CUDA devices.

use crate::backend::DeviceBackend;
use monograph_ir::{DeviceError, DeviceErrorKind, Error};

/// The CUDA device of that number.
pub(crate) fn device(number: u32) -> Result<impl DeviceBackend + 'static, Error> {
    let _ = number;
    Err::<crate::host::Host, _>(Error::Device(DeviceError {
        kind: DeviceErrorKind::Unavailable,
        call: None,
        code: None,
        message: "CUDA devices are not assembled".into(),
    }))
}
