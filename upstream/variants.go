package main

import (
	"embed"
	"go/ast"
	"slices"
)

// inserted are the files that variants add, which are ours.
//
//go:embed testdata/inserted
var inserted embed.FS

// A change is a file that is inserted, or edits of one.
type change struct {
	path     string // within the module
	inserted string // in testdata/inserted
	taken    string // of k8s.io/kubernetes; it is edited, too
	edits    []edit
}

// stock is the variant that changes nothing.
const stock = "stock"

// variants are what is changed in the module.
var variants = map[string][]change{
	stock:        slices.Concat(added, fieldTests),
	"decoding":   slices.Concat(added, fieldTests, decoding),
	"validation": slices.Concat(added, fieldTests, decoding, validation),
}

// added is a server that is measured from outside. It changes nothing.
var added = []change{{path: "test/integration/zz_espalier_serve_test.go", inserted: "integration/zz_espalier_serve_test.go"}}

// fieldTests is the test of field validation of k8s.io/kubernetes, for custom resources: with a server of this
// module. The built-in types are left out.
var fieldTests = []change{
	{path: fieldValidation + "/server_test.go", inserted: "fieldvalidation/server_test.go"},
	{
		path: fieldValidation + "/field_validation_test.go", taken: "test/integration/apiserver/field_validation_test.go",
		edits: slices.Concat([]edit{{
			what: "the import of the kube-apiserver",
			find: text[*ast.ImportSpec](`kubeapiservertesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"`), instead: "\n",
		}, {
			what: "the import of the framework",
			find: text[*ast.ImportSpec](`"k8s.io/kubernetes/test/integration/framework"`), instead: "\n",
		}}, customOnly("TestFieldValidation", "t"), customOnly("BenchmarkFieldValidation", "b")),
	},
}

// customOnly has a test start our server, and leaves out the tests of built-in types.
func customOnly(test, t string) []edit {
	edits := []edit{{
		in: test, what: "the start of the server",
		find:    starts[*ast.CallExpr]("kubeapiservertesting.StartTestServer("),
		instead: "startServer(" + t + ")",
	}}
	for _, name := range []string{"Post", "Put", "PatchTyped", "SMP", "ApplyCreate", "ApplyUpdate"} {
		edits = append(edits, edit{
			in: test, what: "the test " + name,
			find: starts[*ast.ExprStmt](t + `.Run("` + name + `", `), instead: "\n",
		})
	}
	return edits
}

const (
	handlerFile  = "pkg/apiserver/customresource_handler.go"
	strategyFile = "pkg/registry/customresource/strategy.go"
	statusFile   = "pkg/registry/customresource/status_strategy.go"

	makeStorages = "crdHandler.getOrCreateServingInfoFor"
	restOptions  = "crdConversionRESTOptionsGetter"
	scopeLiteral = "handlers.RequestScope"
	checked      = "\nif err != nil {\n\treturn nil, err\n}\n"
)

// decoding gives the handler a resource of package kube for each definition. Its serializer decodes
// requests, and its decoder what is stored.
var decoding = []change{
	{path: "pkg/apiserver/espalier.go", inserted: "apiserver/espalier.go"},
	{path: "pkg/apiserver/zz_differential_test.go", inserted: "apiserver/zz_differential_test.go"},
	{path: "test/integration/zz_espalier_test.go", inserted: "integration/zz_espalier_test.go"},
	{path: "test/integration/conversion/zz_espalier_test.go", inserted: "conversion/zz_espalier_test.go"},
	{path: fieldValidation + "/zz_espalier_test.go", inserted: "fieldvalidation/zz_espalier_test.go"},
	{path: handlerFile, edits: []edit{{
		in: makeStorages, what: "the loop that makes a storage for each version",
		find:   loopWith("crd.Spec.Versions", "customresource.NewStorage"),
		before: "espalier, err := newEspalier(crd, structuralSchemas, safeConverter)" + checked,
	}, {
		in: makeStorages, what: "the getter of options for storages",
		find:  lastElement(restOptions),
		after: ",\nespalier: espalier",
	}, {
		in: makeStorages, what: "the list of serializers for other kinds",
		find:   starts[*ast.DeclStmt]("var standardSerializers "),
		before: "espalierSerializer, err := espalier.negotiated(negotiatedSerializer, creator, typer)" + checked,
	}, {
		in: makeStorages, what: "the serializer of the scope of requests",
		find:    member(scopeLiteral, "Serializer"),
		instead: "espalierSerializer",
	}, {
		in: restOptions, what: "the last field",
		find:  lastField(),
		after: "\nespalier *espalierDecoders",
	}, {
		in: restOptions + ".GetRESTOptions", what: "the codec of the storage",
		find:  starts[*ast.AssignStmt]("ret.StorageConfig.Codec = versioning.NewCodec("),
		after: "\nret.StorageConfig.Codec = t.espalier.storage(ret.StorageConfig.Codec, t.decoderVersion.Version)",
	}}},
}

// validation gives the strategy a validator of package kube, which judges if there is one.
var validation = []change{
	{path: "pkg/registry/customresource/espalier.go", inserted: "customresource/espalier.go"},
	{path: "test/integration/zz_espalier_validation_test.go", inserted: "integration/zz_espalier_validation_test.go"},
	{path: handlerFile, edits: []edit{{
		in: makeStorages, what: "the making of a storage",
		find:   starts[*ast.AssignStmt]("storages[v.Name], err = customresource.NewStorage("),
		before: "espalierValidator, err := customresource.NewEspalierValidator(crd, v.Name)" + checked,
	}, {
		in: makeStorages, what: "the making of a strategy",
		find:   starts[*ast.CallExpr]("customresource.NewStrategy("),
		before: "customresource.WithEspalier(",
		after:  ", espalierValidator)",
	}}},
	{path: strategyFile, edits: []edit{{
		in: "customResourceStrategy", what: "the last field",
		find:  lastField(),
		after: "\nespalier *EspalierValidator",
	}, {
		in: "customResourceStrategy.Validate", what: "the list of errors",
		find:   text[*ast.DeclStmt]("var errs field.ErrorList"),
		before: "if a.espalier.judges() {\n\treturn a.espalier.Validate(ctx, obj)\n}\n",
	}, {
		in: "customResourceStrategy.ValidateUpdate", what: "the list of options",
		find:   text[*ast.DeclStmt]("var options []validation.ValidationOption"),
		before: "if a.espalier.judges() {\n\treturn a.espalier.ValidateUpdate(ctx, obj, old)\n}\n",
	}}},
	{path: statusFile, edits: []edit{{
		in: "statusStrategy.ValidateUpdate", what: "the list of options",
		find:   text[*ast.DeclStmt]("var options []validation.ValidationOption"),
		before: "if a.espalier.judges() {\n\treturn a.espalier.ValidateStatusUpdate(ctx, obj, old)\n}\n",
	}}},
}
