/** The start of every process of the program, in one module for `src/bundle.mjs`. */
export { builtinFactories } from './builtin.js';
export { runProgram } from './cli/program.js';
