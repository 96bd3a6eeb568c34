package fuzz

import (
	"errors"
)

// compareStored compares what becomes of a document that was stored.
func (c *comparer) compareStored(doc []byte) (_ class, what, detail string) {
	object, theirs := c.server.DecodeStored(doc)
	out, ours := c.decoder.AppendJSON(nil, doc)
	var fault *StageError
	errors.As(theirs, &fault)
	switch {
	case fault != nil && fault.Stage == Capped:
		return capped, "", ""
	case fault != nil && fault.Stage == Panic && ours == nil:
		return serverPanics, "", ""
	case theirs != nil && ours != nil:
		return c.bothRefuse(doc, ours)
	case ours != nil:
		return differs, "verdict: only we refuse", ours.Error()
	case theirs != nil:
		return differs, "verdict: only they refuse", theirs.Error()
	}
	return compareExactly(object, out)
}
