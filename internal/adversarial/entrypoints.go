package adversarial

import (
	"bytes"
	"io"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An EntryPoint is a function of the module that reads documents. It returns an error, and how many
// bytes it has written and reported.
type EntryPoint struct {
	Name string
	// Start returns the function for one goroutine, with a decoder of its own.
	Start func(p *schema.Program) func(src []byte) (written int, err error)
}

// EntryPoints returns the entry points that read documents of the family.
func (f *Family) EntryPoints() []EntryPoint {
	if f.YAML {
		return []EntryPoint{
			appending("Ignore", (*decoder.Decoder).AppendYAML, decoder.Ignore),
			appending("Strict", (*decoder.Decoder).AppendYAML, decoder.Strict),
			appending("Kubernetes", (*decoder.Decoder).AppendYAML, decoder.Strict, decoder.ServerTypedRequests),
			{"stream of documents", documents},
		}
	}
	return []EntryPoint{
		appending("Ignore", (*decoder.Decoder).AppendJSON, decoder.Ignore),
		appending("Strict", (*decoder.Decoder).AppendJSON, decoder.Strict),
		appending("Kubernetes", (*decoder.Decoder).AppendJSON, decoder.Strict, decoder.ServerTypedRequests),
		{"stream", stream},
		{"sequence", sequence},
		{"map", unmarshal},
	}
}

func appending(
	name string, appendTo func(d *decoder.Decoder, dst, src []byte) ([]byte, error), opts ...decoder.Option,
) EntryPoint {
	return EntryPoint{name, func(p *schema.Program) func(src []byte) (int, error) {
		d := decoder.New(p, opts...)
		var out []byte
		return func(src []byte) (int, error) {
			result, err := appendTo(d, out[:0], src)
			if err == nil {
				out = result
			}
			return len(result) + said(d), err
		}
	}}
}

// said returns how many bytes the decoder reports of a document.
func said(d *decoder.Decoder) (n int) {
	list := d.Findings()
	for i := range list {
		n += len(list[i].Path.String())
	}
	for _, text := range d.YAMLDuplicates() {
		n += len(text)
	}
	return n
}

func stream(p *schema.Program) func(src []byte) (int, error) {
	d := decoder.New(p)
	from := new(bytes.Reader)
	r := d.NewReader(from)
	return func(src []byte) (int, error) {
		from.Reset(src)
		r.Reset(from)
		n, err := r.WriteTo(io.Discard)
		return int(n) + said(d), err
	}
}

// sequence reads documents that follow each other in one stream, up to one that breaks it.
func sequence(p *schema.Program) func(src []byte) (int, error) {
	lookup := func(string, string) (*schema.Program, error) { return p, nil }
	var (
		from = new(bytes.Reader)
		s    = decoder.NewSequence(from, lookup)
		out  []byte
	)
	return func(src []byte) (int, error) {
		from.Reset(src)
		err := s.Next()
		if err != nil {
			s = decoder.NewSequence(from, lookup)
			return 0, err
		}
		out, err = s.AppendJSON(out[:0])
		return len(out), err
	}
}

func unmarshal(p *schema.Program) func(src []byte) (int, error) {
	d := decoder.New(p)
	return func(src []byte) (int, error) {
		var v any
		err := d.Unmarshal(src, &v)
		return len(src), err
	}
}

// documents cuts a text into documents and converts each.
func documents(*schema.Program) func(src []byte) (int, error) {
	var (
		reader yamlbridge.Reader
		from   = new(bytes.Reader)
		stream = yamlbridge.NewDocumentReader(from)
		out    []byte
	)
	return func(src []byte) (written int, err error) {
		from.Reset(src)
		stream.Reset(from)
		for {
			doc, err := stream.Next()
			if err == io.EOF {
				return written, nil
			}
			if err == nil {
				out, err = reader.AppendJSON(out[:0], doc.Bytes)
			}
			if err != nil {
				return written, err
			}
			written += len(out)
		}
	}
}
