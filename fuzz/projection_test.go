package fuzz

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/projection"
	"github.com/espalier-dev/espalier/schema"
)

var projectionPaths = []string{"spec.keep", "spec.list[].name", "spec.map.*.v", "status.conditions[].type"}

// A widgetServer serves random widgets, in pages and in events, and sends pieces of a size.
type widgetServer struct {
	objects []map[string]any
	piece   int
}

func (s *widgetServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	q := r.URL.Query()
	if q.Get("watch") != "" {
		for i, o := range s.objects {
			s.send(w, map[string]any{"type": []string{"ADDED", "MODIFIED", "DELETED"}[i%3], "object": o})
		}
		s.send(w, map[string]any{"type": "BOOKMARK", "object": map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
			"metadata": map[string]any{"resourceVersion": "9", "annotations": map[string]any{"k8s.io/initial-events-end": "true"}}}})
		s.send(w, map[string]any{"type": "ERROR", "object": map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}})
		return
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	to := min(from+3, len(s.objects))
	metadata := map[string]any{"resourceVersion": "8"}
	if to < len(s.objects) {
		metadata["continue"], metadata["remainingItemCount"] = strconv.Itoa(to), len(s.objects)-to
	}
	s.send(w, map[string]any{"apiVersion": "example.com/v1", "kind": "WidgetList", "metadata": metadata, "items": s.objects[from:to]})
}

func (s *widgetServer) send(w io.Writer, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	for text = append(text, '\n'); len(text) > 0; {
		n := min(len(text), s.piece)
		if _, err := w.Write(text[:n]); err != nil {
			return
		}
		if text = text[n:]; s.piece < 1000 {
			w.(http.Flusher).Flush()
		}
	}
}

// randomWidget makes an object in which names that are kept and others are at all depths.
func randomWidget(r *rand.Rand, i int) map[string]any {
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(6); {
		case n == 0:
			return nil
		case n < 3 || depth == 0:
			return []any{true, int64(r.IntN(9)), 0.5, "text\u2028é"}[r.IntN(4)]
		case n == 3:
			list := []any{}
			for range r.IntN(4) {
				list = append(list, value(depth-1))
			}
			return list
		}
		m := map[string]any{}
		for range r.IntN(6) {
			m[[]string{"keep", "list", "name", "map", "v", "drop", "conditions", "type"}[r.IntN(8)]] = value(depth - 1)
		}
		return m
	}
	metadata := map[string]any{"name": fmt.Sprint("w", i), "namespace": "n", "uid": fmt.Sprint(i), "resourceVersion": fmt.Sprint(i + 1),
		"labels": map[string]any{"l": "v"}, "managedFields": []any{map[string]any{"manager": "m", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}}}
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": value(4), "status": value(4)}
}

// TestProjectionOfClients compares what client-go decodes of projected responses with what it decodes
// of full ones, of which each object is projected afterwards.
func TestProjectionOfClients(t *testing.T) {
	p, err := projection.New(projection.Options{}, projection.Rule{Group: "example.com", Resource: "widgets", Keep: projectionPaths})
	require.NoError(t, err)
	s, err := schema.Project(nil, projectionPaths...)
	require.NoError(t, err)
	program, err := schema.Compile(s, schema.ResourceRoot(false))
	require.NoError(t, err)
	d := decoder.New(program, decoder.Ignore)
	kept := func(o unstructured.Unstructured) map[string]any {
		text, err := o.MarshalJSON()
		require.NoError(t, err)
		out, err := d.AppendJSON(nil, text)
		require.NoError(t, err)
		require.NoError(t, o.UnmarshalJSON(out))
		return o.Object
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 28))
		served := &widgetServer{piece: []int{1, 3, 100, 4096}[seed%4]}
		for i := range r.IntN(9) {
			served.objects = append(served.objects, randomWidget(r, i))
		}
		server := httptest.NewServer(served)
		clientOf := func(wrap func(http.RoundTripper) http.RoundTripper) dynamic.ResourceInterface {
			config := &rest.Config{Host: server.URL, QPS: -1}
			if wrap != nil {
				config.Wrap(wrap)
			}
			c, err := dynamic.NewForConfig(config)
			require.NoError(t, err)
			return c.Resource(runtimeschema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("n")
		}
		full, projected := clientOf(nil), clientOf(p.Transport)
		want, got := pages(t, full), pages(t, projected)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i].Object["metadata"], got[i].Object["metadata"])
			require.Len(t, got[i].Items, len(want[i].Items))
			for j := range want[i].Items {
				require.Equal(t, kept(want[i].Items[j]), got[i].Items[j].Object, "seed %d", seed)
			}
		}
		all, left := watchAll(t, full), watchAll(t, projected)
		require.Len(t, left, len(all))
		for i := range all {
			require.Equal(t, all[i].kind, left[i].kind)
			if all[i].kind == "ERROR" {
				require.Equal(t, all[i].object, left[i].object)
				continue
			}
			require.Equal(t, kept(all[i].object), left[i].object.Object, "seed %d", seed)
		}
		server.Close()
	}
	assert.Empty(t, p.Counts().Passed)
	assert.Zero(t, p.Counts().Failed)
	assert.Less(t, p.Counts().BytesKept, p.Counts().BytesRead)
}

// pages lists all pages.
func pages(t *testing.T, c dynamic.ResourceInterface) (all []*unstructured.UnstructuredList) {
	for token := ""; ; {
		list, err := c.List(t.Context(), metav1.ListOptions{Limit: 3, Continue: token})
		require.NoError(t, err)
		all = append(all, list)
		if token = list.GetContinue(); token == "" {
			return all
		}
	}
}

type watched struct {
	kind   string
	object unstructured.Unstructured
}

// watchAll returns the events of a watch that the server ends.
func watchAll(t *testing.T, c dynamic.ResourceInterface) (all []watched) {
	w, err := c.Watch(t.Context(), metav1.ListOptions{AllowWatchBookmarks: true})
	require.NoError(t, err)
	defer w.Stop()
	for event := range w.ResultChan() {
		if o, ok := event.Object.(*unstructured.Unstructured); ok {
			all = append(all, watched{string(event.Type), *o})
			continue
		}
		text, err := json.Marshal(event.Object)
		require.NoError(t, err)
		var o unstructured.Unstructured
		require.NoError(t, json.Unmarshal(text, &o.Object))
		all = append(all, watched{string(event.Type), o})
	}
	return all
}
