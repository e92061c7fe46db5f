import { Readable } from 'node:stream';
import { builtinFactories } from '../../src/builtin.js';
import { runProgram } from '../../src/cli/program.js';

/** Output and exit of a command. */
export interface CommandOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command line in this process: much faster than a separate process and equal except for `main.ts`.
 *
 * @param input chunks of standard input
 */
export async function runInProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input: readonly (Uint8Array | string)[] = [],
): Promise<CommandOutput> {
  let stdout = '';
  let stderr = '';
  const io = {
    env,
    input: () => Readable.from(input),
    isTerminal: false,
    isLogTerminal: false,
    out: (text: string) => {
      stdout += `${text}\n`;
    },
    err: (text: string) => {
      stderr += `${text}\n`;
    },
    log: (text: string) => {
      stderr += text;
    },
    onSignal: () => () => undefined,
    onHangup: () => () => undefined,
    onUncaught: () => () => undefined,
    exitNow: () => undefined,
  };
  const code = await runProgram(args, io, builtinFactories);
  return { code, stdout, stderr };
}
