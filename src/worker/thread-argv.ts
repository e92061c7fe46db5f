/** Node options that preload modules; they are meant for the main process only. */
const PRELOADING = /(^|\s)(--import|--require|-r|--loader|--experimental-loader)(=|\s|$)/;

/** What a thread is started with in place of what it would inherit. */
interface ThreadArgv {
  readonly execArgv?: string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * The options of Node for a thread: none where the process has some that load something, otherwise those of the process. A
 * tool's modules would be loaded again in each thread, which took a store of a test two seconds to open instead of a third of
 * one. What is left could not be handed on as it is: Node refuses options of V8 (`--max-semi-space-size`) for a thread, though it
 * lets them be inherited.
 *
 * Options from `NODE_OPTIONS` a thread takes from there, whatever else it is given: then it is started without that variable.
 *
 * @param argv as `process.execArgv`
 * @param env as `process.env`
 */
export function threadArgv(
  argv: readonly string[] = process.execArgv,
  env: NodeJS.ProcessEnv = process.env,
): ThreadArgv {
  const { NODE_OPTIONS: options = '', ...others } = env;
  if (PRELOADING.test(options)) return { execArgv: [], env: others };
  return argv.some((arg) => PRELOADING.test(arg)) ? { execArgv: [] } : {};
}
