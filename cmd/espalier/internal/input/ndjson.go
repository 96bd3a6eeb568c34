package input

import (
	"bufio"
	"bytes"
	"io"
	"iter"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// isNDJSON reports whether each line of a file with this name is a document.
func isNDJSON(name string) bool {
	ext := extension(name)
	return ext == ".ndjson" || ext == ".jsonl"
}

// ndjsonDocuments yields the lines that are not blank. The decoder says what is wrong with one;
// the lines after it are read in any case.
func ndjsonDocuments(r *bufio.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		var line []byte
		at := firstPosition
		for n := 1; ; at.Line++ {
			var err error
			line, err = readLine(r, line[:0])
			if err == bufio.ErrTooLong {
				err = &errors.LimitError{Limit: errors.LimitDocumentBytes, Max: yamlbridge.MaxDocumentBytes, Position: at}
			}
			if err != nil && err != io.EOF {
				yield(Document{Number: n}, err)
				return
			}
			start := at
			doc := Document{JSON: bytes.TrimRight(line, "\r\n"), Number: n, Start: start, Origin: start}
			doc.Text = doc.JSON
			doc.Locate = func(p errors.Position) errors.Position { return position.Within(p, start) }
			at.Offset += int64(len(line))
			if len(bytes.TrimSpace(line)) > 0 {
				if n++; !yield(doc, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
		}
	}
}

// readLine appends a line with its line feed to dst, up to the limit for documents.
func readLine(r *bufio.Reader, dst []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		dst = append(dst, part...)
		switch {
		case err != bufio.ErrBufferFull:
			return dst, err
		case len(dst) > yamlbridge.MaxDocumentBytes:
			return dst, bufio.ErrTooLong
		}
	}
}
