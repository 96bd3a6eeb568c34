package main

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// jsontextPruners are hand-written pruners on the tokens of jsontext. Under Strict, a repeated name
// is an error, as jsontext has no other way to find it. Paths of unknown fields are not collected.
func jsontextPruners(strict bool) []Contender {
	if strict {
		return []Contender{jsontextPruner("jsontext tokens, duplicates rejected", "no paths", false)}
	}
	return []Contender{
		jsontextPruner("jsontext tokens, duplicates allowed", "the last of a name does not win", true),
		jsontextPruner("jsontext tokens, duplicates rejected", "", false),
	}
}

func jsontextPruner(name, less string, duplicates bool) Contender {
	return Contender{name, Decoded, less, func(d *Document) Run {
		p := made(d.Schema, name, func() *tokenPruner {
			return &tokenPruner{dec: jsontext.NewDecoder(new(bytes.Buffer)), enc: jsontext.NewEncoder(new(bytes.Buffer))}
		})
		root := planOf(d.Schema)
		return toBytes(d, func(dst []byte) ([]byte, error) {
			out := bytes.NewBuffer(dst)
			p.dec.Reset(bytes.NewBuffer(d.Src), jsontext.AllowDuplicateNames(duplicates))
			// The encoder need not check again what the decoder has checked.
			p.enc.Reset(out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			err := p.value(root)
			return out.Bytes(), err
		})
	}}
}

type tokenPruner struct {
	dec  *jsontext.Decoder
	enc  *jsontext.Encoder
	name []byte
}

func (p *tokenPruner) value(at *plan) error {
	switch kind := p.dec.PeekKind(); {
	case at.keepsAll:
		v, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		return p.enc.WriteValue(v)
	case kind == '{':
		return p.object(at)
	case kind == '[':
		return p.array(at)
	}
	return p.token()
}

// token copies the next token.
func (p *tokenPruner) token() error {
	t, err := p.dec.ReadToken()
	if err != nil {
		return err
	}
	return p.enc.WriteToken(t)
}

func (p *tokenPruner) object(at *plan) error {
	if err := p.token(); err != nil {
		return err
	}
	var seen uint64
	for p.dec.PeekKind() != '}' {
		v, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		name, err := p.unquote(v)
		if err != nil {
			return err
		}
		f := at.find(name)
		null := false
		if f != nil && f.name == "" { // PeekKind may overwrite v
			p.name = append(p.name[:0], v...)
			v = p.name
		}
		if f != nil {
			null = p.dec.PeekKind() == 'n' && !f.nullable
		}
		if f == nil || null && f.fallback == nil {
			if err := p.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		seen |= f.bit
		if err := p.member(f, v, null); err != nil {
			return err
		}
	}
	for _, f := range at.defaults {
		if seen&f.bit == 0 {
			if err := p.writeDefault(f, f.quoted); err != nil {
				return err
			}
		}
	}
	return p.token()
}

// member writes a member whose value comes next. A null is to become the default.
func (p *tokenPruner) member(f *field, name jsontext.Value, null bool) error {
	if f.name != "" {
		name = f.quoted
	}
	if null {
		if err := p.dec.SkipValue(); err != nil {
			return err
		}
		return p.writeDefault(f, name)
	}
	if err := p.enc.WriteValue(name); err != nil {
		return err
	}
	return p.value(f.plan)
}

func (p *tokenPruner) writeDefault(f *field, name jsontext.Value) error {
	if err := p.enc.WriteValue(name); err != nil {
		return err
	}
	return p.enc.WriteValue(f.fallback)
}

// unquote returns a name without its quotes. Names with escapes are rare.
func (p *tokenPruner) unquote(v jsontext.Value) ([]byte, error) {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1], nil
	}
	return jsontext.AppendUnquote(nil, v)
}

func (p *tokenPruner) array(at *plan) error {
	if err := p.token(); err != nil {
		return err
	}
	items := at.items
	if items == nil { // objects in an array without a schema for its elements lose all members
		items = &field{plan: new(plan), nullable: true}
	}
	for p.dec.PeekKind() != ']' {
		if items.fallback != nil && !items.nullable && p.dec.PeekKind() == 'n' {
			if err := p.dec.SkipValue(); err != nil {
				return err
			}
			if err := p.enc.WriteValue(items.fallback); err != nil {
				return err
			}
			continue
		}
		if err := p.value(items.plan); err != nil {
			return err
		}
	}
	return p.token()
}
