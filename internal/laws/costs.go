package laws

import (
	stderrors "errors"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/steps"
)

// The steps that a call may take: fewSteps, and mostSteps for each byte that it reads, writes or
// reports. Reported are the paths of findings and the text of the error.
const (
	fewSteps  = 256
	mostSteps = 32
)

// An allowance is how many bytes may be allocated: few, and most for each such byte.
type allowance struct{ few, most int }

var (
	// A new decoder makes its buffers. Most of the few bytes are for the tokens of a kernel, and
	// under ServerStorage for those of a second decoder.
	fresh = allowance{32 << 10, 64}
	// A decoder that has read the document before has its buffers.
	used = allowance{16 << 10, 8}
	// Where values are validated, doubtful ones are looked at again and decoded, and errors have
	// messages, at all levels.
	judging      = allowance{1 << 20, 2048}
	judgingSteps = allowance{64 << 10, 64}
)

// costs are the costs of one call. They are known where the build counts steps.
type costs struct{ allocated uint64 }

// Where costs are counted, memory is collected seldom. Two collections in a row empty the pools, and
// whoever comes next would fill them again.
func init() {
	if steps.On {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(2 << 30)
	}
}

func startCosts() costs {
	if !steps.On {
		return costs{}
	}
	steps.Take()
	return costs{allocated()}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// check asserts the costs of a call of the decoder that has read and written n bytes.
func (before costs) check(t testing.TB, n int, d *decoder.Decoder, err error, may allowance) {
	t.Helper()
	if !steps.On {
		return
	}
	taken, bytes := steps.Take(), int(allocated()-before.allocated)
	list := d.Findings()
	for i := range list {
		n += len(list[i].Path.String())
	}
	if err != nil {
		n += len(err.Error())
	}
	var limit *errors.LimitError
	if stderrors.As(err, &limit) {
		switch limit.Max {
		case decoder.DefaultDepth:
			// An open container has a frame, which takes more than the byte that opens it.
			n += 2 * decoder.DefaultDepth
		case decoder.DefaultDefaultBytes:
			n += decoder.DefaultDefaultBytes // written before there were too many
		}
	}
	of := allowance{fewSteps, mostSteps}
	if may == judging {
		of = allowance{fewSteps + judgingSteps.few, mostSteps + judgingSteps.most}
	}
	require.LessOrEqual(t, taken, of.few+of.most*n, "steps for %d bytes", n)
	require.LessOrEqual(t, bytes, may.few+may.most*n, "bytes allocated for %d bytes", n)
}
