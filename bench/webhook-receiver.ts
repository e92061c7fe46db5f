import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Latency } from './load-plan.js';

export type ReceiverCommand = 'reset' | 'report';
export type ReceiverReport =
  { readonly kind: 'listening'; readonly port: number } | ({ readonly kind: 'received' } & Received);

/** Requests received since the last reset. */
export interface Received {
  readonly requests: number;
  /** Requests that were not the first attempt of a delivery. */
  readonly repeats: number;
  /** From the event's timestamp to its arrival, for first attempts of events of EventSource. */
  readonly latency: Latency;
  /** Arrivals of these first attempts. */
  readonly arrivals: readonly Arrival[];
}

export interface Arrival {
  readonly traceId: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** A webhook receiver over HTTPS in its own process, which responds immediately. */
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
    const report = await nextReport(child);
    if (report.kind !== 'listening') throw new Error('The webhook receiver did not report its port.');
    return new WebhookReceiver(child, `https://127.0.0.1:${report.port}`);
  }

  /** Resets all counts. */
  reset(): void {
    this.#child.send('reset' satisfies ReceiverCommand);
  }

  async received(): Promise<Received> {
    this.#child.send('report' satisfies ReceiverCommand);
    const report = await nextReport(this.#child);
    if (report.kind !== 'received') throw new Error('The webhook receiver did not report its counts.');
    return report;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

async function nextReport(child: ChildProcess): Promise<ReceiverReport> {
  const [report] = (await once(child, 'message')) as [ReceiverReport];
  return report;
}
