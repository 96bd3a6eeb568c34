package replace

import "io"

// Read opens a file to replace all of its content.
func Read(name string) (*File, error) {
	o, err := Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(o.Old())
	o.Edit(0, content, nil)
	return o, err
}

// Replace writes the new content.
func (o *File) Replace(content []byte) error {
	defer o.Close()
	o.write(content)
	if err := o.Finish(); err != nil {
		return err
	}
	return o.Commit()
}

func (o *File) isCurrent() error { return o.IsCurrent() }
