package decoder

const misused = "decoder: a Decoder is used while it is at work: " +
	"it is for one goroutine at a time, and a Pool for many"

// begin marks the decoder as in use, until end. Together they notice most cases in which two
// goroutines use one decoder and a result would mix two documents. Like the check in Go's maps,
// this one costs nothing and may miss a case. An atomic operation would miss none, but takes as
// long as a twentieth of a small document; the race detector misses none either.
func (d *Decoder) begin() {
	if d.inUse {
		panic(misused)
	}
	d.inUse = true
}

// end panics if another goroutine has ended its use meanwhile: that goroutine then began before
// it could see inUse.
func (d *Decoder) end() {
	if !d.inUse {
		panic(misused)
	}
	d.inUse = false
}
