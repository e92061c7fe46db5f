import { createHash } from 'node:crypto';
import type { ReloadReport } from '../component/daemon-view.js';
import type { Clock, Counter, Logger, Meter } from '../component/telemetry.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';
import { formatConfig } from './daemon-view.js';
import type { Prepared } from './prepare.js';

/** A hash of the effective configuration without its secrets, as `GET /daemon/config` shows it. */
export function hashOf(prepared: Prepared): string {
  return createHash('sha256').update(formatConfig(prepared)).digest('hex').slice(0, 16);
}

/** What `/metrics` says about reloads. */
export class ReloadMetrics {
  readonly #clock: Clock;
  readonly #reloads: Counter;
  #last: { readonly wasSuccessful: boolean; readonly at: number } | undefined;
  readonly #meter: Meter;
  #endInfo: () => void;

  /** @param hash of the configuration that runs */
  constructor(meter: Meter, clock: Clock, hash: string) {
    this.#clock = clock;
    this.#meter = meter;
    const startedAt = clock.now();
    this.#reloads = meter.counter('config_reloads_total', {
      description: 'Reloads by result: unchanged, applied, invalid, needs_restart, failed.',
      labelNames: ['result'],
    });
    meter.gauge(
      'config_last_reload_successful',
      { description: '1 if the last reload was applied or changed nothing, 0 if it was refused or failed.' },
      () => Number(this.#last?.wasSuccessful ?? true),
    );
    meter.gauge(
      'config_last_reload_timestamp_seconds',
      { description: 'Time of the last reload or, before the first one, of the start.' },
      () => (this.#last?.at ?? startedAt) / MICROS_PER_SECOND,
    );
    this.#endInfo = this.#show(hash);
  }

  note({ result, configHash }: ReloadReport): void {
    this.#reloads.add(1, { result });
    this.#last = { wasSuccessful: result === 'applied' || result === 'unchanged', at: this.#clock.now() };
    this.#endInfo();
    this.#endInfo = this.#show(configHash);
  }

  #show(hash: string): () => void {
    return this.#meter.gauge(
      'config_info',
      {
        description: 'Always 1; its label is a hash of the configuration without secrets.',
        labelNames: ['hash'],
      },
      () => 1,
      { hash },
    );
  }
}

const WORDS: Readonly<Record<ReloadReport['result'], string>> = {
  unchanged: 'Reloaded: the configuration has not changed',
  applied: 'Reloaded the configuration',
  invalid: 'Not reloaded: the configuration has errors; the daemon goes on with the old one',
  needs_restart: 'Not reloaded: a change needs a restart; the daemon goes on with the old configuration',
  failed: 'Not reloaded: a component could not start; the daemon goes on with the old configuration',
};

export function logReload(report: ReloadReport, logger: Logger): void {
  const { result, needsRestart, notRenewed, configHash, durationMs, errors, ...fields } = report;
  const line = {
    result,
    ...fields,
    needs_restart: needsRestart,
    not_renewed: notRenewed,
    config_hash: configHash,
    duration_ms: durationMs,
  };
  for (const error of errors) logger.error({}, error);
  if (result === 'applied' || result === 'unchanged') logger.info(line, WORDS[result]);
  else logger.error(line, WORDS[result]);
  if (notRenewed.length > 0)
    logger.warn({ not_renewed: notRenewed }, 'Could not read all certificates; these keep the old ones');
}
