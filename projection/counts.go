package projection

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Counts say what a [Projection] has done so far.
type Counts struct {
	// Objects and Lists are how many were projected to their ends, and
	// Events how many events of watches.
	Objects, Lists, Events uint64
	// BytesRead is how many bytes were read of them, after decompression, and
	// BytesKept how many of these were left.
	BytesRead, BytesKept uint64
	// Passed is how many responses to reads of the rules' resources were
	// passed on as they are, by the reason: one of the constants such as
	// [PassedTable].
	Passed map[string]uint64
	// Failed is how many responses have ended with an error: they were
	// malformed, too large, or could not be read to their ends.
	Failed uint64
	// Refused is how many writes were refused.
	Refused uint64
}

// The reasons in [Counts].
const (
	// PassedPath is a read by a path that servers may read differently: with
	// empty elements, escapes, a slash at the end, or below /watch.
	PassedPath = "path"
	// PassedSubresource is a read of a subresource, such as scale or log.
	PassedSubresource = "subresource"
	// PassedAccept is a request that accepts no JSON, such as one for
	// protobuf alone.
	PassedAccept = "accept"
	// PassedTable is a request for another form of the objects: a Table, or
	// PartialObjectMetadata.
	PassedTable = "table"
	// PassedQuery is a request with several parameters watch.
	PassedQuery = "query"
	// PassedRange is a request for a part of a response.
	PassedRange = "range"
	// PassedUpgrade is a request that switches protocols, such as a watch
	// over a WebSocket.
	PassedUpgrade = "upgrade"
	// PassedStatus is a response with another status code than 200.
	PassedStatus = "status"
	// PassedType is a response that is not JSON.
	PassedType = "type"
	// PassedEncoding is a response in an encoding other than gzip.
	PassedEncoding = "encoding"
)

type counters struct {
	objects, lists, events, read, kept, failed, refused atomic.Uint64

	mu     sync.Mutex
	passed map[string]uint64
}

func (c *counters) pass(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed[why]++
}

// Counts returns what was counted. Bytes of a list are counted when it ends.
func (p *Projection) Counts() Counts {
	c := &p.count
	c.mu.Lock()
	defer c.mu.Unlock()
	return Counts{
		Objects: c.objects.Load(), Lists: c.lists.Load(), Events: c.events.Load(),
		BytesRead: c.read.Load(), BytesKept: c.kept.Load(),
		Passed: maps.Clone(c.passed), Failed: c.failed.Load(), Refused: c.refused.Load(),
	}
}
