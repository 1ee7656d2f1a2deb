// What a CUDA graph cannot hold: shapes that depend on data, and reads on the host.
graph @rejected(%x: f32[8], %n: i64[]) {
  %where = nonzero %x : i64[?]
  item %n
  return %where
}
