graph @f(%x: f32[2]) {
  return "a" = %x, probe "a" = %x, "a" = %x
}
// ==== expected
// error 2:36: output name "a" is empty or taken
