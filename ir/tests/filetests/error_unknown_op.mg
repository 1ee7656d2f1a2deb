graph @f(%x: f32[2]) {
  %y = maximun %x, %x
  return %y
}
// ==== expected
// error 2:8: there is no op `maximun`; did you mean `maximum`?
