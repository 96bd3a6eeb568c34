// Package compiled compares marked functions with the compiler's output. A mark is a directive at
// the end of the comment on a function:
//
//	//espalier:nocalls
//	//espalier:inline
//
// A function marked nocalls makes no calls, so that its state stays in registers. A function marked
// inline is inlined wherever it is called.
package compiled

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Toolchain has the version of Go and the architecture for which it compiles.
type Toolchain struct {
	GOVERSION, GOARCH string
}

// ToolchainAt returns the toolchain that the go command uses in a folder.
func ToolchainAt(dir string) (t Toolchain, err error) {
	out, err := run(dir, "env", "-json", "GOVERSION", "GOARCH")
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(out, &t)
}

// A Package is one of those that patterns of the go command match.
type Package struct {
	ImportPath, Dir string
	GoFiles         []string
	Module          struct{ GoVersion string }
}

// List returns the packages that patterns match in a folder.
func List(dir string, patterns ...string) (packages []Package, err error) {
	fields := "-json=ImportPath,Dir,GoFiles,Module"
	out, err := run(dir, append([]string{"list", fields}, patterns...)...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := d.Decode(&p); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// run runs the go command in a folder and returns its standard output.
func run(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &message)
	}
	return out, nil
}

// Check compiles the packages that patterns match in a folder. It returns the faults of the marked
// functions, in the order of their files.
func Check(dir string, marked []*Function, patterns ...string) (faults []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append([]string{"build", "-gcflags=-m=2 -S"}, patterns...)...)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	o, err := readOutput(stderr, dir, marked)
	if err != nil {
		_, _ = io.Copy(io.Discard, stderr) // the command must be able to end
	}
	if waitErr := cmd.Wait(); waitErr != nil {
		_, err := run(dir, append([]string{"build"}, patterns...)...) // which prints nothing but errors
		return nil, cmp.Or(err, waitErr)
	}
	if err != nil {
		return nil, err
	}
	return o.faults(dir, marked), nil
}

// An output has what the compiler says about marked functions.
type output struct {
	bySymbol map[string]*Function
	byPlace  map[string]*Function

	compiled  map[*Function]bool
	inlinable map[*Function]bool
	why       map[*Function]string // why the compiler cannot inline it
	calls     map[*Function][]call // that it makes and must not, if it is marked nocalls
	left      map[*Function][]call // to it that are not inlined, if it is marked inline
}

// A call is an instruction that calls something.
type call struct {
	at     string // file:line
	callee string
	caller string
}

var (
	// A diagnostic, as internal/skip/tokens.go:177:6: can inline lowest with cost 20 as: func...
	diagnostic = regexp.MustCompile(`^([^\t ][^:]*\.go):(\d+):\d+: (can|cannot) inline (.*)$`)
	// An instruction that calls, as 0x0020 00032 (/a/file.go:17)	CALL	runtime.panicBounds(SB)
	// A JMP is one at the end of a function.
	instruction = regexp.MustCompile(
		`^\t0x[0-9a-f]+ \d+ \((.*)\)\t(?:CALL|DUFFZERO|DUFFCOPY|JMP)\t(.*)$`)
)

// allowed are the calls that a function marked nocalls may make:
//
//   - Panics do not return, so that nothing has to be kept for afterwards.
//   - morestack grows the stack before the first statement.
//   - Write barriers keep all registers, and are called only while the garbage collector marks.
//   - OnesCount64 is one instruction. It is a call only on processors from before 2008.
var allowed = regexp.MustCompile(
	`^runtime\.panic(Bounds|Index|Slice|Extend|shift|divide)\w*\(SB\)$` +
		`|^runtime\.(morestack\w*|gcWriteBarrier[1-8])\(SB\)$` +
		`|^math/bits\.OnesCount64\(SB\)$`)

// readOutput reads what go build -gcflags="-m=2 -S" writes in a folder.
func readOutput(r io.Reader, dir string, marked []*Function) (*output, error) {
	o := &output{
		bySymbol:  make(map[string]*Function),
		byPlace:   make(map[string]*Function),
		compiled:  make(map[*Function]bool),
		inlinable: make(map[*Function]bool),
		why:       make(map[*Function]string),
		calls:     make(map[*Function][]call),
		left:      make(map[*Function][]call),
	}
	for _, f := range marked {
		o.bySymbol[f.symbol()] = f
		o.byPlace[f.place()] = f
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24) // types are spelled out in the names of generic functions
	symbol := ""
	for lines.Scan() {
		// Nearly all lines are instructions that call nothing.
		if line := lines.Bytes(); bytes.HasPrefix(line, []byte("\t")) {
			if bytes.Contains(line, []byte("\tCALL\t")) || bytes.Contains(line, []byte("\tDUFF")) ||
				bytes.Contains(line, []byte("\tJMP\t")) && bytes.HasSuffix(line, []byte("(SB)")) {
				o.readCall(string(line), symbol)
			}
			continue
		}
		line := lines.Text()
		if name, rest, ok := strings.Cut(line, " STEXT "); ok {
			symbol = withoutTypes(name)
			if f := o.bySymbol[symbol]; f != nil && !strings.Contains(rest, "size=0 ") {
				o.compiled[f] = true
			}
			continue
		}
		o.readDiagnostic(line, dir)
	}
	return o, lines.Err()
}

// readDiagnostic reads whether a marked function can be inlined.
func (o *output) readDiagnostic(line, dir string) {
	m := diagnostic.FindStringSubmatch(line)
	if m == nil {
		return
	}
	file := m[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	f := o.byPlace[file+":"+m[2]]
	if f == nil {
		return
	}
	verdict, text := m[3], withoutTypes(m[4])
	name, why, _ := strings.Cut(text, ": ")
	if verdict == "can" {
		name, _, _ = strings.Cut(text, " with cost ")
	}
	if name != f.Name && !strings.HasSuffix(name, "."+f.Name) {
		return // a function literal in the same line
	}
	if verdict == "can" {
		o.inlinable[f] = true
	} else {
		o.why[f] = why
	}
}

// readCall reads an instruction that calls something, in the function with this symbol.
func (o *output) readCall(line, symbol string) {
	m := instruction.FindStringSubmatch(line)
	if m == nil {
		return // it is text
	}
	c := call{m[1], m[2], symbol}
	if f := o.bySymbol[symbol]; f != nil && f.NoCalls && !allowed.MatchString(c.callee) {
		if !strings.HasSuffix(c.callee, "(SB)") {
			c.callee = "a function value or a method of an interface"
		}
		o.calls[f] = append(o.calls[f], c)
	}
	// The compiler generates functions that call others: for methods of embedded types, for method
	// values, and for instances of generic functions.
	callee := withoutTypes(strings.TrimSuffix(c.callee, "(SB)"))
	f := o.bySymbol[callee]
	generated := callee == symbol || strings.HasSuffix(symbol, "-fm") ||
		strings.HasPrefix(c.at, "<autogenerated>")
	if f != nil && f.Inline && !generated {
		o.left[f] = append(o.left[f], c)
	}
}

// withoutTypes returns a name without the arguments of its type parameters.
func withoutTypes(name string) string {
	if !strings.Contains(name, "[") {
		return name
	}
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// faults returns the marked functions that are not as their marks say.
func (o *output) faults(dir string, marked []*Function) (faults []string) {
	relative := func(name string) string {
		if r, err := filepath.Rel(dir, name); err == nil {
			return filepath.ToSlash(r)
		}
		return name
	}
	marked = slices.SortedFunc(slices.Values(marked), func(a, b *Function) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	for _, f := range marked {
		fault := func(format string, args ...any) {
			at := fmt.Sprintf("%s:%d: %s ", relative(f.File), f.Line, f.Name)
			faults = append(faults, at+fmt.Sprintf(format, args...))
		}
		local := func(symbol string) string {
			return strings.TrimSuffix(strings.TrimPrefix(symbol, f.Package+"."), "(SB)")
		}
		if f.NoCalls && !o.compiled[f] {
			fault("must make no calls, and has no machine code")
		}
		for _, c := range o.calls[f] {
			fault("must make no calls, and at %s calls %s", relative(c.at), local(c.callee))
		}
		if f.Inline && !o.inlinable[f] {
			why := cmp.Or(o.why[f], "the compiler does not say why")
			fault("must be inlined, and cannot be: %s", why)
			continue // then it is called everywhere
		}
		for _, c := range o.left[f] {
			fault("must be inlined, and is called at %s in %s", relative(c.at), local(c.caller))
		}
	}
	return slices.Compact(faults) // each instance of a generic function has the same ones
}
