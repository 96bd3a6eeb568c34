package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

func TestPages(t *testing.T) {
	for _, n := range []int{0, 1, 499, 500, 501, 1700} {
		s := newServer(t, n)
		names, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, wanted(n), names)
		assert.Len(t, s.requests(), max((n+499)/500, 1))
		for _, r := range s.requests() {
			assert.Equal(t, widgetsPath, r.URL.Path)
			assert.Equal(t, "500", r.URL.Query().Get("limit"))
		}
	}
}

func TestSelection(t *testing.T) {
	s := newServer(t, 501)
	l := open(t, s).List(t.Context(), widgets(), Selection{Namespace: "team", Labels: "a=b,c!=d", Fields: "metadata.name=x"})
	_, err := readAll(t, l)
	assert.Equal(t, io.EOF, err)
	require.Len(t, s.requests(), 2)
	for _, r := range s.requests() {
		assert.Equal(t, "/apis/example.com/v1/namespaces/team/widgets", r.URL.Path)
		assert.Equal(t, "a=b,c!=d", r.URL.Query().Get("labelSelector"))
		assert.Equal(t, "metadata.name=x", r.URL.Query().Get("fieldSelector"))
	}
	assert.NoError(t, Selection{Labels: "a in (b,c)", Fields: "metadata.name!=x"}.Check())
	assert.ErrorContains(t, Selection{Labels: "a in b"}.Check(), `"a in b" is no selector of labels`)
	assert.ErrorContains(t, Selection{Fields: "a"}.Check(), `"a" is no selector of fields`)
}

// TestUnlisted: nothing is sent for what cannot be listed.
func TestUnlisted(t *testing.T) {
	s := newServer(t, 1)
	c := open(t, s)
	unserved, global, hostile := widgets(), widgets(), widgets()
	unserved.Versions = []schema.Version{{Name: "v1", Storage: true}}
	global.Scope, hostile.Plural = "Cluster", "../secrets"
	for _, one := range []struct {
		of   *schema.CRD
		s    Selection
		want string
	}{
		{unserved, Selection{}, "the definition has no version that is served"},
		{global, Selection{Namespace: "team"}, "its objects are in no namespace"},
		{hostile, Selection{}, `"../secrets" cannot be a part of a path`},
		{widgets(), Selection{Namespace: "a/b"}, `"a/b" cannot be a part of a path`},
	} {
		_, err := readAll(t, c.List(t.Context(), one.of, one.s))
		assert.EqualError(t, err, one.want)
	}
	assert.Empty(t, s.requests())
}

// TestListedVersion: objects come as they are stored, if the server allows that.
func TestListedVersion(t *testing.T) {
	of := widgets()
	assert.Equal(t, "v1", listedVersion(of))
	of.Versions[1].Served = false
	assert.Equal(t, "v1alpha1", listedVersion(of))
}

func TestForbidden(t *testing.T) {
	s := newServer(t, 1)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		return refuse(w, http.StatusForbidden, "Forbidden", "widgets.example.com is forbidden: no", "")
	}
	_, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.EqualError(t, err, "widgets.example.com is forbidden: no")
	assert.True(t, IsForbidden(err))
	assert.Len(t, s.requests(), 1)
}

// TestExpired: the server forgets the state of a list after some minutes. It says how the list goes on
// from a later one, and then nothing comes twice.
func TestExpired(t *testing.T) {
	s := newServer(t, 1700)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("continue") == "1000" {
			s.objects = append(s.objects[:1000:1000], s.objects[1002:]...) // two were deleted
			return refuse(w, http.StatusGone, "Expired", "too old", "01000")
		}
		return false
	}
	l := open(t, s).List(t.Context(), widgets(), Selection{})
	names, err := readAll(t, l)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, append(wanted(1000), wanted(1700)[1002:]...), names)
	assert.Equal(t, 1000, l.Mixed())
}

// TestExpiredWithoutToken: a server that does not say how to go on leaves the list incomplete, which is
// an error, unless nothing was read.
func TestExpiredWithoutToken(t *testing.T) {
	s := newServer(t, 700)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Query().Has("continue") && refuse(w, http.StatusGone, "Expired", "too old", "")
	}
	names, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.EqualError(t, err, "the server has forgotten the list after 500 objects, and cannot go on: read it again, or fewer objects at a time: too old")
	assert.Len(t, names, 500)

	asked := 0
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		asked++
		return asked == 1 && refuse(w, http.StatusGone, "Gone", "too old", "")
	}
	l := open(t, s).List(t.Context(), widgets(), Selection{})
	names, err = readAll(t, l)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, wanted(700), names)
	assert.Zero(t, l.Mixed())
}

// TestExpiredForEver: a server cannot keep the list busy.
func TestExpiredForEver(t *testing.T) {
	s := newServer(t, 700)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Query().Has("continue") && refuse(w, http.StatusGone, "Expired", "too old", "500")
	}
	_, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.EqualError(t, err, "too old")
	assert.Len(t, s.requests(), 1+pageTries)
}

// TestBroken: of a page whose transfer breaks nothing is handed on, and it is asked for again.
func TestBroken(t *testing.T) {
	s := newServer(t, 700)
	broken := 0
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if broken++; broken%3 == 0 {
			return false
		}
		if broken%3 == 1 {
			s.list(w, r, 1)
			return true
		}
		panic(http.ErrAbortHandler) // there is no answer
	}
	names, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, wanted(700), names)
	assert.Len(t, s.requests(), 6)

	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		s.list(w, r, 1)
		return true
	}
	names, err = readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.EqualError(t, err, "the answer to "+widgetsPath+" has ended early: unexpected EOF")
	assert.Empty(t, names)
}

// TestSamePage: a list that does not get on is an error.
func TestSamePage(t *testing.T) {
	s := newServer(t, 0)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		_, err := io.WriteString(w, `{"items":[{"metadata":{"name":"w"}}],"metadata":{"continue":"x"}}`)
		return err == nil
	}
	names, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.EqualError(t, err, "the server sends the same part of the list again and again")
	assert.Len(t, names, 1)
}

// TestBusy: client-go waits as long as the server asks for.
func TestBusy(t *testing.T) {
	s := newServer(t, 3)
	asked := 0
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		if asked++; asked > 2 {
			return false
		}
		w.Header().Set("Retry-After", "0")
		return refuse(w, http.StatusTooManyRequests, "TooManyRequests", "busy", "")
	}
	names, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, wanted(3), names)
}

// TestMalformed: an answer that is no list is an error, and nothing of it is handed on.
func TestMalformed(t *testing.T) {
	for _, body := range []string{
		"", "[]", "{}", "null", "<html>", `{"items":{}}`, `{"items":[{}`, `{"items":[{}]`, `{"items":[{},]}`, `{"items":[{}]} {}`,
		`{"items":[{"a":tru}]}`, `{"items":[],"metadata":[]}`, `{"items":[{}],"metadata":{"continue":1}}`, `{"items":[{}],"metadata":{"continue":"1"`,
		`{"items":` + strings.Repeat("[", 100_000),
	} {
		s := newServer(t, 0)
		s.before = func(w http.ResponseWriter, _ *http.Request) bool {
			_, err := io.WriteString(w, body)
			return err == nil
		}
		names, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
		assert.ErrorIs(t, err, errNoList, "%.40s", body)
		assert.Empty(t, names)
	}
	s := newServer(t, 0)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		_, err := io.WriteString(w, `{"metadata":{"continue":""},"items":null}`)
		return err == nil
	}
	_, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.Equal(t, io.EOF, err)
}

// TestHuge: of large objects fewer are asked for, so that memory holds no more than a page.
func TestHuge(t *testing.T) {
	defer func(was int) { maxPageBytes = was }(maxPageBytes)
	maxPageBytes = 1 << 20
	const size = 96 << 10
	s := newServer(t, 40)
	for i, o := range s.objects {
		s.objects[i] = strings.Replace(o, `{"name"`, `{"annotations":{"a":"`+strings.Repeat("x", size)+`"},"name"`, 1)
	}
	l := open(t, s).List(t.Context(), widgets(), Selection{})
	names, err := readAll(t, l)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, wanted(40), names)
	asked := map[string]int{}
	for _, r := range s.requests() {
		asked[r.URL.Query().Get("limit")]++
	}
	// Ten objects have less than 1 MiB, and 31 have more.
	assert.Equal(t, map[string]int{"500": 1, "125": 1, "31": 1, "7": 6}, asked)

	s.objects = []string{`{"a":"` + strings.Repeat("x", maxPageBytes) + `"}`}
	_, err = readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.ErrorIs(t, err, errTooLarge)
}

// TestHugeError: an answer that is an error is not read without end.
func TestHugeError(t *testing.T) {
	s := newServer(t, 0)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return true
			}
		}
		return true
	}
	_, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
	assert.True(t, IsForbidden(err))
	assert.Less(t, len(err.Error()), 10_000)
}

// TestSlow: a server that sends nothing, or a byte now and then, does not hold up the command for ever.
func TestSlow(t *testing.T) {
	defer func(was time.Duration) { pageTimeout = was }(pageTimeout)
	pageTimeout = 200 * time.Millisecond
	for _, begins := range []bool{false, true} {
		s := newServer(t, 1)
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			for begins && r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
			<-r.Context().Done()
			return true
		}
		_, err := readAll(t, open(t, s).List(t.Context(), widgets(), Selection{}))
		assert.EqualError(t, err, "the server has not sent "+widgetsPath+" within 200ms")
	}
}

// TestCancelled: who gives up waits for nothing.
func TestCancelled(t *testing.T) {
	s := newServer(t, 1700)
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("continue") {
			cancel()
			<-r.Context().Done()
		}
		return false
	}
	names, err := readAll(t, open(t, s).List(ctx, widgets(), Selection{}))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, wanted(500), names)
}

// TestUnreachable: nobody is asked again who is not there.
func TestUnreachable(t *testing.T) {
	c, err := Open(kubeconfig(t, "http://127.0.0.1:1", ""), "prod")
	require.NoError(t, err)
	_, err = c.List(t.Context(), widgets(), Selection{}).Next()
	assert.ErrorContains(t, err, "connection refused")
}

// TestLines: a list reads as a line for each object, whatever white space the server writes.
func TestLines(t *testing.T) {
	s := newServer(t, 0)
	s.objects = []string{"{\n\t\"a\": [\r\n 1]\n}", `{"b":"\n"}`, "{}"}
	lines := bufio.NewScanner(open(t, s).List(t.Context(), widgets(), Selection{}))
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	require.NoError(t, lines.Err())
	assert.Equal(t, []string{"{ \t\"a\": [   1] }", `{"b":"\n"}`, "{}"}, got)
}

// TestMemory: memory does not grow with the number of the objects.
func TestMemory(t *testing.T) {
	s := newServer(t, 0)
	object := `{"a":"` + strings.Repeat("x", 2000) + `"}`
	page := `{"items":[` + strings.Repeat(object+",", 499) + object + `],"metadata":{"continue":"%d"}}`
	pages := 0
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		text := fmt.Sprintf(page, pages)
		if pages++; pages > 60 {
			text = `{"items":[]}`
		}
		_, err := io.WriteString(w, text)
		return err == nil
	}
	l := open(t, s).List(t.Context(), widgets(), Selection{})
	var most uint64
	for n := 0; ; n++ {
		_, err := l.Next()
		if err == io.EOF {
			assert.Equal(t, 30_000, n)
			break
		}
		require.NoError(t, err)
		if n%5000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	assert.Less(t, most, uint64(15<<20), "60 MB were read, in pages of 1 MB")
	assert.Nil(t, l.body)
}
