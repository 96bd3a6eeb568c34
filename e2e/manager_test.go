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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/projection"
)

var (
	manyReleases = flag.Int("releases", 300, "how many releases the managers of TestManager have in their caches")
	rounds       = flag.Int("rounds", 1, "how often TestManager starts each manager, with and without projection in turns")
)

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
	config, _ := serveReleases(t)
	storeReleases(t, config, *manyReleases)
	command := filepath.Join(t.TempDir(), "manager")
	out, err := exec.Command("go", "build", "-o", command, "./manager").CombinedOutput()
	require.NoError(t, err, "%s", out)

	for _, way := range []string{"LIST", "WatchList"} {
		for _, objects := range []string{"maps", "whole", "small"} {
			t.Run(way+" "+objects, func(t *testing.T) {
				var with, without []managerReport
				for range *rounds {
					without = append(without, runManager(t, command, config, way, objects, nil))
					with = append(with, runManager(t, command, config, way, objects, kept))
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

// storeReleases creates releases with their status, four at a time.
func storeReleases(t *testing.T, config *rest.Config, n int) {
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	numbers := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range numbers {
				r := client.Resource(releases).Namespace(fmt.Sprintf("team-%d", i%10))
				stored, err := r.Create(context.Background(), newRelease("", fmt.Sprintf("release-%05d", i), i), metav1.CreateOptions{})
				if !assert.NoError(t, err) {
					continue
				}
				stored.Object["status"] = newStatus(i)
				_, err = r.UpdateStatus(context.Background(), stored, metav1.UpdateOptions{})
				assert.NoError(t, err)
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	wg.Wait()
	one, err := client.Resource(releases).Namespace("team-0").Get(t.Context(), "release-00000", metav1.GetOptions{})
	require.NoError(t, err)
	text, err := one.MarshalJSON()
	require.NoError(t, err)
	t.Logf("%d releases of %d bytes", n, len(text))
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
