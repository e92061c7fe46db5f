import type { Component } from '../../component/component.js';
import type { Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { durationMs } from '../../config/duration.js';
import type { RetryOptions } from '../../delivery/backoff.js';
import { isEventStore } from '../../storage/event-store.js';
import type { OutboxConfig } from './config.js';
import { EventLoop, type StoreWork } from './event-loop.js';
import { Handover } from './handover.js';

/** Bodies that are read at once, beside the limit of their number. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Receiver `outbox`: see README.md. */
export class OutboxReceiver implements Component {
  readonly #settings: Settings<OutboxConfig>;
  readonly #handover: Handover | undefined;
  #loop: EventLoop | undefined;
  #endGauge: () => void = () => undefined;

  constructor(settings: Settings<OutboxConfig> & { readonly outputs: Outputs }) {
    const { id, logger, meter, outputs } = settings;
    this.#settings = settings;
    this.#handover = outputs.events && new Handover(id, outputs.events, logger, meter);
  }

  /** @throws Error where there is no such store, or it cannot be used now */
  async start(host: Host): Promise<void> {
    const { id, config, clock, logger, meter } = this.#settings;
    if (!this.#handover) return;
    const store = host.extension(config.store, isEventStore);
    // Before events are wanted: a new reader begins with those that come from now on.
    const cursor = await store.openEventReader(id);
    // Never taken back: what others still store while this receiver stops is for its next start.
    await store.wantEvents(config.types);
    const loop = new EventLoop(cursor, {
      store,
      reader: id,
      limit: { events: config.max_batch_size, bytes: MAX_PAGE_BYTES },
      retry: retryOptions(config),
      handover: this.#handover,
      clock,
      logger,
      onStore: (failing) => {
        reportStore(host, failing);
      },
    });
    this.#loop = loop;
    this.#endGauge = meter.gauge(
      'outbox_lag_seconds',
      {
        description: 'Age of the oldest event that was read and that the pipelines have not taken yet.',
        labelNames: ['receiver'],
      },
      () => Math.max(0, clock.now() - (loop.oldestAt ?? clock.now())) / 1e6,
      { receiver: id },
    );
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    await this.#loop?.stop(deadline);
    this.#endGauge();
  }
}

/** Without end, and varied as the waits of exporters are by default. */
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

function reportStore(host: Host, failing: StoreWork | null): void {
  if (failing === null) host.reportStatus({ level: 'ok' });
  else
    host.reportStatus({
      level: 'recoverable',
      message:
        failing === 'reading'
          ? 'The store does not give its events; it is asked again, and the log says why'
          : 'The store does not take the progress; it is told again, and the log says why',
    });
}
