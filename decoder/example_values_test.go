package decoder_test

import (
	"fmt"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

const planCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backupplans.backup.example.com}
spec:
  group: backup.example.com
  scope: Namespaced
  names: {kind: BackupPlan, plural: backupplans}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [schedule]
            properties:
              schedule: {type: string}
              copies: {type: integer, minimum: 1, default: 1}
              storage: {type: string, enum: [Local, Remote]}
`

// A decoder can say of values what the API server would say. The program must
// be compiled with the validations of the schema.
func ExampleValueValidation() {
	crds, err := schema.ParseCRD([]byte(planCRD))
	if err != nil {
		panic(err)
	}
	crd := crds[0]
	program, err := crd.Program("v1", validation.Values())
	if err != nil {
		panic(err)
	}
	d := decoder.New(program, decoder.ValidateCreate)
	out, err := d.AppendYAML(nil, []byte(`apiVersion: backup.example.com/v1
kind: BackupPlan
metadata: {name: nightly}
spec:
  copies: 0
  storage: local
`))
	fmt.Println(string(out))
	fmt.Println(err != nil)
	for i := range d.Findings() {
		f := &d.Findings()[i]
		fmt.Printf("%s [%s]\n", f.Detail(), f.Invalid.Rule)
	}
	// Output:
	// {"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"nightly"},"spec":{"copies":0,"storage":"local"}}
	// true
	// 5:3: spec.schedule: Required value [required]
	// 5:11: spec.copies: Invalid value: 0: spec.copies in body should be greater than or equal to 1 [minimum]
	// 6:12: spec.storage: Unsupported value: "local": supported values: "Local", "Remote" [enum]
}
