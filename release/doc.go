// Package release tests the way from a tag to a user's machine: each module can be fetched by its
// version, and brings only what it needs. The commands below it make parts of a release: image
// makes its container image, sbom its bills of materials.
package release
