import { randomUUID } from 'node:crypto';
import type { Component } from '../../component/component.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { durationMs } from '../../config/duration.js';
import type { RetryOptions } from '../../delivery/backoff.js';
import { isControlStore } from '../../storage/contracts/control-store.js';
import type { EventPosition } from '../../storage/contracts/events.js';
import type { Lease } from '../../storage/contracts/coordination.js';
import { SoleWorker } from '../../storage/shared/sole-worker.js';
import type { OutboxConfig } from './config.js';
import { EventLoop } from './event-loop.js';
import { Handover } from './handover.js';
import { KeptWants } from './kept-wants.js';
import { StoreHealth, type StoreWork } from './store-health.js';

/** Size limit of a page, in addition to its number of events. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Receiver `outbox`: see README.md. */
export class OutboxReceiver implements Component {
  readonly #settings: Settings<OutboxConfig>;
  readonly #handover: Handover | undefined;
  #wants: KeptWants | undefined;
  #reader: SoleWorker | undefined;
  /** Set while this process is the one that passes on events. */
  #loop: EventLoop | undefined;
  #endGauge: () => void = () => undefined;

  constructor(settings: Settings<OutboxConfig> & { readonly outputs: Outputs }) {
    const { id, logger, meter, outputs } = settings;
    this.#settings = settings;
    this.#handover = outputs.events && new Handover(id, outputs.events, logger, meter);
  }

  /** @throws Error if the control store does not exist, or can never be used */
  async start(host: Host): Promise<void> {
    const { id, config, clock, logger, meter } = this.#settings;
    const handover = this.#handover;
    if (!handover) return;
    const { events, leases } = host.extension(config.control, isControlStore);
    const health = new StoreHealth((failing) => {
      reportStore(host, failing);
    });
    const owner = `${id} ${randomUUID()}`;
    const open = (): Promise<EventPosition> => health.ask('opening', () => events.open(id));
    // A new reader starts with the next event.
    await open().catch(throwUnlessRetryable);
    this.#wants = await KeptWants.begin({ events, open, owner, types: config.types, health, clock, logger });
    const begin = async (lease: Lease, onLost: () => void): Promise<EventLoop> => {
      // The position at which the previous owner of the lease stopped.
      const position = await open();
      this.#loop = new EventLoop(position, {
        ...{ events, reader: id, lease, onLost, handover, health, clock, logger },
        limit: { events: config.max_batch_size, bytes: MAX_PAGE_BYTES },
        retry: retryOptions(config),
      });
      return this.#loop;
    };
    this.#reader = new SoleWorker({
      ...{ leases, name: `outbox ${id}`, owner, begin, clock, logger },
      ask: (question) => health.ask('leasing', question),
      words: {
        does: 'passes on events',
        doing: 'passing on events',
        lost: 'This daemon no longer passes on events',
      },
    });
    this.#endGauge = meter.gauge(
      'outbox_lag_seconds',
      {
        description: 'Age of the oldest event that was read but not yet accepted by the pipelines.',
        labelNames: ['receiver'],
      },
      () => Math.max(0, clock.now() - (this.#loop?.oldestAt ?? clock.now())) / 1e6,
      { receiver: id },
    );
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    await this.#reader?.stop(deadline);
    this.#wants?.end();
    this.#endGauge();
  }
}

/** Retries without limit, with the default jitter of exporters. */
function retryOptions({ retry }: OutboxConfig): RetryOptions {
  return {
    isEnabled: true,
    initialMs: durationMs(retry.initial_interval),
    maxMs: durationMs(retry.max_interval),
    multiplier: 1.5,
    jitter: 0.5,
    maxElapsedMs: 0,
  };
}

/** On a full disk no reader can be registered now, and no events are written either. */
function throwUnlessRetryable(error: unknown): void {
  if (!(error instanceof ConsumeError) || !error.retryable) throw error;
}

const FAILING: Readonly<Record<StoreWork, string>> = {
  opening: 'Cannot read the position of the receiver',
  reading: 'Cannot read events from the control store',
  saving: 'Cannot store the position of the receiver',
  leasing: 'Cannot read who passes on events',
  wanting: 'Cannot store which event types are needed',
};

function reportStore(host: Host, failing: StoreWork | null): void {
  if (failing === null) host.reportStatus({ level: 'ok' });
  else
    host.reportStatus({
      // If nothing can be written, there are no new events either, and the rest of the daemon continues.
      level: failing === 'reading' ? 'recoverable' : 'degraded',
      message: `${FAILING[failing]}; retrying (see log)`,
    });
}
