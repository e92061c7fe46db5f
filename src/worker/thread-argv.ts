/** Options of Node that load something before the program: whoever started the process meant the process. */
const PRELOADING = ['--import', '--require', '-r', '--loader', '--experimental-loader'];

/**
 * The options of Node for a thread: those of the process, without what these load. A tool's modules would be loaded again in
 * each thread, which took a store of a test two seconds to open instead of a third of one.
 *
 * @param argv as `process.execArgv`
 */
export function threadArgv(argv: readonly string[] = process.execArgv): string[] {
  const kept: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] ?? '';
    if (PRELOADING.includes(arg)) i++;
    else if (!PRELOADING.some((option) => arg.startsWith(`${option}=`))) kept.push(arg);
  }
  return kept;
}
