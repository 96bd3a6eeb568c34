package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/buger/jsonparser"
	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	gojson "github.com/goccy/go-json"
	"github.com/tidwall/gjson"
	"github.com/valyala/fastjson"
)

// sonicAPI reads integers as Kubernetes does, and refuses control characters.
var sonicAPI = sonic.Config{UseInt64: true, ValidateString: true, CopyString: true}.Froze()

const notAllChecked = "takes bad UTF-8 and the like"

// peersToBytes are other parsers, followed by the same steps.
func peersToBytes() []Contender {
	return []Contender{
		fastjsonPruner(),
		withSteps("sonic + Kubernetes steps", sonicAPI.Unmarshal, sonicAPI.Marshal),
		withSteps("goccy/go-json + Kubernetes steps", gojson.Unmarshal, gojson.Marshal),
	}
}

func withSteps(name string, unmarshal func([]byte, any) error, marshal func(any) ([]byte, error)) Contender {
	return Contender{name, Decoded, notAllChecked, func(d *Document) Run {
		return toBytes(d, func([]byte) ([]byte, error) {
			var m map[string]any
			if err := unmarshal(d.Src, &m); err != nil {
				return nil, err
			}
			finish(m, d.Structural, stageDefault)
			return marshal(m)
		})
	}}
}

// peersToMap read a document into maps, and do nothing else.
func peersToMap() []Contender {
	plain := func(name, less string, unmarshal func([]byte, any) error) Contender {
		return Contender{name, Parsed, less, func(d *Document) Run {
			return toValue(func() (any, error) {
				var m map[string]any
				err := unmarshal(d.Src, &m)
				return m, err
			})
		}}
	}
	return []Contender{
		{"sonic + Kubernetes steps", Decoded, notAllChecked, func(d *Document) Run {
			return toValue(func() (any, error) {
				var m map[string]any
				if err := sonicAPI.Unmarshal(d.Src, &m); err != nil {
					return nil, err
				}
				finish(m, d.Structural, stageDefault)
				return m, nil
			})
		}},
		plain("sonic", "prunes nothing, no defaults; "+notAllChecked, sonicAPI.Unmarshal),
		plain("goccy/go-json", "prunes nothing, no defaults; integers are float64", gojson.Unmarshal),
		plain("encoding/json", "prunes nothing, no defaults; integers are float64", json.Unmarshal),
		plain("go-json-experiment/json", "prunes nothing, no defaults; integers are float64; rejects duplicates", func(src []byte, v any) error { return jsonv2.Unmarshal(src, v) }),
	}
}

// skippers say whether a document is JSON.
func skippers() []Contender {
	valid := func(name string, is func([]byte) bool) Contender {
		return Contender{name, Verdict, "", func(d *Document) Run {
			return verdict(func() error {
				if !is(d.Src) {
					return errNotJSON
				}
				return nil
			})
		}}
	}
	failing := func(name string, check func([]byte) error) Contender {
		return Contender{name, Verdict, "", func(d *Document) Run { return verdict(func() error { return check(d.Src) }) }}
	}
	dec := jsontext.NewDecoder(new(bytes.Buffer))
	return []Contender{
		failing("jsontext SkipValue", func(src []byte) error {
			dec.Reset(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true))
			return dec.SkipValue()
		}),
		valid("encoding/json Valid", json.Valid),
		valid("sonic Valid", sonic.Valid),
		valid("goccy/go-json Valid", gojson.Valid),
		failing("fastjson ValidateBytes", fastjson.ValidateBytes),
		valid("gjson ValidBytes", gjson.ValidBytes),
		failing("jsonparser Get", func(src []byte) error { _, _, _, err := jsonparser.Get(src); return err }),
	}
}

var errNotJSON = errors.New("not JSON")

// Faults are texts that are not JSON, or that a server refuses, by their fault.
var Faults = []struct{ Name, Text string }{
	{"bad UTF-8", "{\"a\":\"\xff\"}"},
	{"control character", "{\"a\":\"\x01\"}"},
	{"bad escape", `{"a":"\x"}`},
	{"01", `{"a":01}`},
	{"trailing comma", `{"a":1,}`},
	{"lone surrogate", `{"a":"\ud800"}`},
	{"bad literal", `{"a":tru}`},
	{"brackets", `{"a":[}]}`},
}

// accepts returns the faults that a contender accepts.
func accepts(c *Contender, s *Schema) (list []string) {
	for _, fault := range Faults {
		if c.Start(&Document{Schema: s, Src: []byte(fault.Text)}).Do() == nil {
			list = append(list, fault.Name)
		}
	}
	return list
}

// fastjsonPruner changes the tree of fastjson in place.
func fastjsonPruner() Contender {
	return Contender{"fastjson, tree pruned by hand", Decoded, "the last of a name does not win; " + notAllChecked, func(d *Document) Run {
		p := made(d.Schema, "fastjson", func() *treePruner { return &treePruner{fallbacks: make(map[*field]*fastjson.Value)} })
		root := planOf(d.Schema)
		return toBytes(d, func(dst []byte) ([]byte, error) {
			v, err := p.parser.ParseBytes(d.Src)
			if err != nil {
				return nil, err
			}
			p.value(v, root)
			return v.MarshalTo(dst), nil
		})
	}}
}

type treePruner struct {
	parser    fastjson.Parser
	fallbacks map[*field]*fastjson.Value
	dropped   []string
}

func (p *treePruner) value(v *fastjson.Value, at *plan) {
	if at.keepsAll {
		return
	}
	switch v.Type() {
	case fastjson.TypeObject:
		o, _ := v.Object()
		p.object(o, at)
	case fastjson.TypeArray:
		for i, e := range v.GetArray() {
			p.element(v, i, e, at.items)
		}
	}
}

func (p *treePruner) element(array *fastjson.Value, i int, v *fastjson.Value, items *field) {
	switch {
	case items == nil:
		p.value(v, new(plan))
	case v.Type() == fastjson.TypeNull && !items.nullable && items.fallback != nil:
		array.SetArrayItem(i, p.fallback(items))
	default:
		p.value(v, items.plan)
	}
}

func (p *treePruner) object(o *fastjson.Object, at *plan) {
	from := len(p.dropped)
	var seen uint64
	o.Visit(func(key []byte, v *fastjson.Value) {
		f := at.find(key)
		switch {
		case f == nil, v.Type() == fastjson.TypeNull && !f.nullable: // a default comes back below
			p.dropped = append(p.dropped, string(key))
		default:
			seen |= f.bit
			p.value(v, f.plan)
		}
	})
	for _, key := range p.dropped[from:] {
		o.Del(key)
		if f := at.other; f != nil && f.fallback != nil && at.fields[key] == nil {
			o.Set(key, p.fallback(f))
		}
	}
	p.dropped = p.dropped[:from]
	for _, f := range at.defaults {
		if seen&f.bit == 0 {
			o.Set(f.name, p.fallback(f))
		}
	}
}

func (p *treePruner) fallback(f *field) *fastjson.Value {
	v := p.fallbacks[f]
	if v == nil {
		v = fastjson.MustParseBytes(f.fallback)
		p.fallbacks[f] = v
	}
	return v
}
