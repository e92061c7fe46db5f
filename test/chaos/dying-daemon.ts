import { builtinFactories } from '../../src/builtin.js';
import { runProgram } from '../../src/cli/program.js';
import { dyingAt, KILL_POINT_NAMES } from './kill-points.js';

/** The unmodified program, except that it dies at kill point `CHAOS_POINT` at the `CHAOS_COUNTDOWN`th pass. */
const name = KILL_POINT_NAMES.find((known) => known === process.env['CHAOS_POINT']);
const factories =
  name === undefined
    ? builtinFactories
    : dyingAt(builtinFactories, name, Number(process.env['CHAOS_COUNTDOWN'] ?? 1));

const keepAlive = setInterval(() => undefined, 2 ** 30);
const code = await runProgram(
  process.argv.slice(2),
  {
    env: process.env,
    isTerminal: false,
    isLogTerminal: false,
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    log: (text) => process.stderr.write(text),
    input: () => process.stdin,
    onHangup: () => () => undefined,
    onSignal: (listener) => {
      process.on('SIGTERM', listener);
      return () => process.off('SIGTERM', listener);
    },
    onUncaught: (listener) => {
      process.on('uncaughtException', listener);
      return () => process.off('uncaughtException', listener);
    },
    exitNow: (exitCode) => process.exit(exitCode),
  },
  factories,
);
clearInterval(keepAlive);
process.exit(code);
