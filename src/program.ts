/** What a process of the program begins with, in one module for `src/bundle.mjs`. */
export { builtinFactories } from './builtin.js';
export { runProgram } from './cli/program.js';
