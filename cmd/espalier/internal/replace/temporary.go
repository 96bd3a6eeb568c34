package replace

// This file sees to it that nothing is left beside a file that is edited, however the
// process ends, but for SIGKILL and a loss of power.

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

// end does what ends a file: it is renamed or removed. One that was ended is not again.
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

// removeAll removes the files that there are, and lets nobody make or end others: the
// process has to end, too.
func (u *temporaryFiles) removeAll() {
	u.mu.Lock()
	for name := range u.names {
		_ = os.Remove(name)
	}
}

// RemoveTemporary removes the files that were not finished, as the process ends: no other can
// be made from then on.
func RemoveTemporary() { temporary.removeAll() }

// RemoveOnSignal has unfinished files removed when a signal ends the process, until stop
// is called. The code is that of a process which no signal can end. What is ignored, as under nohup, stays so.
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
			case s := <-signals: // in the last moment
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
