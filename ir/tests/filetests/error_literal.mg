graph @f() {
  %a = constant 256 : u8[]
  return %a
}
// ==== expected
// error 2:17: `256` is no value of u8
