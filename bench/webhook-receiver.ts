import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Latency } from './load-plan.js';

export type ReceiverCommand = 'reset' | 'tell';
export type ReceiverReport =
  { readonly kind: 'listening'; readonly port: number } | ({ readonly kind: 'received' } & Received);

/** What came since the last reset. */
export interface Received {
  readonly requests: number;
  /** Of them, those that were no first attempt. */
  readonly repeats: number;
  /** Of first attempts of what `EventSource` sent: from when the event happened until it was here. */
  readonly latency: Latency;
  /** These first attempts. */
  readonly arrivals: readonly Arrival[];
}

/** When something arrived, in milliseconds since 1970. */
export interface Arrival {
  readonly traceId: string;
  readonly at: number;
}

/** A receiver of webhooks over HTTPS in a process of its own, which answers at once. */
export class WebhookReceiver {
  /** `https://127.0.0.1:40123` */
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.pid = child.pid ?? 0;
  }

  static async start(): Promise<WebhookReceiver> {
    const child = fork(fileURLToPath(new URL('./webhook-receiver-main.js', import.meta.url)));
    const report = await next(child);
    if (report.kind !== 'listening') throw new Error('The receiver did not say where it listens.');
    return new WebhookReceiver(child, `https://127.0.0.1:${report.port}`);
  }

  /** Begins to count anew. */
  reset(): void {
    this.#child.send('reset' satisfies ReceiverCommand);
  }

  async received(): Promise<Received> {
    this.#child.send('tell' satisfies ReceiverCommand);
    const report = await next(this.#child);
    if (report.kind !== 'received') throw new Error('The receiver did not say what it received.');
    return report;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

async function next(child: ChildProcess): Promise<ReceiverReport> {
  const [report] = (await once(child, 'message')) as [ReceiverReport];
  return report;
}
