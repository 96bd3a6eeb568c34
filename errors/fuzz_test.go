package errors_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// segments reads the segments of a path from the fuzzer's bytes. A byte says whether an index or a
// name follows, and how large or long it is.
func segments(b []byte) []errors.Segment {
	var list []errors.Segment
	for len(b) > 0 {
		n := int(b[0] >> 1)
		isName := b[0]&1 == 0
		if b = b[1:]; n > 100 {
			n = (n - 100) * 40
		}
		if !isName {
			list = append(list, errors.Segment{Index: n * n})
			continue
		}
		n = min(n, len(b))
		list = append(list, errors.Segment{Name: string(b[:n]), IsName: true})
		b = b[n:]
	}
	return list
}

// extend adds the segments to a path, one by one.
func extend(p errors.Path, list []errors.Segment) errors.Path {
	for _, s := range list {
		if s.IsName {
			p = p.Child(s.Name)
		} else {
			p = p.Element(s.Index)
		}
	}
	return p
}

// FuzzPath compares a path with the segments that it was made of.
func FuzzPath(f *testing.F) {
	corpus.AddSeeds(f)
	for _, s := range []string{
		"", "\x08spec\x0citems\x01\x08name", "\x00\x00\x01\x00", "\x06a.b\x06a/b\x06~01\x04[]", "\x02\"\x02\\\x02\n\x06\u202e\x06\ufffd\x02\xff", "\xff\x08🌳",
		"\xfe" + strings.Repeat("n", 1100), strings.Repeat("\x04é", 300), "\xd2" + strings.Repeat("\u202e", 100), strings.Repeat("\xff", 400),
	} {
		f.Add([]byte(s), []byte("\x02a\x01"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > 600 {
			return
		}
		list := segments(a)
		segment := func(i int) ([]byte, int) {
			if list[i].IsName {
				return append([]byte{}, list[i].Name...), 0
			}
			return nil, list[i].Index
		}
		encoded, bound := fieldpath.Append(nil, len(list), segment)
		made := errors.PathOf(fieldpath.Encode(len(list), segment))
		require.Equal(t, made, errors.PathOf(fieldpath.Of(string(encoded))))
		require.LessOrEqual(t, len(made.String()), bound)
		require.LessOrEqual(t, bound, errors.MaxPathBytes)

		whole := extend(errors.Path{}, list)
		kept := slices.Collect(whole.Segments())
		require.Equal(t, len(list), len(kept))
		for i := range list {
			checkSegment(t, list[i], kept[i])
		}
		checkGap(t, kept, slices.Collect(made.Segments()))
		for _, p := range []errors.Path{whole, made} {
			checkText(t, p)
		}

		other := segments(b)
		below, beside := extend(whole, other), extend(errors.Path{}, other)
		require.Equal(t, len(other) > 0, below.IsWithin(whole))
		require.False(t, whole.IsWithin(below))
		require.Equal(t, len(other) > 0, below.Compare(whole) > 0)
		require.Equal(t, whole == beside, whole.Compare(beside) == 0, "%s and %s", whole, beside)
		require.Equal(t, whole.Compare(beside), -beside.Compare(whole), "%s and %s", whole, beside)
	})
}

// checkSegment asserts that a segment was kept, if need be with its middle cut out between
// characters.
func checkSegment(t *testing.T, s, kept errors.Segment) {
	t.Helper()
	if s == kept {
		return
	}
	require.Greater(t, len(s.Name), len(kept.Name))
	isCut := false
	for i := range kept.Name {
		tail, isDots := strings.CutPrefix(kept.Name[i:], "...")
		isCut = isCut || isDots && strings.HasPrefix(s.Name, kept.Name[:i]) && strings.HasSuffix(s.Name, tail)
	}
	require.True(t, isCut, "%q of %q", kept.Name, s.Name)
	if utf8.ValidString(s.Name) {
		require.True(t, utf8.ValidString(kept.Name), "%q of %q", kept.Name, s.Name)
	}
}

// checkGap asserts that a path has all segments except as many as its gap says.
func checkGap(t *testing.T, all, made []errors.Segment) {
	t.Helper()
	gap := slices.IndexFunc(made, func(s errors.Segment) bool { return s.Gap > 0 })
	if gap < 0 {
		require.Equal(t, all, made)
		return
	}
	tail := made[gap+1:]
	require.Equal(t, len(all), gap+made[gap].Gap+len(tail))
	require.Equal(t, all[:gap], made[:gap])
	require.Equal(t, all[len(all)-len(tail):], tail)
}

// checkText reads the spellings of a path back if they are not ambiguous, and asserts that nothing
// in messages is other than it looks.
func checkText(t *testing.T, p errors.Path) {
	t.Helper()
	text := p.String()
	appended, err := p.AppendText([]byte("before"))
	require.NoError(t, err)
	require.Equal(t, "before"+text, string(appended))
	require.True(t, utf8.ValidString(text), "%q", text)
	require.False(t, strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) && r != ' '
	}), "%q", text)

	var pointed []string
	isClear := true
	all := slices.Collect(p.Segments())
	for _, s := range all {
		switch {
		case s.Gap > 0:
			pointed = append(pointed, "...")
		case s.IsName:
			pointed = append(pointed, s.Name)
		default:
			pointed = append(pointed, strconv.Itoa(s.Index))
		}
		isClear = isClear && s.Gap == 0 && !strings.ContainsAny(s.Name, ".[")
	}
	require.Equal(t, pointed, slices.Collect(jsontext.Pointer(p.Pointer()).Tokens()))
	if isClear {
		require.Equal(t, all, parse(t, text), "%s", text)
	}
}

// parse reads the text of a path.
func parse(t *testing.T, text string) []errors.Segment {
	t.Helper()
	var list []errors.Segment
	for text != "" {
		inner, isBracket := strings.CutPrefix(text, "[")
		quoted, err := strconv.QuotedPrefix(inner)
		switch {
		case isBracket && err == nil:
			name, err := strconv.Unquote(quoted)
			require.NoError(t, err, "%s", text)
			list = append(list, errors.Segment{Name: name, IsName: true})
			text = strings.TrimPrefix(inner[len(quoted):], "]")
		case isBracket:
			digits, rest, _ := strings.Cut(inner, "]")
			n, err := strconv.Atoi(digits)
			require.NoError(t, err, "%s", text)
			list = append(list, errors.Segment{Index: n})
			text = rest
		default:
			text = strings.TrimPrefix(text, ".")
			end := strings.IndexAny(text, ".[")
			if end < 0 {
				end = len(text)
			}
			list = append(list, errors.Segment{Name: text[:end], IsName: true})
			text = text[end:]
		}
	}
	return list
}
