/** Options of Node that load something before the program: whoever started the process meant the process. */
const PRELOADING = /^(--import|--require|-r|--loader|--experimental-loader)(=|$)/;

/**
 * The options of Node for a thread: none where the process has some that load something, otherwise those of the process. A
 * tool's modules would be loaded again in each thread, which took a store of a test two seconds to open instead of a third of
 * one. What is left could not be handed on as it is: Node refuses options of V8 (`--max-semi-space-size`) for a thread, though it
 * lets them be inherited.
 *
 * @param argv as `process.execArgv`
 */
export function threadArgv(argv: readonly string[] = process.execArgv): { readonly execArgv?: string[] } {
  return argv.some((arg) => PRELOADING.test(arg)) ? { execArgv: [] } : {};
}
