//go:build !unix

package replace

import "os"

var endSignals = []os.Signal{os.Interrupt}

func die(_ os.Signal, code int) { os.Exit(code) }

// links does not count here: a file with several names is split.
func links(os.FileInfo) int { return 1 }

// keepAttributes keeps the mode. The owner comes from the folder.
func keepAttributes(f, _ *os.File, info os.FileInfo) error { return f.Chmod(info.Mode()) }
