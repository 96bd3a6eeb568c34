package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/projection"
)

var (
	manyReleases = flag.Int("releases", 300, "how many releases the managers of TestManager have in their caches")
	rounds       = flag.Int("rounds", 1, "how often TestManager starts each manager, with and without projection in turns")
)

// watched is what the managers read of a release: a tenth of its bytes, with its metadata.
var watched = []string{"spec.version", "spec.replicas", "status.phase", "status.ready"}

// A managerReport is what the command in manager says.
type managerReport struct {
	PeakBytes int64
	CPU, Sync time.Duration
	Objects   int
	Digest    string
	Counts    projection.Counts
}

// TestManager starts a controller-runtime manager, with and without a projection, in a process of its own, and measures
// it until its cache has synchronized. What the controller reads must be the same in both caches. With 20 000 releases
//
//	go test -run '^TestManager$' -v . -args -releases 20000 -rounds 3
//
// it asserts what a projection saves, too; with fewer, the process itself is most of what is measured.
func TestManager(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	if runtime.GOOS != "linux" {
		t.Skip("measures on Linux only")
	}
	config, storage, _ := serveReleases(t)
	storeReleases(t, config, storage, *manyReleases)
	command := filepath.Join(t.TempDir(), "manager")
	out, err := exec.Command("go", "build", "-o", command, "./manager").CombinedOutput()
	require.NoError(t, err, "%s", out)

	for _, way := range []string{"LIST", "WatchList"} {
		for _, objects := range []string{"maps", "whole", "small"} {
			t.Run(way+" "+objects, func(t *testing.T) {
				var with, without []managerReport
				for range *rounds {
					without = append(without, runManager(t, command, config, way, objects, nil))
					with = append(with, runManager(t, command, config, way, objects, watched))
				}
				for _, r := range slices.Concat(with, without) {
					assert.Equal(t, *manyReleases, r.Objects)
					assert.Equal(t, without[0].Digest, r.Digest, "what the controller reads")
				}
				for _, r := range with {
					projected := r.Counts.Lists > 0
					if way == "WatchList" {
						projected = r.Counts.Events >= uint64(*manyReleases) && r.Counts.Lists == 0
					}
					assert.True(t, projected, "%+v", r.Counts)
				}
				t.Logf("%.1f%% of the bytes are kept", 100*float64(with[0].Counts.BytesKept)/float64(with[0].Counts.BytesRead))
				memory, cpu := compareManagers(t, way+", "+objects, without, with)
				if *manyReleases >= 20000 && way == "LIST" && objects == "maps" {
					assert.GreaterOrEqual(t, memory, 6.0, "the peak of memory")
					assert.GreaterOrEqual(t, cpu, 5.0, "the time of the processor")
				}
			})
		}
	}
}

// compareManagers prints the medians, as a row of the table in docs/clients.md, and returns ratios of peaks and times.
func compareManagers(t *testing.T, name string, without, with []managerReport) (memory, cpu float64) {
	peak := func(r managerReport) float64 { return float64(r.PeakBytes) / 1e6 }
	busy := func(r managerReport) float64 { return r.CPU.Seconds() }
	sync := func(r managerReport) float64 { return r.Sync.Seconds() }
	row := "| " + name
	for _, of := range []func(managerReport) float64{peak, busy, sync} {
		row += fmt.Sprintf(" | %.3g | %.3g", median(without, of), median(with, of))
	}
	t.Log(row + " |")
	return median(without, peak) / median(with, peak), median(without, busy) / median(with, busy)
}

func median(reports []managerReport, of func(managerReport) float64) float64 {
	values := make([]float64, len(reports))
	for i, r := range reports {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// storeReleases creates a release with its status, and puts others like it into etcd, as 20 000 requests would take long.
func storeReleases(t *testing.T, config *rest.Config, storage generic.RESTOptionsGetter, n int) {
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	first, err := client.Resource(releases).Namespace("team-0").Create(t.Context(), newRelease("", "release-00000", 0), metav1.CreateOptions{})
	require.NoError(t, err)
	first.Object["status"] = newStatus(0)
	first, err = client.Resource(releases).Namespace("team-0").UpdateStatus(t.Context(), first, metav1.UpdateOptions{})
	require.NoError(t, err)

	etcd, key := openStorage(t, storage, "team-0", "release-00000")
	prefix := strings.TrimSuffix(key, "team-0/release-00000")

	size := 0
	var puts []clientv3.Op
	for i := 1; i < n; i++ {
		namespace, name := fmt.Sprintf("team-%d", i%10), fmt.Sprintf("release-%05d", i)
		r := newRelease(namespace, name, i)
		r.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)))
		r.SetCreationTimestamp(first.GetCreationTimestamp())
		r.SetGeneration(1)
		r.SetManagedFields(first.GetManagedFields())
		r.Object["status"] = newStatus(i)
		text, err := r.MarshalJSON()
		require.NoError(t, err)
		size += len(text)
		puts = append(puts, clientv3.OpPut(prefix+namespace+"/"+name, string(text)))
		if len(puts) == 100 || i == n-1 {
			_, err := etcd.Txn(t.Context()).Then(puts...).Commit()
			require.NoError(t, err)
			puts = puts[:0]
		}
	}
	require.Eventually(t, func() bool { // the server's cache has them
		_, err := client.Resource(releases).Namespace(fmt.Sprintf("team-%d", (n-1)%10)).
			Get(context.Background(), fmt.Sprintf("release-%05d", n-1), metav1.GetOptions{ResourceVersion: "0"})
		return err == nil
	}, time.Minute, 100*time.Millisecond)
	t.Logf("%d releases of %d bytes", n, size/(n-1))
}

// openStorage opens the server's etcd, and returns the key of a release that is stored there.
func openStorage(t *testing.T, storage generic.RESTOptionsGetter, namespace, name string) (*clientv3.Client, string) {
	options, err := storage.GetRESTOptions(releases.GroupResource(), nil)
	require.NoError(t, err)
	etcd, err := clientv3.New(clientv3.Config{Endpoints: options.StorageConfig.Transport.ServerList, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { etcd.Close() })
	keys, err := etcd.Get(t.Context(), "/espalier/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	require.NoError(t, err)
	at := slices.IndexFunc(keys.Kvs, func(kv *mvccpb.KeyValue) bool { return strings.HasSuffix(string(kv.Key), "/"+namespace+"/"+name) })
	require.GreaterOrEqual(t, at, 0)
	return etcd, string(keys.Kvs[at].Key)
}

// runManager runs the command. It ends when the pipe to it is closed, also if this process dies.
func runManager(t *testing.T, command string, config *rest.Config, way, objects string, keep []string) (report managerReport) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	order, err := json.Marshal(map[string]any{
		"Host": config.Host, "Token": config.BearerToken, "TLS": config.TLSClientConfig, "Objects": objects, "Keep": keep,
		"Group": releases.Group, "Version": releases.Version, "Resource": releases.Resource, "Kind": releaseKind.Kind,
	})
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, command)
	cmd.Env = append(os.Environ(), fmt.Sprintf("KUBE_FEATURE_WatchListClient=%t", way == "WatchList"))
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(stdin, string(order)+"\n")
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "%s", stderr.String())
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &report), "%s", stdout.String())
	return report
}
