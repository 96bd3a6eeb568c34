package sample

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// The server does not know these formats, which built-in kinds have.
func isOfGoTypes(format string) bool {
	return format == schema.FormatQuantity || format == schema.FormatMicroTime
}

func TestFormatTexts(t *testing.T) {
	count := 0
	for name, f := range textFormats {
		if name == "microdatetime" {
			name = schema.FormatMicroTime
		} else if name == "datetime" {
			name = "date-time"
		}
		for _, text := range f.texts {
			server, decoded := isFormat(t, name, text)
			require.True(t, server && decoded, "%s refuses %q", name, text)
		}
		for _, text := range f.loose {
			server, _ := isFormat(t, name, text)
			require.True(t, server, "%s refuses %q", name, text)
		}
		for _, text := range f.misses {
			server, decoded := isFormat(t, name, text)
			require.False(t, server && decoded, "%s takes %q", name, text)
			require.Equal(t, isOfGoTypes(name), server, "%s: %q", name, text)
		}
		text, known := formatText(name, &choices{})
		require.True(t, known)
		require.Equal(t, f.texts[0], text)
		distinct := map[string]bool{}
		for seed := range uint64(300) {
			text, _ := formatText(name, randomChoices(seed))
			server, decoded := isFormat(t, name, text)
			require.True(t, server && decoded, "%s refuses %q", name, text)
			distinct[text] = true
			count++
		}
		if f.make != nil {
			require.Greater(t, len(distinct), 60, name)
		}
	}
	require.Equal(t, 28*300, count)
}

func TestFormatMiss(t *testing.T) {
	for name := range textFormats {
		miss, ok := formatMiss(name, &choices{})
		loose, isLoose := formatLoose(name, &choices{})
		require.Equal(t, name != "password", ok, name)
		require.Equal(t, ok, miss != "", name)
		require.Equal(t, isLoose, loose != "", name)
	}
	for _, miss := range textFormats["k8slongname"].misses {
		require.False(t, validate.IsName(miss), "%q", miss)
	}
	for _, name := range []string{"", "int32", "double", "unknown"} {
		_, known := formatText(name, &choices{})
		require.False(t, known, name)
		_, ok := formatMiss(name, &choices{})
		require.False(t, ok, name)
		_, ok = formatLoose(name, &choices{})
		require.False(t, ok, name)
	}
}
