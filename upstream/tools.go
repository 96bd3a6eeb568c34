//go:build tools

package main

// What the tests that this program runs link, so that go.mod names it.
import (
	_ "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"

	_ "github.com/espalier-dev/espalier/cel"
	_ "github.com/espalier-dev/espalier/kube"
)
