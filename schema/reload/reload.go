// Package reload keeps a [schema.Catalog] as its files are, for servers that
// run for months while definitions change.
//
//	files, err := reload.Open(reload.Paths([]string{"crds/"}))
//	if err != nil {
//		return err
//	}
//	find := request.ByPath(files.Catalog())
//	go files.Follow(ctx, 5*time.Second, func(err error) { log.Print(err) })
//
// New definitions take the place of all old ones in one step. A request is
// judged by the old ones or by the new ones, and none waits for a file. If the
// new files cannot be read, do not compile, or hold nothing, then the old
// definitions stay.
//
// The package looks at the files at intervals and asks no system for
// notifications: these do not tell when a file is complete, and there are none
// for many network file systems. It therefore sees the mounted ConfigMap of a
// Pod change as well, whose files are links that lead elsewhere afterwards.
package reload

import (
	"context"
	"crypto/sha256"
	stderrors "errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/schema"
)

// A Source says where definitions come from.
type Source struct {
	// List returns the names of the files that Read reads. Files are read
	// again if one of them has changed, or if there are others. A file that
	// cannot be found is left to Read, which returns the error.
	List func() []string
	// Read reads the definitions into a new catalog.
	Read func() (*schema.Catalog, error)
}

// Paths returns the source of the definitions in files and folders, as
// [schema.Catalog.AddPath] reads them. Each of the names must hold at least one
// definition: without them, requests would pass or be refused by mistake. The
// options are those of the catalog.
func Paths(names []string, opts ...schema.Option) Source {
	names = slices.Clone(names)
	return Source{
		List: func() []string { return filesOf(names) },
		Read: func() (*schema.Catalog, error) {
			all := schema.NewCatalog(opts...)
			var errs []error
			for _, name := range names {
				if err := addSome(all, name); err != nil {
					errs = append(errs, err)
				}
			}
			return all, stderrors.Join(errs...)
		},
	}
}

// addSome adds the definitions of a path, of which there must be one at least.
func addSome(all *schema.Catalog, name string) error {
	var part schema.Catalog
	if err := part.AddPath(name); err != nil {
		return err
	}
	seen := map[*schema.CRD]bool{}
	for e := range part.All() {
		seen[e.CRD] = true
	}
	if len(seen) == 0 {
		return fmt.Errorf("%s: there is no definition", name)
	}
	return all.Add(slices.Collect(maps.Keys(seen))...)
}

// filesOf returns the files that AddPath reads.
func filesOf(names []string) (files []string) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		_ = fs.WalkDir(os.DirFS(name), ".", func(below string, d fs.DirEntry, err error) error {
			isHidden := err == nil && below != "." && strings.HasPrefix(d.Name(), ".")
			switch {
			case isHidden && d.IsDir():
				return fs.SkipDir
			case err == nil && !isHidden && !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(below)):
				files = append(files, filepath.Join(name, filepath.FromSlash(below)))
			}
			return nil // Read reports what cannot be read
		})
	}
	return files
}

// Files are the definitions of a [Source], in a catalog that follows them. All
// methods may be called concurrently.
type Files struct {
	source  Source
	catalog *schema.Catalog

	mu   sync.Mutex // one at a time looks and reads
	seen stamps     // at the last look
	read stamps     // when they were read last, successfully or not

	stateMu sync.Mutex
	state   State
}

// A State says which definitions a server has.
type State struct {
	// Loaded is when the definitions were read that the catalog has.
	Loaded time.Time
	// Loads counts how often definitions were read, and Failures how often
	// that failed.
	Loads, Failures uint64
	// Err is why the last attempt failed, or nil. The catalog then has the
	// definitions from before. Failed is when that was.
	Err    error
	Failed time.Time
}

// Open reads the definitions. Its errors are those of Source.Read, and of
// schemas that do not compile: those of versions that are served are compiled
// at once. Open panics if a function of the source is nil.
func Open(source Source) (*Files, error) {
	if source.List == nil || source.Read == nil {
		panic("reload: Open: a function of the Source is nil")
	}
	f := &Files{source: source, read: stampsOf(source.List(), nil)}
	f.seen = f.read
	var err error
	if f.catalog, err = f.compiled(); err != nil {
		return nil, err
	}
	f.state = State{Loaded: time.Now(), Loads: 1}
	return f, nil
}

// Catalog returns the catalog, which is always the same.
func (f *Files) Catalog() *schema.Catalog { return f.catalog }

// State returns what the catalog has.
func (f *Files) State() State {
	f.stateMu.Lock()
	defer f.stateMu.Unlock()
	return f.state
}

// Load reads the definitions now, whether or not their files have changed. If
// there is an error, the catalog stays as it was.
func (f *Files) Load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = stampsOf(f.source.List(), nil)
	return f.use(f.compiled())
}

// Check reads the definitions if their files have changed. It reports whether
// it has read them. A change counts once the call after it sees no further
// one, so that nothing is read that is still being written: two calls should
// be seconds apart. What changes while it is read counts as well, and is read
// by a later call. After an error, every call tries again.
func (f *Files) Check() (loaded bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := stampsOf(f.source.List(), f.read)
	isSettled := now.isSame(f.seen)
	f.seen = now
	isRead := now.isSame(f.read)
	if isRead {
		f.read = now.aged()
	}
	if !isSettled || isRead && f.State().Err == nil {
		return false, nil
	}
	catalog, err := f.compiled()
	if after := stampsOf(f.source.List(), now); !after.isSame(now) {
		f.seen = after // somebody has written meanwhile, and half of it may have been read
		return false, nil
	}
	return true, f.use(catalog, err)
}

// Follow calls Check at intervals until the context is done. It calls report
// after each time that definitions were read, with nil or with the error, but
// with the same error only once in a row. Follow panics if the interval is not
// greater than 0.
func (f *Files) Follow(ctx context.Context, every time.Duration, report func(error)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before := f.State().Err
		if loaded, err := f.Check(); loaded && !isSame(before, err) {
			report(err)
		}
	}
}

func isSame(before, now error) bool {
	return before != nil && now != nil && before.Error() == now.Error()
}

// use replaces the definitions by those that were read, unless there was an error. The caller holds
// f.mu, and f.seen is how the files were.
func (f *Files) use(catalog *schema.Catalog, err error) error {
	f.read = f.seen
	if err == nil {
		f.catalog.ReplaceAll(catalog)
	}
	f.stateMu.Lock()
	defer f.stateMu.Unlock()
	if f.state.Err = err; err != nil {
		f.state.Failures++
		f.state.Failed = time.Now()
		return err
	}
	f.state.Loads++
	f.state.Loaded = time.Now()
	return nil
}

// compiled reads the definitions and compiles them, so that no request has to find out that one
// does not compile.
func (f *Files) compiled() (*schema.Catalog, error) {
	catalog, err := f.source.Read()
	if err != nil {
		return nil, err
	}
	var errs []error
	for e := range catalog.All() {
		if e.Version.Served {
			if _, err := e.Program(); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return catalog, stderrors.Join(errs...)
}

// stamps say of files how they were at a time.
type stamps map[string]stamp

// A stamp is what a file system tells of a file without reading it. It is nil for one that is missing.
type stamp struct {
	fs.FileInfo
	// text is a hash of what is in the file, or empty. A file that is younger than youth can be written
	// once more and have the same time, as clocks of file systems are coarse.
	text    string
	isYoung bool
}

// youth is longer than the steps of the clock of any file system; those of FAT are the longest.
const youth = 2 * time.Second

// isSame reports whether stamps are of the same files, unchanged. A file that has taken the place of
// another can have its size and its time: those of images and archives often have all the same time.
func (s stamps) isSame(other stamps) bool {
	return maps.EqualFunc(s, other, func(a, b stamp) bool {
		if a.FileInfo == nil || b.FileInfo == nil {
			return a.FileInfo == b.FileInfo
		}
		return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() &&
			os.SameFile(a.FileInfo, b.FileInfo) && (a.text == b.text || a.text == "" || b.text == "")
	})
}

// aged returns the stamps without hashes of files that are not young: a later change has a later time.
func (s stamps) aged() stamps {
	all := maps.Clone(s)
	for name, of := range all {
		if !of.isYoung {
			of.text = ""
			all[name] = of
		}
	}
	return all
}

// stampsOf looks at files, and at what links lead to. It reads those that are young, and those that were
// so before.
func stampsOf(names []string, before stamps) stamps {
	all := make(stamps, len(names))
	for _, name := range names {
		now := time.Now()
		info, err := os.Stat(name)
		if err != nil {
			all[name] = stamp{}
			continue
		}
		of := stamp{FileInfo: info, isYoung: now.Sub(info.ModTime()) < youth}
		if of.isYoung || before[name].text != "" {
			of.text = hashOf(name)
		}
		all[name] = of
	}
	return all
}

// hashOf returns a hash of what is in a file, or of nothing if it cannot be read, which Read reports.
func hashOf(name string) string {
	text, _ := bounded.ReadFile(name, schema.MaxFileBytes)
	hash := sha256.Sum256(text)
	return string(hash[:])
}
