//go:build unix && !linux

package replace

import "os"

// keepExtended does nothing: attributes differ from system to system.
func keepExtended(_, _ *os.File) error { return nil }
