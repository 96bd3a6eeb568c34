package findings

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/program"
)

// manyDuplicates is from how many duplicates on a map finds those with one path.
const manyDuplicates = 128

// mergeDuplicates makes one finding of duplicates with the same path, as the API
// server does: an object that is repeated may hold the same repetitions. The
// duplicates come first in the order.
func (c *Collector) mergeDuplicates() {
	count := 0
	for count < len(c.order) && c.order[count].rank == rankDuplicate {
		count++
	}
	if count < 2 {
		return
	}
	var byPath map[string]int32
	if count > manyDuplicates {
		byPath = make(map[string]int32, count)
	}
	kept := c.order[:0]
	for _, e := range c.order[:count] {
		r := &c.records[e.at]
		path := c.encoded(r)
		first, known := byPath[path]
		if byPath == nil {
			same := slices.IndexFunc(kept, func(kept ordered) bool {
				return c.encoded(&c.records[kept.at]) == path
			})
			if known = same >= 0; known {
				first = kept[same].at
			}
		}
		if known {
			c.records[first].Count += r.Count
			continue
		}
		if byPath != nil {
			byPath[path] = e.at
		}
		kept = append(kept, e)
	}
	c.order = append(kept, c.order[count:]...)
}

// rank returns the group of a record among those in which the API server reports.
// What the server does not report comes last.
func (r *Record) rank() rank {
	switch {
	case r.Kind == errors.DuplicateField:
		return rankDuplicate
	case r.Kind != errors.UnknownField:
		return rankOther
	case r.Group == program.RootMetadata:
		return rankRootMetadata
	case r.Group == program.Pruned:
		return rankPruned
	}
	return rankEmbedded
}

type rank uint8

const (
	rankDuplicate    rank = iota // in the order of the document
	rankRootMetadata             // in the order of a walk with sorted names
	rankPruned                   // by the server's spelling of the path
	rankEmbedded                 // by another spelling of it
	rankOther                    // in the order of the document
)

// sort puts the records into the order in which the API server reports them.
func (c *Collector) sort(root *program.Node, asServer bool) {
	c.spelled, c.texts = c.spelled[:0], c.texts[:0]
	var in, around container // of the last record that was spelled
	for i := range c.records {
		r := &c.records[i]
		r.sort, r.text = len(c.spelled), len(c.texts)
		switch r.rank() {
		case rankPruned:
			in, around = c.spellPruned(r, in, around)
		case rankEmbedded:
			c.spell(r, root, asServer)
		}
		r.sortEnd, r.textEnd = len(c.spelled), len(c.texts)
	}
	common := c.commonStart()
	c.order = c.order[:0]
	for i := range c.records {
		r := &c.records[i]
		if r.Kind == errors.InvalidValue {
			continue // see FinishInvalid
		}
		e := ordered{at: int32(i), rank: r.rank(), key: uint64(r.At)}
		switch e.rank {
		case rankRootMetadata:
			e.key = 0
		case rankPruned, rankEmbedded:
			e.key = firstBytes(c.spelled[r.sort+common : r.sortEnd])
		}
		c.order = append(c.order, e)
	}
	// No two are equal. But a stable sort compares less where the order is that of the document, as it
	// mostly is among elements whose indices have as many digits.
	slices.SortStableFunc(c.order, func(x, y ordered) int {
		switch {
		case x.rank != y.rank:
			return int(x.rank) - int(y.rank)
		case x.key != y.key:
			return cmp.Compare(x.key, y.key)
		}
		return c.compare(x.rank, &c.records[x.at], &c.records[y.at])
	})
}

// An ordered is the index of a record, with a key that decides the order of most
// records of a rank.
type ordered struct {
	key  uint64
	at   int32
	rank rank
}

// firstBytes returns the first eight bytes of a text as a number that sorts as they
// do.
func firstBytes(text []byte) uint64 {
	var b [8]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:])
}

// commonStart returns how many bytes all texts that records are sorted by have in
// common at their start. The first of these texts starts c.spelled.
func (c *Collector) commonStart() int {
	common := len(c.spelled)
	for i := range c.records {
		r := &c.records[i]
		if rank := r.rank(); rank != rankPruned && rank != rankEmbedded {
			continue
		}
		text, n := c.spelled[r.sort:r.sortEnd], 0
		for n < min(common, len(text)) && c.spelled[n] == text[n] {
			n++
		}
		common = n
	}
	return common
}

// compare compares two records of a rank by the order in which they are reported. No
// two are equal.
func (c *Collector) compare(rank rank, a, b *Record) int {
	by := 0
	switch rank {
	case rankRootMetadata:
		by = fieldpath.Compare(c.encoded(a), c.encoded(b))
	case rankPruned, rankEmbedded:
		by = bytes.Compare(c.spelled[a.sort:a.sortEnd], c.spelled[b.sort:b.sortEnd])
	}
	return cmp.Or(by, cmp.Compare(a.At, b.At), cmp.Compare(a.path, b.path))
}

// A container holds the value of a record. It is known by its encoded path, and by the place in c.spelled
// at which that path is spelled.
type container struct {
	path     string
	from, to int
}

// spellPruned appends to c.spelled the text by which the API server sorts the record: the path, with
// names as they are. It takes and returns the container of the last record and the one around that.
// Most records are in one of the two, whose text is copied.
func (c *Collector) spellPruned(r *Record, in, around container) (_, _ container) {
	path, from := c.encoded(r), len(c.spelled)
	for !strings.HasPrefix(path, in.path) {
		in, around = around, container{}
	}
	c.spelled = append(c.spelled, c.spelled[in.from:in.to]...)
	for rest := path[len(in.path):]; rest != ""; {
		var s fieldpath.Segment
		s, rest = fieldpath.Cut(rest)
		c.appendSpelled(s, in.path == "")
		if rest != "" {
			in, around = container{path[:len(path)-len(rest)], from, len(c.spelled)}, in
		}
	}
	return in, around
}

// appendSpelled appends a segment to c.spelled.
func (c *Collector) appendSpelled(s fieldpath.Segment, first bool) {
	if !s.IsName {
		c.spelled = fieldpath.AppendStep(c.spelled, s, first, false)
		return
	}
	if !first {
		c.spelled = append(c.spelled, '.')
	}
	c.spelled = append(c.spelled, s.Name...)
}

// spell is spellPruned for a record whose path leads to the metadata of an embedded resource, from the
// root n. Keys of maps are in brackets up to there; and if there are any, the text of server messages
// goes to c.texts.
func (c *Collector) spell(r *Record, n *program.Node, asServer bool) {
	first, hasKey := true, false
	for s := range fieldpath.Segments(c.encoded(r)) {
		isKey := false
		var next *program.Node
		if n != nil && n.Group == program.Pruned {
			next, isKey = c.follow(n, s)
		}
		if isKey || next != nil && s.IsName && s.Name == "" {
			c.spelled = append(append(append(c.spelled, '['), s.Name...), ']')
		} else {
			c.appendSpelled(s, first)
		}
		if asServer {
			c.texts = fieldpath.AppendStep(c.texts, s, false, isKey)
		}
		n, first, hasKey = next, false, hasKey || isKey
	}
	if !hasKey {
		c.texts = c.texts[:r.text]
	}
}

// follow returns the node that a segment leads to, and whether the segment is the key
// of a map. The node is nil if the segment is not whole, or leads nowhere.
func (c *Collector) follow(n *program.Node, s fieldpath.Segment) (next *program.Node, isKey bool) {
	switch {
	case s.Gap > 0:
		return nil, false
	case !s.IsName:
		return n.Elements.Node, false
	}
	at := len(c.spelled)
	name := append(c.spelled, s.Name...)
	c.spelled = name[:at]
	if f := n.Find(name[at:]); f != nil {
		return f.Node, f.Implicit
	}
	if n.Unknown != nil {
		return n.Unknown.Node, true
	}
	return nil, false
}
