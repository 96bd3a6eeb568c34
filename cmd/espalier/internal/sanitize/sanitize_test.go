package sanitize

import (
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSafe: safe texts are not changed.
func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		`plain "quoted" \ ä 木`:   `plain "quoted" \ ä 木`,
		"�":                      "�",
		"a\nb\tc":                `a\nb\tc`,
		"\x1b\u009b\u202e":       `\x1b\u009b\u202e`,
		"\xffa\xc3":              `\xffa\xc3`,
		"\u00a0\u2028\U000e0041": `\u00a0\u2028\U000e0041`,
	} {
		assert.Equal(t, want, Text(in))
	}
	assert.Len(t, Unjoin(stderrors.Join(stderrors.New("a\nb"), stderrors.Join(stderrors.New("c"), stderrors.New("d")))), 3)
	assert.Len(t, Unjoin(fmt.Errorf("x: %w, %w", io.EOF, os.ErrExist)), 1)
	js, err := JSON(map[string]string{"a\u202e": "\U000e0041"})
	require.NoError(t, err)
	assert.Equal(t, `{"a\u202e":"\udb40\udc41"}`, string(js))
}
