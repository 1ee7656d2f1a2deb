//! Reads from a cubin which parameters a kernel declares.
//!
//! The driver can be asked too, but says where the list ends only by failing, which tools that watch the driver's
//! calls report as an error. A cubin is an ELF file; the section `.nv.info.SYMBOL` is a list of attributes, and one
//! `KPARAM_INFO` describes each parameter.

use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{Endianness, elf};

/// Attribute formats: how long the value is.
const FORMAT_SIZED: u8 = 4;
/// The attribute that describes one parameter.
const KPARAM_INFO: u8 = 0x17;

/// The size in bytes of every parameter of a kernel, or `None` where the image is no cubin or does not say.
pub(super) fn parameters(image: &[u8], symbol: &str) -> Option<Vec<usize>> {
    let header = elf::FileHeader64::<Endianness>::parse(image).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, image).ok()?;
    let wanted = [b".nv.info.", symbol.as_bytes()].concat();
    let section = sections.iter().find(|s| sections.section_name(endian, s).is_ok_and(|name| name == wanted))?;
    attributes(section.data(endian, image).ok()?)
}

/// The sizes that a list of attributes gives to the parameters, in order.
fn attributes(mut rest: &[u8]) -> Option<Vec<usize>> {
    let mut sizes: Vec<(u16, usize)> = Vec::new();
    while let [format, attribute, a, b, tail @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*a, *b]));
        // All other formats hold their value in the two bytes that hold the length here.
        let (value, next) = if *format == FORMAT_SIZED { tail.split_at_checked(length)? } else { (&[][..], tail) };
        if *attribute == KPARAM_INFO && *format == FORMAT_SIZED {
            let ordinal = u16::from_le_bytes(value.get(4..6)?.try_into().ok()?);
            let packed = u32::from_le_bytes(value.get(8..12)?.try_into().ok()?);
            sizes.push((ordinal, (packed >> 18) as usize));
        }
        rest = next;
    }
    sizes.sort_unstable();
    let in_order = sizes.iter().enumerate().all(|(i, (ordinal, _))| usize::from(*ordinal) == i);
    (in_order && rest.is_empty()).then(|| sizes.into_iter().map(|(_, size)| size).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvrtc::{CompileRequest, Nvrtc};

    #[test]
    fn what_nvrtc_compiled_says_its_parameters() {
        let Ok(nvrtc) = Nvrtc::find() else {
            assert!(std::env::var_os("MONOGRAPH_REQUIRE_NVRTC").is_none(), "NVRTC is required");
            println!("skipped: no NVRTC");
            return;
        };
        let source = r#"
            struct Odd { char bytes[13]; };
            extern "C" __global__ void none() {}
            extern "C" __global__ void some(const float* a, int b, char c, Odd d, double* e) { e[b] = a[c] + d.bytes[2]; }
        "#;
        for arch in ["sm_80", "sm_90a"] {
            let compiled = nvrtc.compile(&CompileRequest::new("parameters", source, arch)).expect("it compiles");
            assert_eq!(parameters(&compiled.image, "some"), Some(vec![8, 4, 1, 13, 8]), "{arch}");
            assert_eq!(parameters(&compiled.image, "none"), Some(vec![]), "{arch}");
            assert_eq!(parameters(&compiled.image, "other"), None);
            assert_eq!(parameters(&compiled.image[..compiled.image.len() / 2], "some"), None);
        }
        assert_eq!(parameters(b".version 8.0", "some"), None);
    }

    #[test]
    fn a_broken_list_says_nothing() {
        assert_eq!(attributes(&[]), Some(vec![]));
        assert_eq!(attributes(&[4, KPARAM_INFO, 12, 0, 0, 0]), None);
        assert_eq!(attributes(&[3, 0x19, 8]), None);
        let second_only = [4, KPARAM_INFO, 12, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0x20, 0];
        assert_eq!(attributes(&second_only), None);
    }
}
