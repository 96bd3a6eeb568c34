package program

// Of returns the compiled form of a *schema.Program, which must not be changed. Package schema sets
// it. Programs are for the packages of this module, and schema promises nothing about them.
var Of func(schemaProgram any) *Program

// WithRules returns the schema.Option that makes rules with a maker, which is a ruleMaker of package
// schema. Package schema sets it.
var WithRules func(maker any) (schemaOption any)
