#!/usr/bin/env -S node --max-semi-space-size=64
import { isatty } from 'node:tty';
import type { ProcessIo } from './cli/io.js';
import { firstModule } from './config/built-module.js';
import type * as Program from './program.js';

// Everything that is written, also by DuckDB and in threads, is for this user alone.
process.umask(0o077);

const { stdout, stderr } = process;

const io: ProcessIo = {
  env: process.env,
  isTerminal: isatty(stdout.fd),
  width: stdout.columns > 0 ? stdout.columns : undefined,
  isLogTerminal: isatty(stderr.fd),
  out: (text) => stdout.write(`${text}\n`),
  err: (text) => stderr.write(`${text}\n`),
  log: (text) => stderr.write(text),
  input: () => process.stdin,
  onSignal(listener) {
    process.on('SIGINT', listener);
    process.on('SIGTERM', listener);
    return () => {
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    };
  },
  onHangup(listener) {
    process.on('SIGHUP', listener);
    return () => {
      process.off('SIGHUP', listener);
    };
  },
  onUncaught(listener) {
    process.on('uncaughtException', listener);
    return () => {
      process.off('uncaughtException', listener);
    };
  },
  exitNow: (code) => process.exit(code),
};

// The reader of the output may stop early, as `head` does; this is not an error.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

// Timers and idle sockets of components do not keep the process alive; its command does.
const keepAlive = setInterval(() => undefined, 2 ** 30);
const program = firstModule(new URL('./program.js', import.meta.url));
const { builtinFactories, runProgram } = (await import(program.href)) as typeof Program;
const exitCode = await runProgram(process.argv.slice(2), io, builtinFactories);
clearInterval(keepAlive);
// A pipe buffers about 64 KiB; unwritten output would be lost at exit.
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
process.exit(exitCode);
