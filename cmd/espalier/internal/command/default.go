package command

import (
	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/rewrite"
	"github.com/espalier-dev/espalier/schema"
)

const defaultHelp = `Default reads custom resources and writes them with the defaults of their schemas, as
the API server inserts them: for a field that is absent from an object that is there,
and for a null whose field is not nullable. Nothing is removed except unknown fields
in metadata; see espalier prune for the others.

The apiVersion and kind of an object lead to its schema, among those that --crd and
--openapi name. The objects are written to standard output, each as a document of its
own. Objects of Kubernetes' own kinds are written without defaults, because these are
code of the API server, and in no schema; a line on standard error counts them.

With --write, nothing is written to standard output. Instead, defaults are inserted
into the files, after the last member of the object that they belong to. The rest of a
file is not touched, including its comments and style. A file is replaced as a whole.
Before that, its new content is read again and must have all of its defaults.
Otherwise the file is left as it is, with all of its documents, and that is an error.
This happens if anchors, aliases, merge keys or duplicate names are in the way, and if
a document cannot be read or has no schema. Links that lead out of a folder are not
followed. --diff shows the changes that --write would make, and makes none;
--list-changed lists the files that would change, or with --write those that did.

` + leftOutHelp + inputHelp + `

Exit codes: 0 if there are no findings, or only warnings; 1 if there are findings and
they are errors, or if --diff or --list-changed show a difference that is not written;
2 if the arguments are wrong; 3 if something could not be read, decoded or written.`

const defaultExamples = `  # What will the API server make of this?
  espalier default --crd crds/ backupplan.yaml

  # Write the defaults into the files, after a look at the changes.
  espalier default --crd crds/ --diff manifests/
  espalier default --crd crds/ --write manifests/

  # Which manifests rely on defaults?
  espalier default --crd crds/ --list-changed manifests/`

func newDefaultCommand(p *process) *cobra.Command {
	t := &transformer{options: newOptions(p, "warn"), rewriter: rewrite.NewDefaulter, defaults: true, compile: []schema.Option{schema.PreserveUnknownFields(true)}}
	return t.command(&cobra.Command{
		Use:     "default --crd FILE|DIR... [-f FILE|DIR|-]... [FILE|DIR|-]...",
		Short:   "Write objects with the defaults of their schemas",
		Long:    defaultHelp,
		Example: defaultExamples,
	})
}
