package main

import (
	"bytes"
	"io"
	"runtime"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// listJob decodes the items of a List one by one and writes them, on one core and on all.
func listJob() *Job {
	return &Job{Name: "list", Title: "Items of a List to JSON, each by its own schema: on all cores, and on one", Contenders: []Contender{
		onAllCores(),
		onOneCore(),
	}}
}

// coresJob decodes the items of the long List on one core, and a part of them on each of all cores, which share
// nothing: so it measures what all cores of the machine can do at most.
func coresJob() *Job {
	one := onOneCore()
	parts := Contender{"a part of the List on each core", Partial, "in no order", func(d *Document) Run {
		runs := make([]Run, runtime.GOMAXPROCS(0))
		for i := range runs {
			part := *d
			part.Times = d.Times / len(runs)
			part.Schema = made(d.Schema, processor(i), d.alone) // with it, a buffer
			runs[i] = one.Start(&part)
		}
		return together(runs)
	}}
	return &Job{Name: "cores", Title: "Items of a List to JSON: on cores that share nothing, and on one", Contenders: []Contender{parts, one}}
}

func onAllCores() Contender {
	return ofItems("Espalier Sequence.InParallel, Ignore", func(s *decoder.Sequence, out io.Writer) error {
		for o, err := range s.InParallel(runtime.GOMAXPROCS(0)) {
			if err == nil {
				err = o.Err
			}
			if err == nil {
				_, err = out.Write(o.JSON)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func onOneCore() Contender {
	return ofItems(oneCore, func(s *decoder.Sequence, out io.Writer) error {
		var item []byte
		for err := range s.All() {
			if err == nil {
				item, err = s.AppendJSON(item[:0])
			}
			if err == nil {
				_, err = out.Write(item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

const oneCore = "Espalier Sequence.AppendJSON, Ignore"

// ofItems is a contender that writes all items to a buffer, or, where they are too many for one, to
// nowhere.
func ofItems(name string, do func(s *decoder.Sequence, out io.Writer) error) Contender {
	item := MustSchema(resourceSchema(specSchema)).Program
	lookup := func(string, string) (*schema.Program, error) { return item, nil }
	return Contender{name, Partial, "", func(d *Document) Run {
		return toBytes(d, func(dst []byte) ([]byte, error) {
			if d.Times > 1 {
				return dst, do(decoder.NewListSequence(newLongList(d.Src, d.Times), lookup, decoder.Ignore), io.Discard)
			}
			out := bytes.NewBuffer(dst)
			err := do(decoder.NewListSequence(bytes.NewReader(d.Src), lookup, decoder.Ignore), out)
			return out.Bytes(), err
		})
	}}
}

// A longList reads as a List that has the items of a List so many times.
type longList struct {
	rest   []byte
	again  []byte // a comma, the items and what comes after them
	items  int    // where that is in again
	repeat int
}

func newLongList(list []byte, times int) *longList {
	from, to := bytes.IndexByte(list, '[')+1, bytes.LastIndexByte(list, ']')
	again := append([]byte{','}, list[from:]...)
	return &longList{list[:to], again, 1 + to - from, times - 1}
}

func (l *longList) Read(p []byte) (n int, err error) {
	if len(l.rest) == 0 {
		switch {
		case l.repeat > 0:
			l.rest = l.again[:l.items]
		case l.repeat == 0:
			l.rest = l.again[l.items:]
		default:
			return 0, io.EOF
		}
		l.repeat--
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
