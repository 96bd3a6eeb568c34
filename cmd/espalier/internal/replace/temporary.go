package replace

// This file makes sure that no temporary file is left, however the process ends, except by
// SIGKILL or a loss of power.

import (
	"os"
	"os/signal"
	"sync"
)

// temporary are the files that are written beside others, to take their places.
var temporary temporaryFiles

type temporaryFiles struct {
	mu    sync.Mutex
	names map[string]bool
}

// create makes a file in a folder.
func (u *temporaryFiles) create(dir string) (*os.File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f, err := os.CreateTemp(dir, ".espalier-*")
	if err != nil {
		return nil, err
	}
	if u.names == nil {
		u.names = map[string]bool{}
	}
	u.names[f.Name()] = true
	return f, nil
}

// end renames or removes a file. For a file that has ended already it does nothing.
func (u *temporaryFiles) end(name string, how func(name string) error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.names[name] {
		return nil
	}
	err := how(name)
	if err == nil {
		delete(u.names, name)
	}
	return err
}

// removeAll removes all files, and keeps the lock so that no others can be made or renamed: the
// process must end.
func (u *temporaryFiles) removeAll() {
	u.mu.Lock()
	for name := range u.names {
		_ = os.Remove(name)
	}
}

// RemoveTemporary removes unfinished files at the end of the process. No file can be replaced
// after that.
func RemoveTemporary() { temporary.removeAll() }

// RemoveOnSignal removes unfinished files if a signal ends the process before stop is called.
// The code is the exit code on systems where a process cannot end by a signal. Signals that are
// ignored, as under nohup, stay ignored.
func RemoveOnSignal(code int) (stop func()) {
	signals, done, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	for _, s := range endSignals {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	end := func(s os.Signal) {
		temporary.removeAll()
		die(s, code)
	}
	go func() {
		defer close(ended)
		select {
		case s := <-signals:
			end(s)
		case <-done:
			select {
			case s := <-signals: // at the last moment
				end(s)
			default:
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}
