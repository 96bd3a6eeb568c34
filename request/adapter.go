package request

// What adapters need that send headers before the body is judged, and that hold bytes of their own.

// Outlook returns what Decode or Stream will pass on unless it refuses: the
// type without parameters, and whether the body may be another than was sent.
// Adapters that must send headers before the body has arrived use it after
// Find, or when the body is read first, which a finder may do within Find. The
// type is empty if no schema judges the body.
func (x *Exchange) Outlook() (contentType string, isChanged bool) {
	switch {
	case x.refused != nil || x.isFound && x.resource == nil && !x.isFinding:
		return "", x.gzip
	case x.gate.opts.Action == Report:
		return x.form.readAs(), x.gzip
	}
	return x.form.passedOnAs(), true
}

// Hold charges n bytes that the adapter holds for the request, until Close. It
// reports whether there was room for them. A negative n gives bytes back.
func (x *Exchange) Hold(n int) bool { return x.memory.charge(n) }
