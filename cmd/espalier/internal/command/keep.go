package command

import (
	stderrors "errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A keeper projects results to the fields that --keep names, as the transport of package projection
// does. Workers share it.
type keeper struct {
	paths      []string
	projection *schema.Structural // nil without --keep
	decoders   *decoder.Pool
	read, kept atomic.Int64 // bytes

	mu      sync.Mutex
	checked map[*schema.Structural]bool // schemas that were compared with the paths
	unknown []string                    // what was found
}

func (k *keeper) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&k.paths, "keep", nil, "`path` of a field that is left, besides type and metadata, such as spec.list[].name; may be repeated")
}

// prepare makes the projection, if there is one.
func (k *keeper) prepare() (err error) {
	if len(k.paths) == 0 {
		return nil
	}
	if k.projection, err = schema.Project(nil, k.paths...); err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	program, err := schema.Compile(k.projection, schema.ResourceRoot(false))
	if err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	k.decoders = decoder.NewPool(program, decoder.Ignore)
	k.checked = map[*schema.Structural]bool{}
	return nil
}

// project changes the result for an object to what is left of it.
func (k *keeper) project(o *examine.Object, entry schema.Entry) error {
	if k.projection == nil {
		return nil
	}
	d := k.decoders.Get()
	defer k.decoders.Put(d)
	left, err := d.AppendJSON(nil, o.Result)
	if err != nil {
		return err
	}
	k.read.Add(int64(len(o.Result)))
	k.kept.Add(int64(len(left)))
	o.Result = left
	if entry.Version != nil {
		k.check(entry)
	}
	return nil
}

// check notes paths that a schema does not specify, once for each schema.
func (k *keeper) check(entry schema.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.checked[entry.Version.Schema] {
		return
	}
	k.checked[entry.Version.Schema] = true
	found, _ := stderrors.AsType[errors.SchemaErrors](schema.CheckProjection(k.projection, entry.Version.Schema))
	for _, f := range found {
		k.unknown = append(k.unknown, fmt.Sprintf("warning: --keep: %s of %s %s", sanitize.Visible(f.Field), sanitize.Visible(entry.Kind), f.Msg))
	}
}

// summarize says what was found, and how much is left.
func (k *keeper) summarize(p *process) {
	k.mu.Lock() // after an error of the output, there are goroutines that have not ended yet
	defer k.mu.Unlock()
	for _, line := range k.unknown {
		fmt.Fprintln(p.stderr, line)
	}
	if k.projection != nil {
		fmt.Fprintf(p.stderr, "kept %d of %s\n", k.kept.Load(), finding.Count(int(k.read.Load()), "byte"))
	}
}
