package yamlbridge

import (
	"bytes"
	"regexp"
)

var version12 = regexp.MustCompile(`^[ \t]+1\.2(?:[ \t\r\n]|$)`)

// asYAML11 returns text with its %YAML 1.2, whose version stands behind offset,
// changed to 1.1: yaml.v3 knows no other, and reads both as the same language.
func asYAML11(text []byte, offset int) []byte {
	if offset < 0 || !version12.Match(text[offset:]) {
		return text
	}
	text = bytes.Clone(text)
	text[offset+bytes.IndexByte(text[offset:], '2')] = '1'
	return text
}
