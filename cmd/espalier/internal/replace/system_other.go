//go:build !unix

package replace

import "os"

var endSignals = []os.Signal{os.Interrupt}

func die(_ os.Signal, code int) { os.Exit(code) }

// links is not told apart here: what has several names is split.
func links(os.FileInfo) int { return 1 }

// keepAttributes keeps the mode: the folder says whose its files are.
func keepAttributes(f, _ *os.File, info os.FileInfo) error { return f.Chmod(info.Mode()) }
