// Command espalier prunes and defaults Kubernetes custom resources, and reports
// unknown and duplicate fields with their lines. See espalier --help.
//
// Its packages, in cmd/espalier/internal, each hold one idea. Those above
// import those below:
//
//	command                      the commands, their flags and exit codes
//	audit                        what a change of definitions does to objects
//	diffreport, schemadiff       formats of differences; definitions that are compared
//	explain, rewrite, proxy      why a field stays or goes; edits; the proxy
//	examine                      documents in, findings and results out
//	report, schemas, config      formats of findings; definitions; defaults of flags
//	builtin                      schemas of Kubernetes' own kinds
//	cluster                      definitions and objects of a running cluster
//	suppress, baseline           known findings, in comments, the configuration and a file
//	stored, revision, layout     objects of an old state; files of a git revision; what files are for
//	input, finding               documents of files; what was found
//	strictfile, edit, replace    files of this command's own; edits of texts; files
//	locate, pathmatch            paths into JSON; patterns of paths of files
//	sanitize, terminal, parallel, flagvalue
package main

import (
	"os"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

func main() { os.Exit(command.Main()) }
