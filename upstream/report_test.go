package main

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read returns what a run said: a test and its outcome in each line.
func read(t *testing.T, variant string, events ...string) *result {
	r := newResult(variant)
	var lines strings.Builder
	for _, e := range events {
		action, name, _ := strings.Cut(e, " ")
		lines.WriteString(`{"Action":"` + action + `","Package":"` + module + `/test/integration","Test":"` + name + `","Output":"Espalier decoded 7\n"}` + "\n")
	}
	require.NoError(t, r.read(strings.NewReader(lines.String()), new(sync.Mutex), nil))
	return r
}

// TestReport holds which results are errors, and what is printed of them.
func TestReport(t *testing.T) {
	base := read(t, stock, "pass A", "pass A/x", "fail B", "skip C", "pass ")
	ran := []string{"output TestEspalierDecodes", "output TestEspalierDecodes", "pass TestEspalierDecodes", "pass "}
	for name, c := range map[string]struct {
		events []string
		want   string // the error
		says   string
	}{
		"the same": {append([]string{"pass A", "pass A/x", "fail B", "skip C"}, ran...), "", "decoding: test/integration: Espalier decoded 14\n"},
		"better":   {append([]string{"pass A", "pass A/x", "pass B"}, ran...), "", " 3"},
		"fails":    {append([]string{"pass A", "fail A/x"}, ran...), "decoding: test/integration A/x fails, and not on stock", ""},
		"is lost":  {append([]string{"pass A"}, ran...), "decoding: test/integration A/x is lost: it passes on stock", ""},
		"is skipped": {append([]string{"pass A", "skip A/x"}, ran...),
			"decoding: test/integration A/x is skipped: it passes on stock", ""},
		"no proof": {[]string{"pass A", "pass A/x", "pass "}, "decoding: test/integration TestEspalierDecodes did not pass: it is not shown that the server used Espalier", ""},
	} {
		var out strings.Builder
		err := report(&out, nil, []*result{base, read(t, "decoding", c.events...)})
		if c.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.EqualError(t, err, c.want, name)
		}
		assert.Contains(t, out.String(), c.says, name)
		assert.Contains(t, out.String(), "stock: test/integration B fails\n", name)
	}
}

// TestNotRun holds that a test without an outcome is an error, on stock as well: a process may have ended
// before it.
func TestNotRun(t *testing.T) {
	tests := map[string][]string{integration: {"A", "D"}}
	err := report(new(strings.Builder), tests, []*result{read(t, stock, "pass A")})
	assert.EqualError(t, err, "stock: test/integration D has not been run")
}

// TestTimes holds that a test that has the time in its name is the same one in each run: it is found again, and
// counted once, also if it is run twice; and that two such tests stay two.
func TestTimes(t *testing.T) {
	base := read(t, stock, "pass A/2026-11-26T06:44:11Z_of_type_date", "pass A/2026-11-27T06:44:11Z_of_type_date")
	again := `{"Action":"pass","Package":"` + module + `/test/integration","Test":"A/2026-11-26T08:00:00Z_of_type_date"}` + "\n"
	require.NoError(t, base.read(strings.NewReader(again), new(sync.Mutex), nil))
	assert.Equal(t, 2, base.passes(integration))
	both := []string{"pass A/2026-11-26T07:04:59Z_of_type_date", "pass A/2026-11-27T07:04:59Z_of_type_date"}
	assert.Empty(t, missing(base, read(t, "decoding", both...)))
	assert.Len(t, missing(base, read(t, "decoding", both[0])), 1)
	failing := read(t, "decoding", both[0], "fail A/2026-11-27T07:04:59Z_of_type_date")
	assert.ErrorContains(t, report(new(strings.Builder), nil, []*result{base, failing}), "A/TIME_of_type_date#01 fails, and not on stock")
}

// TestNothingPasses holds that a suite of which nothing passes on stock, such as without an etcd, is an error:
// there is nothing that a variant could lose.
func TestNothingPasses(t *testing.T) {
	tests := map[string][]string{integration: {"A"}}
	failing := func(variant string) *result { return read(t, variant, "fail A", "fail ") }
	err := report(new(strings.Builder), tests, []*result{failing(stock), failing("decoding")})
	assert.EqualError(t, err, "stock: no test of test/integration passes")
}

// TestPackageFails holds that a package that fails beside its tests is an error, unless it does so on stock.
func TestPackageFails(t *testing.T) {
	ran := []string{"run A", "pass A", "pass TestEspalierDecodes"}
	good, bad := append(ran, "pass "), append(ran, "fail ")
	err := report(new(strings.Builder), nil, []*result{read(t, stock, good...), read(t, "decoding", bad...)})
	assert.EqualError(t, err, "decoding: test/integration fails beside its tests, and not on stock")
	require.NoError(t, report(new(strings.Builder), nil, []*result{read(t, stock, bad...), read(t, "decoding", bad...)}))
	ended := read(t, "decoding", "run A", "pass A", "pass TestEspalierDecodes", "run A/x", "fail ")
	assert.NoError(t, report(new(strings.Builder), nil, []*result{read(t, stock, good...), ended}), "A/x is run again")
}

// TestOurs holds that a test of ours that fails in one process has failed.
func TestOurs(t *testing.T) {
	own := test{integration, "TestEspalierDecodes"}
	assert.Equal(t, "fail", read(t, "decoding", "fail "+own.name, "pass "+own.name).outcomes[own])
	assert.Equal(t, "fail", read(t, "decoding", "pass "+own.name, "fail "+own.name).outcomes[own])
}

// TestRead holds that what cannot be built, and what is no result, are errors.
func TestRead(t *testing.T) {
	r, mu := newResult("decoding"), new(sync.Mutex)
	err := r.read(strings.NewReader(`{"Action":"build-output","Output":"undefined: x\n"}`+"\n"), mu, nil)
	assert.EqualError(t, err, "variant decoding cannot be built: undefined: x\n")
	assert.EqualError(t, r.read(strings.NewReader(""), mu, nil), "it has run nothing")
	assert.ErrorContains(t, r.read(strings.NewReader("oops\n"), mu, nil), `in "oops\n"`)
}

// TestArguments holds that what cannot be run is an error, before anything is.
func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-variants", "other"}, {"-diff", "other"}, {"more"}} {
		assert.Error(t, run(context.Background(), args, new(strings.Builder)), args)
	}
}

// TestEtcd starts and stops the etcd of the tests.
func TestEtcd(t *testing.T) {
	address, stop, err := startEtcd(context.Background())
	require.NoError(t, err)
	defer stop()
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+$`, address)
}
