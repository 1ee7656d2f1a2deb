//! Philox4x32-10, the counter-based random number generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
//! as easy as 1, 2, 3" (2011).
//!
//! A block of four words is a function of a key of 64 bits and a counter of 128 bits. There is no state to carry from one
//! block to the next, so each element of a tensor of random words is computed from its index.

/// Elements of the state of [`Op::RandomBits`](crate::Op::RandomBits): key, stream, position.
pub const STATE: usize = 3;

/// Words of a block.
pub const WORDS: usize = 4;

const ROUNDS: usize = 10;
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What each round adds to the key: the golden ratio and the root of 3, less 1, as binary fractions.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The block of a counter under a key. Words are in ascending order of their place in the number.
///
/// ```
/// use monograph_ir::philox::philox4x32;
///
/// // A vector that the authors published.
/// assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
/// ```
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k, mut l]) = (counter, key);
    for _ in 0..ROUNDS {
        let p = u64::from(MULTIPLIERS[0]) * u64::from(a);
        let q = u64::from(MULTIPLIERS[1]) * u64::from(c);
        let (high_p, high_q) = ((p >> 32) as u32, (q >> 32) as u32);
        (a, b, c, d) = (high_q ^ b ^ k, q as u32, high_p ^ d ^ l, p as u32);
        k = k.wrapping_add(WEYL[0]);
        l = l.wrapping_add(WEYL[1]);
    }
    [a, b, c, d]
}

/// The block that lies `offset` blocks behind a state `[key, stream, position]`, each the bits of an unsigned number:
/// the counter is `stream · 2⁶⁴ + position + offset`, modulo 2¹²⁸.
pub fn block([key, stream, position]: [i64; STATE], offset: u64) -> [u32; 4] {
    let (low, carry) = (position as u64).overflowing_add(offset);
    let high = (stream as u64).wrapping_add(u64::from(carry));
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    let ([a, b], [c, d]) = (halves(low), halves(high));
    philox4x32([a, b, c, d], halves(key as u64))
}
