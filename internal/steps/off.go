//go:build !steps

package steps

// On says that steps are counted.
const On = false

// Add counts n steps.
//
//espalier:inline
func Add(int) {}

// Take returns how many steps there were since it was called last.
func Take() int { return 0 }
