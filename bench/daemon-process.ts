import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ENDPOINT, GRPC_ENDPOINT } from './daemon-config.js';

const MAIN = fileURLToPath(new URL('../src/jackdaw.cjs', import.meta.url));
/** As `npm start` and the command `jackdaw` have them. */
const NODE_FLAGS = ['--max-semi-space-size=64'];
const KEPT_LINES = 20;

/** The built daemon as a child process. */
export class DaemonProcess {
  readonly url: string;
  /** OTLP over gRPC: `grpc://127.0.0.1:40124`. */
  readonly grpcUrl: string;
  readonly pid: number;
  /** From spawning it to its word that it is running. */
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
   * Resolves when it is ready.
   *
   * @param profileDirectory where it leaves a CPU profile of each of its threads
   * @throws Error with the end of its log when it ends instead
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
    // Whatever ends this process must not leave a daemon behind.
    const killNow = () => {
      child.kill('SIGKILL');
    };
    process.once('exit', killNow);
    child.once('exit', () => process.off('exit', killNow));
    const lines = createInterface({ input: child.stderr });
    const last: string[] = [];
    const addresses = await new Promise<Addresses>((resolve, reject) => {
      lines.on('line', (line) => {
        last.push(line);
        if (last.length > KEPT_LINES) last.shift();
        const addresses = realAddresses(line);
        if (addresses !== undefined) resolve(addresses);
      });
      exited.then(([code]: unknown[]) => {
        reject(new Error(`The daemon ended while starting (exit code ${String(code)}):\n${last.join('\n')}`));
      }, reject);
    });
    await ready(addresses.http);
    return new DaemonProcess(child, exited, addresses, performance.now() - startedMs);
  }

  /** Ends it in order. @returns milliseconds that took. @throws Error for an exit code other than 0 */
  async stop(): Promise<number> {
    const startedMs = performance.now();
    this.#child.kill('SIGTERM');
    await this.#exited;
    if (this.#child.exitCode !== 0) {
      throw new Error(
        `The daemon did not stop well (${this.#child.signalCode ?? `exit code ${String(this.#child.exitCode)}`}).`,
      );
    }
    return performance.now() - startedMs;
  }

  /** Ends it as a crash would. Safe when it has ended. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}

interface Addresses {
  readonly http: string;
  readonly grpc: string;
}

/** The word of the daemon that it is running names its real addresses. */
function realAddresses(line: string): Addresses | undefined {
  if (!line.startsWith('{')) return undefined;
  const entry = JSON.parse(line) as { readonly addresses?: Readonly<Record<string, string>> };
  const http = entry.addresses?.[ENDPOINT];
  return http === undefined ? undefined : { http, grpc: entry.addresses?.[GRPC_ENDPOINT] ?? '' };
}

async function ready(url: string): Promise<void> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url}/readyz says ${response.status}.`);
}
