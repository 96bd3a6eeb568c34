package corpus

import (
	"bytes"
	"os"
)

// An Archive is a text in the txtar format: a comment, then files, each after a line with its name
// between "-- " and " --". The format is that of golang.org/x/tools/txtar. That package is not
// imported, to spare importers of this module its requirement.
type Archive struct {
	Comment  []byte
	Sections []Section
}

// A Section is one file of an [Archive]. Its data ends in a line break, unless it is empty.
type Section struct {
	Name string
	Data []byte
}

// ReadArchive reads the archive in the file called name.
func ReadArchive(name string) (Archive, error) {
	data, err := os.ReadFile(name)
	return ParseArchive(data), err
}

// ParseArchive returns the archive in data, whose files alias data. Every text is an archive.
func ParseArchive(data []byte) Archive {
	var a Archive
	start := 0
	end := func(at int) { // ends the comment or the last file
		text := data[start:at:at]
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		if len(a.Sections) == 0 {
			a.Comment = text
		} else {
			a.Sections[len(a.Sections)-1].Data = text
		}
	}
	for at := 0; at < len(data); {
		next := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if name := fileName(data[at:next]); name != "" {
			end(at)
			a.Sections = append(a.Sections, Section{Name: name})
			start = next
		}
		at = next
	}
	end(len(data))
	return a
}

// fileName returns the name in a line that starts a file, or "" for any other line.
func fileName(line []byte) string {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	name, starts := bytes.CutPrefix(line, []byte("-- "))
	name, ends := bytes.CutSuffix(name, []byte(" --"))
	if !starts || !ends {
		return ""
	}
	return string(bytes.TrimSpace(name))
}
