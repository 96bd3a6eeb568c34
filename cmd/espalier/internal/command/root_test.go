package command

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionText(t *testing.T) {
	assert.Equal(t, "espalier, version unknown", versionText(nil))
	info := &debug.BuildInfo{GoVersion: "go1.26.1", Main: debug.Module{Version: "v0.1.0"}}
	assert.Equal(t, "espalier v0.1.0, go1.26.1", versionText(info))
	info.Main.Version = "(devel)"
	info.Settings = []debug.BuildSetting{{Key: "-tags", Value: "purego"}, {Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}
	assert.Equal(t, "espalier (devel), go1.26.1, tags purego, revision abc, modified", versionText(info))
	// As go build writes it in a clone: the commit, and whether files were changed.
	info.Main.Version = "v0.1.1-0.20261122223907-a6a453980e1f+dirty"
	info.Settings = info.Settings[1:]
	assert.Equal(t, "espalier v0.1.1-0.20261122223907-a6a453980e1f+dirty, go1.26.1", versionText(info))
}
