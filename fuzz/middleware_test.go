package fuzz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/warning"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// The recorder of warnings logs each time that it begins to cut them.
func init() { utilruntime.ErrorHandlers = nil } //nolint:reassign // which is how it is turned off

// A reply is the outcome of a request: the request that is passed on, or the answer.
type reply struct {
	code     int // 0 if the request is passed on
	status   *metav1.Status
	object   any
	warnings []string
}

// A middlewarePair is the middleware and the server for one schema.
type middlewarePair struct {
	server *Server
	ours   http.Handler
	passed []byte
}

func newMiddlewarePair(js []byte) (*middlewarePair, error) {
	server, err := NewServer(js, testVersion, testKind)
	if err != nil {
		return nil, err
	}
	s, err := schema.Parse(js)
	if err != nil {
		return nil, err
	}
	program, err := schema.Compile(s)
	if err != nil {
		return nil, err
	}
	p := &middlewarePair{server: server}
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	find := request.Always(&request.Resource{
		APIVersion: testVersion.String(), Kind: testKind, Program: program,
		Decoder: []decoder.Option{decoder.ServerRequests, limits},
	})
	p.ours = middleware.New(find, middleware.Options{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p.passed, _ = io.ReadAll(r.Body)
	}))
	return p, nil
}

func (p *middlewarePair) send(mode string, doc []byte) (r reply) {
	p.passed = nil
	w := httptest.NewRecorder()
	p.ours.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/?fieldValidation="+mode, strings.NewReader(string(doc))))
	r.warnings = w.Header().Values("Warning")
	if p.passed == nil {
		r.code, r.status = w.Code, new(metav1.Status)
		if err := json.Unmarshal(w.Body.Bytes(), r.status); err != nil {
			r.status.Message = err.Error()
		}
		r.status.TypeMeta = metav1.TypeMeta{} // the server adds it when it encodes a status
		return r
	}
	r.object = withNumbers(p.passed)
	return r
}

// serve is the handler for creation, from the body to admission, and the check of the kind after
// that: createHandler of k8s.io/apiserver, pkg/endpoints/handlers/create.go.
func (p *middlewarePair) serve(mode string, doc []byte) (r reply, _ *StageError) {
	answer, err := p.server.Decode(doc)
	var fault *StageError
	if errors.As(err, &fault) {
		shape := fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", typeIn(doc).Kind, version(typeIn(doc).APIVersion), testKind, fault.Err)
		switch {
		case fault.Stage == Kind && mode == "Ignore": // the lenient decoder of unstructured objects reports it
			shape = fmt.Sprintf("%s in version %q cannot be handled as a %s: Object 'Kind' is missing in '%s'",
				testKind, cmp.Or(version(typeIn(doc).APIVersion), testVersion.Version), testKind, bytes.TrimSpace(doc))
		case fault.Stage == Sniff || fault.Stage == Kind:
			shape = fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", testKind, fault.Err, summarised(doc))
		}
		return refusal(apierrors.NewBadRequest(shape)), fault
	}
	kind, _ := answer.Object["kind"].(string)
	apiVersion, _ := answer.Object["apiVersion"].(string)
	switch entries := answer.Strict(); {
	case apiVersion != testVersion.String():
		return refusal(apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%v)", apiVersion, testVersion))), nil
	case kind != testKind:
		metadata, _ := answer.Object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		return refusal(apierrors.NewInvalid(testVersion.WithKind(kind).GroupKind(), name,
			field.ErrorList{field.Invalid(field.NewPath("kind"), kind, "must be "+testKind)})), nil
	case mode == "Strict" && len(entries) > 0:
		return refusal(apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %s",
			kind, version(apiVersion), testKind, strings.Join(entries, ", ")))), nil
	case mode == "Warn":
		r.warnings = recorded(entries)
	}
	r.object = withNumbers(marshal(answer.Object))
	return r, nil
}

// refusal is an answer after another reading, with invalid UTF-8 replaced.
func refusal(err *apierrors.StatusError) reply {
	read := new(metav1.Status)
	js, _ := json.Marshal(err.ErrStatus)
	_ = json.Unmarshal(js, read)
	return reply{code: int(err.ErrStatus.Code), status: read}
}

// typeIn returns the type that the server reads first.
func typeIn(doc []byte) (t metav1.TypeMeta) {
	_ = json.Unmarshal(doc, &t)
	return t
}

func version(apiVersion string) string {
	gv, _ := kschema.ParseGroupVersion(apiVersion)
	return gv.Version
}

// summarised is summarizeData, which is not exported, with a length of 30.
func summarised(doc []byte) string {
	text, rest := doc, ""
	if len(doc) > 30 {
		text, rest = doc[:30], " ..."
	}
	switch {
	case len(doc) == 0:
		return "<empty>"
	case doc[0] == '{':
		return string(text) + rest
	}
	return fmt.Sprintf("%x", text) + rest
}

// recorded returns the headers that the server's recorder writes.
func recorded(texts []string) []string {
	w := httptest.NewRecorder()
	filters.WithWarningRecorder(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for _, text := range texts {
			warning.AddWarning(r.Context(), "", text)
		}
	})).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	return w.Header().Values("Warning")
}

// isKindNull reports whether the kind that counts is null.
func isKindNull(doc []byte) bool {
	var object map[string]any
	_ = kjson.UnmarshalCaseSensitivePreserveInts(doc, &object)
	kind, isThere := object["kind"]
	return isThere && kind == nil
}

// compare describes the difference, and gives the reason if it is allowed.
func (p *middlewarePair) compare(mode string, doc []byte) (what, detail, meant string) {
	theirs, fault := p.serve(mode, doc)
	if fault != nil && (fault.Stage == Capped || fault.Stage == Panic) {
		return "", "", fault.Stage.String()
	}
	ours := p.send(mode, doc)
	switch {
	case theirs.code != ours.code:
		if fault != nil && fault.Stage == Sniff && !json.Valid(doc) == (ours.code == http.StatusBadRequest) {
			return "", "", "they read the type without regard to case"
		}
		return "code", fmt.Sprintf("they: %d %v\nwe:   %d %v", theirs.code, theirs.status, ours.code, ours.status), ""
	case theirs.code == 0 && !reflect.DeepEqual(theirs.object, ours.object):
		return "object", fmt.Sprintf("they: %s\nwe:   %s", show(theirs.object), show(ours.object)), ""
	case theirs.code == 0 && !slices.Equal(theirs.warnings, ours.warnings):
		if strings.Contains(strings.Join(ours.warnings, ""), `[\"`) {
			return "", "", "names that are escaped"
		}
		return "warnings", fmt.Sprintf("they: %q\nwe:   %q", theirs.warnings, ours.warnings), ""
	case theirs.code != 0 && !reflect.DeepEqual(theirs.status, ours.status):
		meant := "own text"
		switch {
		case fault != nil && fault.Stage == Kind && len(doc) > 1<<10:
			meant = "no more than 1 KiB is repeated"
		case fault != nil && fault.Stage != Sniff && fault.Stage != Kind && fault.Stage != RootMetadata:
		case fault != nil && fault.Stage == Kind && isKindNull(doc):
			meant = "a kind that is null is missing to them, and no string to us"
		case mapOrder.MatchString(theirs.status.Message) || strings.Contains(ours.status.Message, `["`):
		case strings.Contains(theirs.status.Message, "strict decoding error"):
			meant = "strict errors that are compared elsewhere"
		default:
			return "status", fmt.Sprintf("they: %s\nwe:   %s", show(theirs.status), show(ours.status)), ""
		}
		return "", "", meant
	}
	return "", "", ""
}

// TestMiddleware compares the middleware with the server's treatment of the body of a creation on
// generated pairs: codes, objects, warnings, and the texts of answers.
func TestMiddleware(t *testing.T) {
	y := newTally()
	forSchemas(t, *pairsFlag/8, func(first uint64) {
		s, js := NewSchema(first)
		if s.XEmbeddedResource {
			return // see compareFindings
		}
		p, err := newMiddlewarePair(js)
		require.NoError(t, err)
		for seed := first; seed < first+DocumentsPerSchema; seed++ {
			doc := NewDocument(seed, s)
			for _, mode := range []string{"Strict", "Warn", "Ignore"} {
				k := same
				what, detail, meant := p.compare(mode, doc)
				if what != "" {
					k, what = differs, mode+": "+what
				} else if meant != "" {
					k = class(meant)
				}
				y.add(k, what, func() string { return fmt.Sprintf("seed %d: %s\n%s\n%q\n%s", seed, what, js, doc, detail) })
			}
		}
	})
	y.log(t)
	require.Greater(t, y.classes[same], 1000)
}

// TestMiddlewareWarnings compares the budget for warnings, with paths of all lengths.
func TestMiddlewareWarnings(t *testing.T) {
	p, err := newMiddlewarePair([]byte(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`))
	require.NoError(t, err)
	repeat := func(n, times int) []int { return slices.Repeat([]int{n}, times) }
	for _, lengths := range [][]int{
		{1, 2, 3}, repeat(300, 3), repeat(300, 20), repeat(200, 30), repeat(235, 100), repeat(237, 100), repeat(238, 100),
		repeat(10, 240), repeat(3, 230), repeat(400, 10), repeat(900, 5), append(repeat(900, 4), repeat(5, 200)...), repeat(12, 128), repeat(13, 128),
	} {
		members := []string{`"apiVersion":"` + testVersion.String() + `"`, `"kind":"` + testKind + `"`}
		var texts []string
		for i, n := range lengths {
			path, member := duplicate(i, n)
			members = append(members, member)
			texts = append(texts, `duplicate field "`+path+`"`)
		}
		assert.Equal(t, recorded(texts), p.send("Warn", []byte("{"+strings.Join(members, ",")+"}")).warnings, "%v", lengths)
	}
}

// duplicate returns a member in which a name repeats, and its path, of about n characters. The
// middle of names of more than 250 characters is left out in paths.
func duplicate(i, n int) (path, member string) {
	path, member = "z", `{"z":1,"z":2}`
	for ; n > 200; n -= 200 {
		name := strings.Repeat("n", 199)
		path, member = name+"."+path, `{"`+name+`":`+member+`}`
	}
	name := fmt.Sprintf("%0*d", n, i)
	return name + "." + path, `"` + name + `":` + member
}

// TestMiddlewareParameter compares the answer to an invalid fieldValidation.
func TestMiddlewareParameter(t *testing.T) {
	p, err := newMiddlewarePair([]byte(`{"type":"object"}`))
	require.NoError(t, err)
	for _, value := range []string{"strict", "x", `"`} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
		r.URL.RawQuery = "fieldValidation=" + value
		p.ours.ServeHTTP(w, r)
		got := new(metav1.Status)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), got))
		// ValidateFieldValidation of k8s.io/apimachinery, pkg/apis/meta/v1/validation.
		want := apierrors.NewInvalid(kschema.GroupKind{Group: metav1.GroupName, Kind: "CreateOptions"}, "",
			field.ErrorList{field.NotSupported(field.NewPath("fieldValidation"), value, []string{"", "Ignore", "Strict", "Warn"})})
		got.TypeMeta = metav1.TypeMeta{}
		assert.Equal(t, want.ErrStatus, *got)
	}
}
