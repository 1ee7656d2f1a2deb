// No graph at all.
// ==== expected
// error 2:1: expected `graph @name(…) {…}`, found the end of the text
