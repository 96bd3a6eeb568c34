package program

// Of returns the compiled form of a *schema.Program, which must not be changed. Package schema sets
// it: what decoders run is for the packages of this module, and no part of what schema promises.
var Of func(schemaProgram any) *Program
