import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from '../component/telemetry.js';

const PROGRAM = 'systemd-notify';
const TIMEOUT_MS = 5000;

/**
 * Tells systemd about the state of the service. Node has no datagram sockets of Unix, so that `systemd-notify` sends the messages: the
 * unit needs `NotifyAccess=all`. Without `NOTIFY_SOCKET` nothing happens.
 */
export class ServiceManager {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #logger: Logger;
  #isUsable: boolean;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(env: Readonly<Record<string, string | undefined>>, logger: Logger) {
    this.#env = env;
    this.#logger = logger;
    this.#isUsable = (env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  /** After the start and each reload. */
  async ready(): Promise<void> {
    if (!this.#isStopping) await this.#send('READY=1');
    this.#keepAlive();
  }

  async reloading(): Promise<void> {
    if (this.#isStopping) return;
    await this.#send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  }

  /** Nothing but WATCHDOG follows: a reload that ends meanwhile must not report READY. */
  async stopping(): Promise<void> {
    const sent = this.#send('STOPPING=1');
    this.#isStopping = true;
    await sent;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** With `WatchdogSec`: from the event loop, so that a daemon whose loop is stuck is restarted. */
  #keepAlive(): void {
    const { WATCHDOG_USEC: micros, WATCHDOG_PID: pid } = this.#env;
    const isForUs = pid === undefined || pid === String(process.pid);
    if (!this.#isUsable || this.#timer !== undefined || !isForUs || !(Number(micros) > 0)) return;
    this.#timer = setInterval(() => void this.#send('WATCHDOG=1'), Number(micros) / 1000 / 2).unref();
  }

  /** Never rejects. */
  async #send(...message: readonly string[]): Promise<void> {
    if (!this.#isUsable) return;
    try {
      await promisify(execFile)(PROGRAM, message, { timeout: TIMEOUT_MS });
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (isMissing) this.#isUsable = false;
      this.#logger.warn(
        { err: error },
        isMissing
          ? 'systemd is not told about this service: install systemd-notify, or use Type=exec without WatchdogSec in the unit'
          : 'systemd-notify failed: systemd did not receive this message',
      );
    }
  }
}
