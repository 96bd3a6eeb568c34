package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/projection"
)

// A chunked transport answers every request with the same body, of which each Read returns so many bytes.
type chunked struct {
	body  []byte
	bytes int
}

func (c *chunked) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: &chunks{c.body, c.bytes},
	}, nil
}

type chunks struct {
	left []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.left)
	c.left = c.left[n:]
	return n, nil
}

func (c *chunks) Close() error { return nil }

// chunkSizes are the sizes of the chunks that generated texts are cut into: each one up to a few hundred, then some.
func chunkSizes() (sizes []int) {
	for n := 1; n <= 260; n++ {
		sizes = append(sizes, n)
	}
	return append(sizes, 511, 512, 513, 4095, 4096, 4097, 32767, 32768, 32769, 1<<30)
}

// TestChunks asserts that client-go decodes projected responses to what it makes of whole ones, projected afterwards.
func TestChunks(t *testing.T) {
	for i, size := range chunkSizes() {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		list, events := generateReleases(t, r)
		require.True(t, t.Run(fmt.Sprint("list, ", size), func(t *testing.T) { compareChunkedList(t, list, size) }))
		require.True(t, t.Run(fmt.Sprint("watch, ", size), func(t *testing.T) { compareChunkedWatch(t, events, size) }))
	}
}

// TestCutLists asserts that no list that ends too early is a shorter one for client-go.
func TestCutLists(t *testing.T) {
	list, _ := generateReleases(t, rand.New(rand.NewPCG(7, 3)))
	require.Greater(t, len(list), 1000)
	for n := 0; n < len(list); n += 1 + n%7 {
		projected, _ := clientsOf(t, list[:n], 100)
		_, err := projected.List(t.Context(), metav1.ListOptions{})
		require.Error(t, err, "%d of %d bytes", n, len(list))
	}
}

// clientsOf returns a client that gets chunks of a body through a projection, and one that gets the whole body.
func clientsOf(t *testing.T, body []byte, size int) (projected, whole dynamic.ResourceInterface) {
	p, err := projection.New(projection.Options{}, projection.Rule{Group: releases.Group, Resource: releases.Resource, Keep: kept})
	require.NoError(t, err)
	client := func(transport http.RoundTripper) dynamic.ResourceInterface {
		d, err := dynamic.NewForConfig(&rest.Config{Host: "http://127.0.0.1", Transport: transport, QPS: -1})
		require.NoError(t, err)
		return d.Resource(releases)
	}
	return client(p.Transport(&chunked{body, size})), client(&chunked{body, 1 << 30})
}

func compareChunkedList(t *testing.T, body []byte, size int) {
	projected, whole := clientsOf(t, body, size)
	want, err := whole.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "%s", body)
	got, err := projected.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "%s", body)
	for i := range want.Items {
		want.Items[i].Object = projectedByHand(&want.Items[i])
	}
	assert.Equal(t, want, got)
}

func compareChunkedWatch(t *testing.T, body []byte, size int) {
	projected, whole := clientsOf(t, body, size)
	var events [2][]watch.Event
	for i, c := range []dynamic.ResourceInterface{projected, whole} {
		w, err := c.Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for e := range w.ResultChan() {
			events[i] = append(events[i], e)
		}
	}
	got, want := events[0], events[1]
	require.NotEmpty(t, want)
	for _, e := range want {
		if u, ok := e.Object.(*unstructured.Unstructured); ok && u.GetKind() == releaseKind.Kind {
			u.Object = projectedByHand(u)
		}
	}
	assert.Equal(t, want, got)
}

// generateReleases returns the texts of a list and of a watch.
func generateReleases(t *testing.T, r *rand.Rand) (list, events []byte) {
	written := func(o any) []byte {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		if r.IntN(4) == 0 {
			var indented bytes.Buffer
			require.NoError(t, json.Indent(&indented, text, "", one(r, " ", "\t", "")))
			return indented.Bytes()
		}
		return text
	}
	items := []any{}
	for i := range r.IntN(4) {
		items = append(items, generateRelease(r, i))
	}
	meta := object{"resourceVersion": "12"}
	if r.IntN(2) == 0 {
		meta["continue"], meta["remainingItemCount"] = "tok\"en", int64(7)
	}
	list = written(object{"apiVersion": "shop.example.com/v1", "kind": "ReleaseList", "metadata": meta, "items": items})
	for i := range 1 + r.IntN(4) {
		event := object{"type": one(r, "ADDED", "MODIFIED", "DELETED"), "object": generateRelease(r, i)}
		switch r.IntN(6) {
		case 0:
			event = object{"type": "BOOKMARK", "object": object{"apiVersion": "shop.example.com/v1", "kind": "Release",
				"metadata": object{"resourceVersion": "13", "annotations": object{"k8s.io/initial-events-end": "true"}}}}
		case 1:
			event = object{"type": "ERROR", "object": object{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": int64(410), "reason": "Expired"}}
		}
		events = append(append(events, written(event)...), one(r, "\n", "", "\r\n ")...)
	}
	return list, events
}

func generateRelease(r *rand.Rand, i int) object {
	u := newRelease("chunks", fmt.Sprintf("c%d", i), r.IntN(100))
	u.SetResourceVersion(fmt.Sprint(r.IntN(1000)))
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "e2e", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}})
	u.Object["status"] = newStatus(i)
	spec := in(u.Object, "spec")
	values := in(spec, "values")
	for name := range values { // mostly, a small one is enough
		if r.IntN(8) > 0 {
			delete(values, name)
		}
	}
	odd := []any{"", "\u2028\U0001f333 \"\\/\n", nil, []any{}, object{}, 1.5e300, []any{object{"a": []any{nil, true}}}}
	for range r.IntN(4) {
		values[one(r, "}", "a\"b", "é", "spec", "")] = odd[r.IntN(len(odd))]
	}
	switch r.IntN(8) {
	case 0:
		delete(u.Object, "spec")
	case 1:
		u.Object["spec"] = object{}
	case 2:
		spec["containers"] = []any{}
	case 3:
		spec["containers"] = []any{object{}, object{"name": odd[1], "env": nil}}
	case 4:
		spec["hosts"] = odd[r.IntN(len(odd))]
	case 5:
		u.Object["status"] = odd[4]
	case 6:
		u.Object["other"], u.Object["data"] = odd[6], odd[1]
	}
	return u.Object
}
