// Command espalier prunes and defaults Kubernetes custom resources, and reports
// unknown and duplicate fields with their lines. See espalier --help.
//
// Its packages, in cmd/espalier/internal, each hold one idea. Those above
// import those below:
//
//	command                      the commands, their flags and exit codes
//	explain, rewrite, proxy      why a field stays or goes; edits; the proxy
//	examine                      documents in, findings and results out
//	report, schemas, config      formats of findings; definitions; defaults of flags
//	input, suggest, finding      documents of files; guesses; what was found
//	edit, replace, locate        edits of texts; files; paths into JSON
//	yamlwriter, sanitize, terminal, parallel, flagvalue
package main

import (
	"os"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

func main() { os.Exit(command.Main()) }
