// Command espalier prunes and defaults Kubernetes custom resources, and reports
// unknown and duplicate fields with their lines. See espalier --help.
package main

import "os"

func main() { os.Exit(Main()) }
