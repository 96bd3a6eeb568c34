// Package yamlbridge turns a YAML document into JSON.
package yamlbridge
