//! Random data that is the same on every machine.

use half::{bf16, f16};
use monograph_ir::{Array, ArrayError, DType, Element, Spec};

/// A tensor drawn from a seed, for the parameter of that name and the replay of that number.
///
/// Floats are uniform in [-1, 1), on a grid that the dtype holds exactly; integers are 0 to 7, so that they can be
/// indices of small tables; bools are fair.
///
/// # Errors
/// A spec that memory cannot hold.
pub(crate) fn array(spec: &Spec, seed: u64, name: &str, replay: u64) -> Result<Array, ArrayError> {
    let stream = name.bytes().fold(seed, |state, byte| mix(state ^ u64::from(byte)));
    let mut numbers = SplitMix(mix(stream ^ mix(replay)));
    fn fill<T: Element>(spec: &Spec, mut draw: impl FnMut() -> T) -> Result<Array, ArrayError> {
        Array::from_fn(spec.shape.clone(), |_| draw())
    }
    match spec.dtype {
        DType::Bool => fill(spec, || numbers.bits(1) == 1),
        DType::I8 => fill(spec, || numbers.bits(3) as i8),
        DType::U8 => fill(spec, || numbers.bits(3) as u8),
        DType::I32 => fill(spec, || numbers.bits(3) as i32),
        DType::U32 => fill(spec, || numbers.bits(3) as u32),
        DType::I64 => fill(spec, || numbers.bits(3) as i64),
        // One bit more than the mantissa's, because the sign counts too: no rounding, so never 1.
        DType::F16 => fill(spec, || f16::from_f64(numbers.unit(11))),
        DType::BF16 => fill(spec, || bf16::from_f64(numbers.unit(8))),
        DType::F32 => fill(spec, || numbers.unit(24) as f32),
        DType::F64 => fill(spec, || numbers.unit(53)),
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
struct SplitMix(u64);

impl SplitMix {
    /// The next number below 2^count.
    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) >> (64 - count)
    }

    /// The next multiple of 2^(1 - count) in [-1, 1).
    fn unit(&mut self, count: u32) -> f64 {
        let half = (1u64 << (count - 1)) as f64;
        self.bits(count) as f64 / half - 1.0
    }
}

/// SplitMix64's finalizer.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first numbers of the reference implementation for the seed 1234567.
        let mut numbers = SplitMix(1_234_567);
        let first: Vec<u64> = (0..3)
            .map(|_| {
                numbers.0 = numbers.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
                mix(numbers.0)
            })
            .collect();
        assert_eq!(first, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn floats_lie_in_their_interval_and_integers_are_small() {
        for dtype in DType::ALL {
            let array = array(&Spec::new(dtype, [4096]), 7, "x", 0).unwrap();
            let numbers: Vec<f64> = match dtype {
                DType::Bool => array.to_vec::<bool>().unwrap().into_iter().map(|b| f64::from(u8::from(b))).collect(),
                DType::I8 => array.to_vec::<i8>().unwrap().into_iter().map(f64::from).collect(),
                DType::U8 => array.to_vec::<u8>().unwrap().into_iter().map(f64::from).collect(),
                DType::I32 => array.to_vec::<i32>().unwrap().into_iter().map(f64::from).collect(),
                DType::U32 => array.to_vec::<u32>().unwrap().into_iter().map(f64::from).collect(),
                DType::I64 => array.to_vec::<i64>().unwrap().into_iter().map(|n| n as f64).collect(),
                DType::F16 => array.to_vec::<f16>().unwrap().into_iter().map(f64::from).collect(),
                DType::BF16 => array.to_vec::<bf16>().unwrap().into_iter().map(f64::from).collect(),
                DType::F32 => array.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
                DType::F64 => array.to_vec::<f64>().unwrap(),
            };
            let mean = numbers.iter().sum::<f64>() / 4096.0;
            let (low, high, expected) = match dtype {
                DType::Bool => (0.0, 1.0, 0.5),
                d if d.is_float() => (-1.0, 0.999_999_999_999_999_9, 0.0),
                _ => (0.0, 7.0, 3.5),
            };
            assert!(numbers.iter().all(|n| (low..=high).contains(n)), "{dtype}");
            assert!((mean - expected).abs() < 0.15, "{dtype}: mean {mean}");
        }
    }

    #[test]
    fn seed_name_and_replay_matter_and_nothing_else() {
        let draw = |seed, name, replay| {
            let array = array(&Spec::new(DType::U32, [16]), seed, name, replay).unwrap();
            array.to_vec::<u32>().unwrap()
        };
        assert_eq!(draw(1, "x", 0), draw(1, "x", 0));
        assert_ne!(draw(1, "x", 0), draw(2, "x", 0));
        assert_ne!(draw(1, "x", 0), draw(1, "y", 0));
        assert_ne!(draw(1, "x", 0), draw(1, "x", 1));
    }
}
