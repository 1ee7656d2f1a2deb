graph @f(%input: f32[2]) {
  %y = neg %inptu
  return %y
}
// ==== expected
// error 2:12: `%inptu` is not defined above; did you mean `%input`?
