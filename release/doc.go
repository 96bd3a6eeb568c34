// Package release tests what is between a tag and somebody's machine: that each module can be
// fetched by its version, and what that brings with it. The commands below it make parts of
// a release: image its container image, sbom its bills of materials.
package release
