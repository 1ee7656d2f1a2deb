graph @"an empty graph"() { return }
// ==== expected
// graph @"an empty graph"() {
//   return
// }
