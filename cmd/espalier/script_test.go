package main

import (
	stderrors "errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var updateFlag = flag.Bool("update", false, "write what commands print into the scripts")

func TestMain(m *testing.M) {
	if os.Getenv("ESPALIER_TEST_MAIN") != "" {
		main() // for a test that has started itself
	}
	testscript.Main(m, map[string]func(){"espalier": main, "kubectl-espalier": main})
}

// TestScripts runs the scripts of testdata/script: whole invocations with their output.
// $QUICKSTART is the folder of the README's example.
func TestScripts(t *testing.T) {
	quickstart, err := filepath.Abs("../../testdata/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *updateFlag,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": wantCode,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("QUICKSTART", quickstart)
			for _, name := range []string{"crd.yaml", "backupplan.yaml"} {
				content, err := os.ReadFile(filepath.Join(quickstart, name))
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), content, 0o666); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// wantCode runs a command, which must end with an exit code: code 1 espalier check.
func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	var exit *exec.ExitError
	if stderrors.As(err, &exit) {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
