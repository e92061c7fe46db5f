import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ENDPOINT, GRPC_ENDPOINT } from './daemon-config.js';

const MAIN = fileURLToPath(new URL('../src/jackdaw.cjs', import.meta.url));
/** The flags of `npm start` and of the command `jackdaw`. */
const NODE_FLAGS = ['--max-semi-space-size=64'];
const LOG_TAIL_LINES = 20;

/** The built daemon as a child process. */
export class DaemonProcess {
  readonly url: string;
  /** OTLP over gRPC: `grpc://127.0.0.1:40124`. */
  readonly grpcUrl: string;
  readonly pid: number;
  /** Time from spawn to ready, in milliseconds. */
  readonly startMs: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, exited: Promise<unknown>, addresses: Addresses, startMs: number) {
    this.#child = child;
    this.#exited = exited;
    this.url = addresses.http;
    this.grpcUrl = addresses.grpc;
    this.pid = child.pid ?? 0;
    this.startMs = startMs;
  }

  /**
   * Starts a daemon and waits until it is ready.
   *
   * @param profileDirectory directory for CPU profiles of its threads
   * @throws Error with the last lines of its log if it exits
   */
  static async start(configFiles: readonly string[], profileDirectory?: string): Promise<DaemonProcess> {
    const profiling =
      profileDirectory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`];
    const args = [
      ...NODE_FLAGS,
      ...profiling,
      MAIN,
      'run',
      ...configFiles.flatMap((file) => ['--config', file]),
    ];
    const startedMs = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(child, 'exit');
    // The daemon must not outlive the bench.
    const killSync = () => {
      child.kill('SIGKILL');
    };
    process.once('exit', killSync);
    child.once('exit', () => process.off('exit', killSync));
    const lines = createInterface({ input: child.stderr });
    const last: string[] = [];
    const addresses = await new Promise<Addresses>((resolve, reject) => {
      lines.on('line', (line) => {
        last.push(line);
        if (last.length > LOG_TAIL_LINES) last.shift();
        const addresses = addressesIn(line);
        if (addresses !== undefined) resolve(addresses);
      });
      exited.then(([code]: unknown[]) => {
        reject(
          new Error(`The daemon exited during its start (exit code ${String(code)}):\n${last.join('\n')}`),
        );
      }, reject);
    });
    await checkReady(addresses.http);
    return new DaemonProcess(child, exited, addresses, performance.now() - startedMs);
  }

  /** Stops it with SIGTERM. @returns duration in milliseconds @throws Error if the exit code is not 0 */
  async stop(): Promise<number> {
    const startedMs = performance.now();
    this.#child.kill('SIGTERM');
    await this.#exited;
    if (this.#child.exitCode !== 0) {
      throw new Error(
        `The daemon did not shut down cleanly (${this.#child.signalCode ?? `exit code ${String(this.#child.exitCode)}`}).`,
      );
    }
    return performance.now() - startedMs;
  }

  /** Kills it like a crash. Does nothing if it has exited. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}

interface Addresses {
  readonly http: string;
  readonly grpc: string;
}

/** Reads the bound addresses from the log line that reports the start. */
function addressesIn(line: string): Addresses | undefined {
  if (!line.startsWith('{')) return undefined;
  const entry = JSON.parse(line) as { readonly addresses?: Readonly<Record<string, string>> };
  const http = entry.addresses?.[ENDPOINT];
  return http === undefined ? undefined : { http, grpc: entry.addresses?.[GRPC_ENDPOINT] ?? '' };
}

async function checkReady(url: string): Promise<void> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url}/readyz answered ${response.status}.`);
}
