package fuzz

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A createdPair is the middleware that validates values, and the server, for one version of a kind.
type createdPair struct {
	*middlewarePair
	kind     k8sschema.GroupVersionKind
	strategy *Strategy
}

// serveCreated is the handler for creation, from the body to the answer: BeforeCreate of
// k8s.io/apiserver, pkg/registry/rest/create.go. It reports false for objects that are not of the
// kind or cannot be decoded.
func (p *createdPair) serveCreated(doc []byte) (r reply, object map[string]any, ok bool) {
	answer, err := p.server.Decode(doc)
	if err != nil || answer.Object["apiVersion"] != p.kind.GroupVersion().String() || answer.Object["kind"] != p.kind.Kind {
		return r, nil, false
	}
	object = answer.Object
	errs, warnings := p.strategy.Create(object)
	if len(errs) > 0 {
		r = refusal(apierrors.NewInvalid(p.kind.GroupKind(), createdName(object), errs))
		warnings = slices.DeleteFunc(warnings, func(text string) bool { // about finalizers, which come later
			return !strings.HasPrefix(text, ".metadata.ownerReferences")
		})
	}
	r.warnings = recorded(append(answer.Strict(), warnings...))
	return r, object, true
}

// createdName returns the name of an object that is created.
func createdName(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if base, _ := metadata["generateName"].(string); name == "" && base != "" {
		return validate.GeneratedName(base)
	}
	return name
}

// inOrder returns the server's answer with its errors in the order of ours: the server goes through
// maps. The message has each text once.
func inOrder(theirs, ours *metav1.Status) *metav1.Status {
	if theirs.Details == nil || ours.Details == nil {
		return theirs
	}
	place := make(map[metav1.StatusCause]int)
	for i, c := range ours.Details.Causes {
		place[c] = i
	}
	sorted := theirs.DeepCopy()
	slices.SortStableFunc(sorted.Details.Causes, func(a, b metav1.StatusCause) int { return place[a] - place[b] })
	var texts []string
	for _, c := range sorted.Details.Causes {
		if text := c.Field + ": " + c.Message; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 1 {
		start, _, _ := strings.Cut(sorted.Message, " is invalid: [")
		sorted.Message = start + " is invalid: [" + strings.Join(texts, ", ") + "]"
	}
	return sorted
}

func newCreatedPairs(t *testing.T) map[string]*createdPair {
	pairs := map[string]*createdPair{}
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	for v := range realVersions(t) {
		gvk := k8sschema.GroupVersion{Group: v.crd.Group, Version: v.version.Name}.WithKind(v.crd.Kind)
		server, err := NewServer(v.js, gvk.GroupVersion(), gvk.Kind)
		require.NoError(t, err)
		if v.crd.PreserveUnknownFields {
			server.Preserve()
		}
		strategy, err := NewStrategy(validate.KindOf(v.crd, &v.version), v.js, v.crd.PreserveUnknownFields)
		require.NoError(t, err)
		program, err := v.crd.Program(v.version.Name, validation.Values())
		require.NoError(t, err)
		p := &createdPair{&middlewarePair{server: server}, gvk, strategy}
		find := request.Always(&request.Resource{
			APIVersion: v.apiVersion, Kind: gvk.Kind, Program: program,
			Decoder: []decoder.Option{decoder.ServerRequests, limits, decoder.ValidateCreate},
		})
		p.ours = middleware.New(find, middleware.Options{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			p.passed, _ = io.ReadAll(r.Body)
		}))
		pairs[v.apiVersion+" "+gvk.Kind] = p
	}
	return pairs
}

// TestMiddlewareValues compares the answers to the creation of resources of the corpus, as they are
// and with mistakes in them, with the server's: the status, byte for byte but for the order of
// errors, and the warnings.
func TestMiddlewareValues(t *testing.T) {
	pairs := newCreatedPairs(t)
	objects, invalid, warned, n := 0, 0, 0, uint64(0)
	compare := func(p *createdPair, name string, js []byte) {
		theirs, object, ok := p.serveCreated(js)
		if !ok {
			return
		}
		w := httptest.NewRecorder()
		p.passed = nil
		p.ours.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(js))))
		explain := fmt.Sprintf("%s\n%s\n%s", name, marshal(object), w.Body)
		objects++
		warnings := w.Header().Values("Warning")
		if all := strings.Join(warnings, ", "); !strings.Contains(all, `[\"`) { // names that are escaped
			require.Equal(t, strings.Join(theirs.warnings, ", "), all, explain)
		}
		warned += min(len(warnings), 1)
		if theirs.code == 0 {
			require.NotNil(t, p.passed, explain)
			return
		}
		invalid++
		ours := new(metav1.Status)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), ours), explain)
		ours.TypeMeta = metav1.TypeMeta{}
		require.Equal(t, inOrder(theirs.status, ours), ours, explain)
	}
	for o := range realObjects(t) {
		p := pairs[o.apiVersion+" "+o.kind]
		if p == nil {
			continue
		}
		compare(p, o.file, o.js)
		for range 4 {
			n++
			compare(p, fmt.Sprintf("%s, seed %d", o.file, n), Mutate(o.js, rand.New(rand.NewPCG(n, 5))))
		}
	}
	t.Logf("%d objects, %d invalid, %d with warnings", objects, invalid, warned)
	require.Greater(t, invalid, 100)
	require.Greater(t, warned, 10)
}
