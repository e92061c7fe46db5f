import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { diesWithUs } from './dies-with-us.js';
import { testConfig } from './test-config.js';
import { testFolder } from './test-folder.js';

const MAIN = fileURLToPath(new URL('../../src/jackdaw.cjs', import.meta.url));

/** The log line in which a daemon reports its addresses. */
const RUNNING = /^\{.*"msg":"Running"\}$/m;

/** How a process ended: one of both is set. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Output and exit of a command. */
export interface CommandResult extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** A daemon in its own process. */
export interface DaemonProcess {
  readonly child: ChildProcess;
  /** `http://127.0.0.1:PORT` of the API, from its log. */
  readonly url: string;
  readonly healthUrl: string;
  readonly metricsUrl: string;
  /** `http://127.0.0.1:PORT` of OTLP over HTTP. */
  readonly otlpUrl: string;
  /** `127.0.0.1:PORT` of OTLP over gRPC. */
  readonly grpcAddress: string;
  /** A key with every scope. */
  readonly key: string;
  readonly directory: string;
  readonly exited: Promise<Exit>;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once its log matches. */
  logged(pattern: RegExp): Promise<void>;
  /** Sends a signal. @returns how it ended */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

/** Runs one command of the built program to its end. */
export async function runCli(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const running = launch(args, options);
  const exit = await running.exited;
  return { ...exit, stdout: running.stdout(), stderr: running.stderr() };
}

/**
 * Starts the built program as `jackdaw run` and waits until its log says that it runs. It is killed when the test ends, at the latest.
 *
 * @param options `directory` and `key` of a stopped daemon restart it; `overlay` is a YAML overlay; `entry` runs another program than the
 * built `jackdaw.cjs`
 * @throws Error with its output if it exits before that
 */
export async function spawnDaemon(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options: {
    readonly overlay?: string;
    /** Configuration files to use instead of the tests' own; the overlay is applied to them. */
    readonly files?: readonly string[];
    readonly directory?: string;
    readonly key?: string;
    /** URL of a database with the control store; a file by default. */
    readonly postgres?: string;
    /** No first key is configured: the daemon generates one. */
    readonly generatesKey?: boolean;
    readonly env?: NodeJS.ProcessEnv;
    readonly entry?: string;
    /** Further options of the command. */
    readonly arguments?: readonly string[];
    /** Prefix of the command. */
    readonly through?: readonly string[];
  } = {},
): Promise<DaemonProcess> {
  const directory = options.directory ?? testFolder(t);
  const { sources, key } = testConfig(directory, options.overlay, options.key, options.postgres);
  const own = options.files === undefined ? sources : sources.slice(-1);
  const given = (options.files ?? []).flatMap((file) => ['--config', file]);
  const args = own.flatMap(({ text }, index) => {
    const file = join(directory, `config-${index}.yaml`);
    writeFileSync(file, options.generatesKey === true ? text.replace(/^auth:.*$/m, '') : text);
    return ['--config', file];
  });
  const running = launch(['run', ...given, ...args, ...(options.arguments ?? [])], {
    cwd: directory,
    ...options,
  });
  const { child, exited, stdout, stderr } = running;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> => {
    child.kill(signal);
    return exited;
  };
  t.teardown(() => stop('SIGKILL'));
  await running.logged(RUNNING);
  const word = JSON.parse(RUNNING.exec(stderr())?.[0] ?? '{}') as Readonly<Record<string, string>>;
  const address = (name: string): string => /^\w+:\/\/[^/]+/.exec(word[name] ?? '')?.[0] ?? '';
  return {
    child,
    url: address('api'),
    healthUrl: address('health'),
    metricsUrl: address('metrics'),
    otlpUrl: address('otlp'),
    grpcAddress: address('grpc').replace('grpc://', ''),
    key,
    directory,
    exited,
    stdout,
    stderr,
    logged: running.logged,
    stop,
  };
}

/** Starts one command of the built program. */
export function launch(
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly entry?: string;
    readonly through?: readonly string[];
  },
) {
  const program = [process.execPath, options.entry ?? MAIN, ...args];
  const [command = '', ...rest] = [...(options.through ?? []), ...program];
  const child = spawn(command, rest, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  diesWithUs(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  // `close` follows `exit` once all output has arrived.
  const exited = once(child, 'close').then(([code, signal]): Exit => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  /** Resolves once standard error matches. */
  const logged = async (pattern: RegExp): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!pattern.test(err)) return;
        child.stderr.off('data', look);
        resolve();
      };
      child.stderr.on('data', look);
      look();
      void exited.then(({ code, signal }) => {
        reject(
          new Error(
            `The process ended (${String(code ?? signal)}) without ${String(pattern)}:\n${out}${err}`,
          ),
        );
      });
    });
  };
  return { child, exited, logged, stdout: () => out, stderr: () => err };
}
