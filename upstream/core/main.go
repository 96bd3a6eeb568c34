// Core prints what of Espalier an API server would vendor:
//
//	go run ./core            packages with their files and lines, go.mod, and what differs from the repository
//	go run ./core -o DIR     writes it to a folder, as a module
//	go run ./core -test      tests it with Go 1.27, in a copy of the repository
//	go run ./core -bench 10  measures it beside the default build, in ten turns
//
// The core is what package kube imports, without assembly and unsafe: what the build tag purego selects.
// go mod vendor ignores build tags, so the files that are not selected are left out, and the others lose
// their constraints. github.com/go-json-experiment/json is imported by one file of it, in which a patch puts
// encoding/json/v2 and encoding/json/jsontext, which Go has since 1.27.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// toolchain builds the core.
const toolchain = "go1.27.4"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "core:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("core", flag.ContinueOnError)
	dir := flags.String("o", "", "write the core to this `folder`, which must not exist")
	test := flags.Bool("test", false, "test it with Go 1.27")
	turns := flags.Int("bench", 0, "measure it beside the default build, in this many `turns`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	c, err := newCore(ctx, root)
	if err != nil {
		return err
	}
	switch {
	case *dir != "":
		if _, err := os.Stat(*dir); err == nil {
			return fmt.Errorf("%s exists", *dir)
		}
		return c.write(*dir)
	case *test:
		return c.withCopy(ctx, func(copied string) error { return c.runTests(ctx, out, copied) })
	case *turns > 0:
		return c.withCopy(ctx, func(copied string) error { return measure(ctx, out, root, copied, *turns) })
	}
	return c.print(ctx, out)
}

// repository returns the folder of the root module.
func repository(ctx context.Context) (string, error) {
	gomod, err := command(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(strings.TrimSpace(gomod))
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("this is not a clone of " + module)
		}
		dir = filepath.Dir(dir)
	}
}

// command runs a command and returns what it prints. Toolchains are chosen by GOTOOLCHAIN.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	var env []string
	for len(args) > 0 && strings.HasPrefix(name, "GO") {
		env, name, args = append(env, name), args[0], args[1:]
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out), err
}
