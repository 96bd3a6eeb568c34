package command

import (
	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/rewrite"
	"github.com/espalier-dev/espalier/schema"
)

const defaultHelp = `Default reads custom resources and writes them with the defaults of their schemas,
as the API server inserts them: where a field is absent from an object that is
there, and where it is null without being nullable. Nothing is removed, but for
unknown fields in metadata; see espalier prune for that.

The schema of an object is found by its apiVersion and kind among those that --crd
and --openapi name. The objects go to standard output, each a document of its own.
Kubernetes' own kinds are defaulted by code of the server, and their schemas have no
defaults.

With --write nothing goes there. Instead, defaults are inserted into the files, behind
the last member of the object that they belong to, and everything else stays as it
stands, comments and style too. A file is replaced as a whole, and only after it was
read again and had everything that it should; otherwise it is left as it is, with all of
its documents, and that is an error: where anchors, aliases or merge keys are in the
way, or names that stand twice, or where a document cannot be read or has no schema. A
link in a folder that leads out of it is not followed. --diff shows what --write would do, and does nothing;
--list-changed lists the files that would change, or with --write those that have.

` + inputHelp + `

Exit codes: 0 if nothing was found, or only warnings; 1 if there are findings
and they are errors, or if --diff or --list-changed show a difference that is not
written; 2 if the arguments are wrong; 3 if something could not be read, decoded
or written.`

const defaultExamples = `  # What will the API server make of this?
  espalier default --crd crds/ backupplan.yaml

  # Write the defaults down, after a look at what that changes.
  espalier default --crd crds/ --diff manifests/
  espalier default --crd crds/ --write manifests/

  # Which manifests leave something to defaults?
  espalier default --crd crds/ --list-changed manifests/`

func newDefaultCommand(p *process) *cobra.Command {
	t := &transformer{options: newOptions(p, "warn"), edit: rewrite.Default, compile: []schema.Option{schema.PreserveUnknownFields(true)}}
	return t.command(&cobra.Command{
		Use:     "default --crd FILE|DIR... [-f FILE|DIR|-]... [FILE|DIR|-]...",
		Short:   "Write objects with the defaults of their schemas",
		Long:    defaultHelp,
		Example: defaultExamples,
	})
}
