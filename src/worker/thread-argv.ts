/** Node options that preload modules; they are meant for the main process only. */
const PRELOADING = /(^|\s)(--import|--require|-r|--loader|--experimental-loader)(=|\s|$)/;

/** Options that replace those inherited by a thread. */
interface ThreadArgv {
  readonly execArgv?: string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Node options for a thread: none if the options of the process preload something, otherwise those of the process. A tool's
 * modules would be loaded again in each thread, which made a test's store take two seconds to open instead of a third of a
 * second. The remaining options cannot be passed explicitly: Node refuses options of V8 (`--max-semi-space-size`) for a thread,
 * although a thread may inherit them.
 *
 * A thread always reads options from `NODE_OPTIONS`; if those preload something, it is started without that variable.
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
