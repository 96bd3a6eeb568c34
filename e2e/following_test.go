package e2e

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/espalier-dev/espalier/projection"
)

var changes = flag.Int("changes", 200, "how many changes an informer follows whose watches are cut")

// A cutter cuts the responses of watches, below a projection, after random numbers of bytes, so mostly within an event.
type cutter struct {
	next http.RoundTripper
	mu   sync.Mutex
	rand *rand.Rand
	cuts atomic.Int64
	full atomic.Int64 // reads of all objects
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	if q := r.URL.Query(); q.Get("watch") == "" || q.Get("sendInitialEvents") == "true" {
		c.full.Add(1)
	}
	response, err := c.next.RoundTrip(r)
	if err != nil || r.URL.Query().Get("watch") == "" {
		return response, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// client-go takes these for the end of a connection. A watch without any event would be started anew, with a list.
	end := one(c.rand, io.EOF, io.ErrUnexpectedEOF, error(syscall.ECONNRESET))
	response.Body = &cutBody{ReadCloser: response.Body, left: 20_000 + c.rand.IntN(200_000), end: end, cuts: &c.cuts}
	return response, nil
}

type cutBody struct {
	io.ReadCloser
	left int
	end  error
	cuts *atomic.Int64
}

func (b *cutBody) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		b.cuts.Add(1)
		return 0, b.end
	}
	n, err = b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// testFollowing asserts that an informer with a projection sees each change, although its watches are cut.
func testFollowing(t *testing.T, config *rest.Config, storage generic.RESTOptionsGetter) {
	const objects = 32
	whole, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	writing := whole.Resource(releases).Namespace("following")
	for i := range objects {
		r := newRelease("following", fmt.Sprintf("f%d", i), i)
		delete(in(r.Object, "spec"), "values") // a kilobyte is left: the server beside us takes most of the time
		_, err := writing.Create(t.Context(), r, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	p, err := projection.New(projection.Options{}, projection.Rule{Group: releases.Group, Resource: releases.Resource, Keep: kept})
	require.NoError(t, err)
	cut := &cutter{rand: rand.New(rand.NewPCG(1, 2))}
	projected := rest.CopyConfig(config)
	projected.Wrap(func(next http.RoundTripper) http.RoundTripper {
		cut.next = next
		return p.Transport(cut)
	})
	reading, err := dynamic.NewForConfig(projected)
	require.NoError(t, err)

	// The number of its last change is in a label of each release.
	seen := newSeen()
	informer := dynamicinformer.NewFilteredDynamicInformer(reading, releases, "following", 0, cache.Indexers{}, nil).Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    seen.see,
		UpdateFunc: func(_, obj any) { seen.see(obj) },
	})
	require.NoError(t, err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); informer.Run(stop) }()
	defer func() { close(stop); <-stopped }()
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))

	// The server takes 5 ms of a processor for a patch, so that the changes come from beside it: one of each release
	// every 32 ms, not in one transaction, as what has one revision cannot be resumed within.
	etcd, key := openStorage(t, storage, "following", "f0")
	prefix := strings.TrimSuffix(key, "f0")
	texts := make([]*unstructured.Unstructured, objects)
	for i := range texts {
		stored, err := etcd.Get(t.Context(), fmt.Sprintf("%sf%d", prefix, i))
		require.NoError(t, err)
		texts[i] = &unstructured.Unstructured{}
		require.NoError(t, texts[i].UnmarshalJSON(stored.Kvs[0].Value))
	}
	full, began := cut.full.Load(), time.Now()
	last := map[string]int{}
	pace := time.NewTicker(objects * time.Millisecond)
	defer pace.Stop()
	n := 0
	for n < *changes {
		<-pace.C
		var puts sync.WaitGroup
		for _, u := range texts {
			n++
			u.SetLabels(map[string]string{"n": strconv.Itoa(n)})
			in(u.Object, "spec")["version"] = strconv.Itoa(n)
			in(u.Object, "spec")["notes"] = fmt.Sprintf("of change %d", n)
			text, err := u.MarshalJSON()
			require.NoError(t, err)
			last[u.GetName()] = n
			puts.Go(func() {
				_, err := etcd.Put(t.Context(), prefix+u.GetName(), string(text))
				assert.NoError(t, err)
			})
		}
		puts.Wait()
	}
	written := time.Since(began)
	require.Eventually(t, func() bool { return seen.isAt(last) }, time.Minute, 10*time.Millisecond)
	followed := time.Since(began)
	counts := p.Counts()
	rate := func(d time.Duration) float64 { return float64(n) / d.Seconds() }
	t.Logf("%d changes, %.0f a second written, %.0f followed, over %d cuts; %d events, all objects read %d times",
		n, rate(written), rate(followed), cut.cuts.Load(), counts.Events, cut.full.Load())
	assert.Positive(t, cut.cuts.Load())
	assert.Empty(t, seen.wrong)
	if cut.full.Load() == full { // another one would stand for changes that were not seen one by one
		assert.Equal(t, n, seen.count())
	}

	// The cache is what is stored, but for what is not kept.
	list, err := writing.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, informer.GetStore().List(), len(list.Items))
	for i := range list.Items {
		stored := &list.Items[i]
		cached, ok, err := informer.GetStore().GetByKey("following/" + stored.GetName())
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, projectedByHand(stored), cached.(*unstructured.Unstructured).Object)
	}
}

// changesSeen are the changes that an informer has told of.
type changesSeen struct {
	mu      sync.Mutex
	numbers map[int]bool
	of      map[string]int // the last one of each object
	wrong   []string
}

func newSeen() *changesSeen { return &changesSeen{numbers: map[int]bool{}, of: map[string]int{}} }

func (s *changesSeen) see(obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := obj.(*unstructured.Unstructured)
	label := u.GetLabels()["n"]
	if label == "" {
		return
	}
	n, err := strconv.Atoi(label)
	version, _, _ := unstructured.NestedString(u.Object, "spec", "version")
	if _, has := in(u.Object, "spec")["notes"]; err != nil || version != label || has || n < s.of[u.GetName()] {
		s.wrong = append(s.wrong, fmt.Sprint(u.Object))
	}
	s.numbers[n] = true
	s.of[u.GetName()] = n
}

// isAt tells whether the last change of each object has been seen.
func (s *changesSeen) isAt(last map[string]int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Equal(last, s.of)
}

func (s *changesSeen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.numbers)
}

// projectedByHand returns what is to be left of a release, by other means than the projection.
func projectedByHand(stored *unstructured.Unstructured) object {
	o := only(stored.DeepCopy().Object, "apiVersion", "kind", "metadata", "spec", "status")
	delete(in(o, "metadata"), "managedFields")
	if spec, ok := o["spec"].(object); ok {
		o["spec"] = only(spec, "version", "replicas", "hosts", "containers")
		if containers, ok := in(o, "spec")["containers"].([]any); ok {
			for i, c := range containers {
				containers[i] = only(c.(object), "name", "image")
			}
		}
	}
	return o
}

func only(o object, names ...string) object {
	left := object{}
	for _, name := range names {
		if value, ok := o[name]; ok {
			left[name] = value
		}
	}
	return left
}
