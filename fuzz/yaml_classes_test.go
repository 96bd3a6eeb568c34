package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	goyaml "go.yaml.in/yaml/v2"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// The classes of intended differences. Each requires more than our claim: the functions below check
// what the text must have for it.
const (
	// In all modes: the server's reading is random, or a defect.
	yamlRandom class = "random: names that are equal only as strings"
	yamlPanic  class = "the server panics"

	// In the server's mode: keys in !!binary that are not UTF-8 become equal as names only, and the
	// server writes them in the order of their bytes.
	yamlMangled class = "value: keys that are not UTF-8, of which the server makes equal names"

	// Texts that the server's mode refuses and the server ignores.
	yamlRoot class = "refused: content after the properties of the root, or a colon after it: the server looks no further"

	// Texts that the default refuses and the server ignores or mangles.
	yamlSecond   class = "refused: a second document, or other content after the first"
	yamlTag      class = "refused: a tag that means nothing to the server"
	yamlBinary   class = "refused: !!binary that is not UTF-8, of which the server makes U+FFFD"
	yamlHuge     class = "refused: a number beyond float64, a string to the server"
	yamlUTF16    class = "refused: UTF-16"
	yamlMark     class = "refused: a byte order mark inside the document"
	yamlBreaks   class = "refused: a line break that only YAML 1.1 has, outside quotes, in a name or escaped"
	yamlSplit    class = "refused: an indicator within brackets that is none in YAML 1.2, or the other way round; a name that is another there"
	yamlLimit    class = "refused: a limit"
	yamlReplaced class = "refused: .inf and the like, in a value that another of its name replaces on the server"

	// Texts that the default reads and the server refuses.
	yamlVersion  class = "accepted: %YAML 1.2"
	yamlEscapes  class = "accepted: the escapes of JSON that YAML 1.1 has not"
	yamlAliasing class = "accepted: many aliases, within the limit in bytes"
	yamlLoneEnd  class = "accepted: the end of a document that is not there"

	// Texts that the two read differently.
	yamlMerge      class = "value: merge keys by the rule of YAML"
	yamlEmptyFirst class = "an empty document before the first: the server reads that one"
)

// compare returns the class of the outcome for a text, and describes a difference. want is the
// value that the default must have, or nil.
func (m yamlMode) compare(src []byte, want *YAMLNode) (_ class, what, detail string) {
	answer, theirs := ReadYAML(src)
	return m.compareWith(answer, theirs, src, want)
}

// compareWith is compare with the server's answer for the text.
func (m yamlMode) compareWith(answer *YAMLAnswer, theirs error, src []byte, want *YAMLNode) (_ class, what, detail string) {
	r := m.read(src)
	if errors.Is(theirs, errServerPanic) {
		return yamlPanic, "", ""
	}
	switch {
	case r.err != nil && theirs != nil:
		return bothRefuse, "", ""
	case r.err != nil:
		if k := m.onlyWeRefuse(src, answer, r.err); k != differs {
			return k, "", ""
		}
		return differs, m.String() + ": only we refuse: " + sortOf(r.err), fmt.Sprintf("they: %s\nwe:   %v", excerpt(show(answer.Value)), r.err)
	}
	js := jsontext.Value(r.json)
	if canonical := slices.Clone(js); canonical.Compact(jsontext.AllowDuplicateNames(true)) != nil || !bytes.Equal(canonical, js) {
		return differs, m.String() + ": not compact JSON", string(js)
	}
	ours, err := decodeJSON(r.json)
	if err != nil {
		return differs, m.String() + ": not JSON", err.Error()
	}
	if theirs != nil {
		if k := m.onlyTheyRefuse(src, r, ours, theirs); k != differs {
			return k, "", ""
		}
		return differs, m.String() + ": only they refuse: " + sortOf(theirs), fmt.Sprintf("they: %v\nwe:   %s", theirs, excerpt(string(js)))
	}
	if !reflect.DeepEqual(ours, answer.Value) {
		k := m.otherValue(src, ours, answer, want)
		if k == differs {
			detail := fmt.Sprintf("they: %s\nwe:   %s", excerpt(show(answer.Value)), excerpt(string(js)))
			if want != nil {
				detail += "\nwant: " + excerpt(show(want.Value(false)))
			}
			return differs, m.String() + ": value", detail
		}
		return k, "", ""
	}
	if m == asServer && !slices.Equal(r.duplicates, answer.Duplicates) {
		if hasMangledKeys(src) {
			return yamlMangled, "", ""
		}
		return differs, m.String() + ": duplicates", fmt.Sprintf("they: %q\nwe:   %q\njson: %s", answer.Duplicates, r.duplicates, excerpt(string(js)))
	}
	return same, "", ""
}

// sortOf returns an error without the parts that depend on the text.
func sortOf(err error) string {
	var syntax *ferrors.SyntaxError
	text := err.Error()
	if errors.As(err, &syntax) {
		text = syntax.Msg
	}
	text = regexp.MustCompile(`line \d+: `).ReplaceAllString(text, "")
	text = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'.*'").ReplaceAllString(text, "…")
	return text
}

func (m yamlMode) onlyWeRefuse(src []byte, a *YAMLAnswer, err error) class {
	text := err.Error()
	if m == asServer {
		switch {
		case markInside(src):
			return yamlMark
		case pathOf(err) == "" && hasMore(src) && hasPrefixOf(src, a.Value):
			return yamlRoot
		case strings.Contains(text, "no JSON values") && namesMeet(src):
			return yamlRandom // the other one is left
		}
		return differs
	}
	var limit *ferrors.LimitError
	switch {
	case errors.As(err, &limit):
		return yamlLimit
	case bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")):
		return yamlUTF16
	case a.Value == nil && hasMore(src):
		return yamlEmptyFirst
	case strings.Contains(text, "not UTF-8") && strings.Contains(show(a.Value), "\uFFFD"):
		return yamlBinary
	case (strings.Contains(text, "unknown tag") || strings.Contains(text, "incorrect UTF-8 octet in a tag")) && bytes.IndexByte(src, '!') >= 0:
		return yamlTag
	case strings.Contains(text, "beyond a float64") && bytes.ContainsAny(src, "eE0123456789"):
		return yamlHuge
	case markInside(src):
		return yamlMark
	case bytes.ContainsAny(src, "\u0085\u2028\u2029") && regexp.MustCompile(`U\+(0085|2028|2029) (outside quotes|in a name|ends a line)`).MatchString(text):
		return yamlBreaks
	case strings.Contains(text, "infinity and NaN") && bytes.ContainsAny(src, "\u0085\u2028\u2029") && read11(src):
		return yamlBreaks // the break that makes it a string
	case strings.Contains(text, "YAML 1.1 and 1.2 do not agree") && bytes.ContainsAny(src, "[{|>"):
		return yamlSplit
	case hasMore(src): // whichever fault is found first
		return yamlSecond
	case isReplaced(src, a, text):
		return yamlReplaced
	}
	return differs
}

// read11 reports whether we read a text if its line breaks are those of YAML 1.2, too.
func read11(src []byte) bool {
	for _, c := range []string{"\u0085", "\u2028", "\u2029"} {
		src = bytes.ReplaceAll(src, []byte(c), []byte("\n"))
	}
	_, err := yamlbridge.AppendJSON(nil, src)
	return err == nil
}

// isReplaced reports whether an error is about a value that JSON lacks, and that the server has
// replaced by the value of an equal name, or of one that is equal as a string. The server looks for
// such values in the decoded ones.
func isReplaced(src []byte, a *YAMLAnswer, text string) bool {
	_, random := CouldBe(src, a.Value)
	return (random || len(a.Duplicates) > 0) &&
		(strings.Contains(text, "no JSON values") || strings.Contains(text, "not UTF-8") || strings.Contains(text, "no key") || strings.Contains(text, "as a key"))
}

// markInside reports whether there is a byte order mark after the start. The server skips it if a
// line of its buffer happens to start with it.
func markInside(src []byte) bool {
	for _, mark := range []string{"\uFEFF", "\xff\xfe", "\xfe\xff"} {
		if bytes.LastIndex(src, []byte(mark)) > 0 {
			return true
		}
	}
	return false
}

// hasMangledKeys reports whether a mapping has keys that become equal in JSON, where U+FFFD
// replaces bytes that are not UTF-8.
func hasMangledKeys(src []byte) bool {
	var object any
	if !bytes.Contains(src, []byte("binary")) || goyaml.Unmarshal(src, &object) != nil {
		return false
	}
	var has func(x any) bool
	has = func(x any) bool {
		switch x := x.(type) {
		case []any:
			return slices.ContainsFunc(x, has)
		case map[any]any:
			names := make(map[string]string)
			for key, value := range x {
				name := keyName(key)
				mangled := string([]rune(name))
				if other, found := names[mangled]; found && other != name || has(value) {
					return true
				}
				names[mangled] = name
			}
		}
		return false
	}
	return has(object)
}

// namesMeet reports whether a mapping has keys that are equal only as strings.
func namesMeet(src []byte) bool {
	var object any
	if goyaml.Unmarshal(src, &object) != nil {
		return false
	}
	var meet func(x any) bool
	meet = func(x any) bool {
		switch x := x.(type) {
		case []any:
			return slices.ContainsFunc(x, meet)
		case map[any]any:
			names := make(map[string]bool)
			for key, value := range x {
				if name := keyName(key); names[name] || meet(value) {
					return true
				}
				names[keyName(key)] = true
			}
		}
		return false
	}
	return meet(object)
}

// pathOf returns the path of an error.
func pathOf(err error) string {
	var syntax *ferrors.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Path.String()
	}
	return ""
}

// hasMore reports whether the server leaves a part of the text unread.
func hasMore(src []byte) bool {
	d := goyaml.NewDecoder(bytes.NewReader(src))
	var v any
	return d.Decode(&v) == nil && d.Decode(&v) != io.EOF
}

func (m yamlMode) onlyTheyRefuse(src []byte, r yamlReading, ours any, err error) class {
	if m == asServer {
		switch {
		case strings.Contains(err.Error(), "excessive aliasing"):
			return yamlAliasing
		case strings.Contains(err.Error(), "unsupported value") && namesMeet(src):
			return yamlRandom
		case markInside(src):
			return yamlMark
		}
		return differs
	}
	// In the spelling of YAML 1.1, there must be no other difference.
	means := func(changed []byte) bool {
		if bytes.Equal(changed, src) {
			return false
		}
		k, _, _ := m.compare(changed, nil)
		return k != differs && k != bothRefuse
	}
	switch text := err.Error(); {
	case strings.Contains(text, "found incompatible YAML document"):
		if means(version12.ReplaceAll(src, []byte("${1}1.1"))) {
			return yamlVersion
		}
	case strings.Contains(text, "escape"):
		if means(withoutJSONEscapes(src)) {
			return yamlEscapes
		}
	case strings.Contains(text, "excessive aliasing"):
		return yamlAliasing
	case strings.Contains(text, "did not find expected node content") && loneEnd.Match(src):
		if means(loneEnd.ReplaceAll(src, nil)) {
			return yamlLoneEnd
		}
	}
	return differs
}

// hasPrefixOf reports whether the server reads that value if it does not see the end of the text.
func hasPrefixOf(src []byte, value any) bool {
	for end := len(src) - 1; end >= 0; end-- {
		for _, rest := range []string{"", "\n"} {
			a, err := ReadYAML(append(src[:end:end], rest...))
			if err == nil && reflect.DeepEqual(a.Value, value) {
				return true
			}
		}
	}
	return false
}

var loneEnd = regexp.MustCompile(`^\x{FEFF}?(?:[ ]*(?:#[^\r\n]*)?(?:\r\n|[\r\n\x{85}\x{2028}\x{2029}]))*\.\.\.[ \t]*(?:#[^\r\n]*)?(?:[\r\n\x{85}\x{2028}\x{2029}]|$)`)

var version12 = regexp.MustCompile(`((?:^|[\r\n\x{85}\x{2028}\x{2029}])\x{FEFF}?%YAML[ \t]+)1\.2`)

var surrogates = regexp.MustCompile(`\\\\|\\/|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// withoutJSONEscapes rewrites the escapes of JSON as escapes of YAML 1.1.
func withoutJSONEscapes(src []byte) []byte {
	return surrogates.ReplaceAllFunc(src, func(e []byte) []byte {
		switch len(e) {
		case 2:
			if e[1] == '/' {
				return []byte("/")
			}
			return e
		}
		hi, _ := strconv.ParseUint(string(e[2:6]), 16, 16)
		lo, _ := strconv.ParseUint(string(e[8:12]), 16, 16)
		return fmt.Appendf(nil, `\U%08X`, utf16.DecodeRune(rune(hi), rune(lo)))
	})
}

func (m yamlMode) otherValue(src []byte, ours any, a *YAMLAnswer, want *YAMLNode) class {
	if could, random := CouldBe(src, ours); could && random {
		return yamlRandom
	}
	if m == asServer && hasMangledKeys(src) {
		return yamlMangled
	}
	switch {
	case markInside(src) && want == nil:
		return yamlMark
	case m == asServer:
		return differs
	case want != nil && !reflect.DeepEqual(want.Value(false), ours):
		return differs
	case a.Value == nil && hasMore(src):
		return yamlEmptyFirst
	case bytes.Contains(src, []byte("<<")):
		return yamlMerge
	}
	return differs
}

// explain returns both sides' readings of a text.
func (m yamlMode) explain(src []byte, want *YAMLNode) string {
	k, what, detail := m.compare(src, want)
	if k == differs {
		return fmt.Sprintf("%s\n%s\n%s", what, excerpt(strconv.Quote(string(src))), detail)
	}
	a, theirs := ReadYAML(src)
	r := m.read(src)
	text := fmt.Sprintf("%s\n%s\n", k, excerpt(strconv.Quote(string(src))))
	if theirs == nil {
		text += "they: " + excerpt(show(a.Value))
	}
	return text + fmt.Sprintf("\nthey: %v\nwe:   %s %v", theirs, excerpt(string(r.json)), r.err)
}

// excerpt leaves out the middle of a long text.
func excerpt(s string) string {
	const most = 3000
	if len(s) > most {
		return fmt.Sprintf("%s ... %d bytes ... %s", s[:most/10], len(s), s[len(s)-most/10:])
	}
	return s
}
