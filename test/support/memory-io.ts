import { Readable } from 'node:stream';
import type { ProcessIo } from '../../src/cli/io.js';

/** Output of a command line. */
export interface Written extends ProcessIo {
  readonly outText: () => string;
  readonly errText: () => string;
}

/** In-memory I/O for commands that run to their end. */
export function memoryIo(env: NodeJS.ProcessEnv = {}): Written {
  const out: string[] = [];
  const err: string[] = [];
  return {
    env,
    isTerminal: false,
    isLogTerminal: false,
    input: () => Readable.from([]),
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    log: (text) => err.push(text),
    onSignal: () => () => undefined,
    onHangup: () => () => undefined,
    onUncaught: () => () => undefined,
    exitNow: (code) => {
      throw new Error(`exit ${code}`);
    },
    outText: () => out.join('\n'),
    errText: () => err.join('\n'),
  };
}
