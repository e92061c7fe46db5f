import type { Host } from '../../component/host.js';
import type { Kind } from '../../component/component-id.js';
import type { Status, StatusLevel } from '../../component/status.js';
import type { Clock, Counter, Logger, Meter } from '../../component/telemetry.js';
import { MS_PER_MINUTE } from '../../signal/time-units.js';
import { SparseLog } from '../../telemetry/sparse-log.js';

/**
 * Kinds of faults of a plugin's component. `threw`: an error other than `ConsumeError`. `timeout`: it held a batch or a request for
 * too long, or did not start in time. `full`: it reached its limit of held batches. `receipt`: its receipt was missing or implausible.
 * `batch`: it passed on an invalid batch, or one before it was started. `late`: it continued with a failed batch. `uncaught`: it threw
 * outside of any call. `blocked`: it kept the thread busy.
 */
const FAULTS = ['threw', 'timeout', 'full', 'receipt', 'batch', 'late', 'uncaught', 'blocked'] as const;
export type Fault = (typeof FAULTS)[number];

/** So long after its last fault a component counts as well again. */
const QUIET_MS = 5 * MS_PER_MINUTE;

const LEVELS: readonly StatusLevel[] = ['ok', 'degraded', 'recoverable', 'permanent', 'fatal'];

/**
 * Counts, logs and reports the faults of one plugin component. The status is `degraded`, not worse, so that a load balancer keeps the
 * daemon in service: the other pipelines work on.
 */
export class PluginFaults {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #faults: Counter;
  readonly #labels: Readonly<Record<'plugin' | 'kind' | 'component', string>>;
  readonly #logs: ReadonlyMap<Fault, SparseLog>;
  #host: Pick<Host, 'reportStatus'> | undefined;
  /** The status that the component reports. */
  #own: Status = { level: 'ok' };
  #lost = 0;
  #last: string | undefined;
  #cancelQuiet: () => void = () => undefined;

  constructor(
    of: { readonly plugin: string; readonly kind: Kind; readonly id: string },
    { logger, meter, clock }: { readonly logger: Logger; readonly meter: Meter; readonly clock: Clock },
  ) {
    this.#name = `Plugin "${of.plugin}", ${of.kind} "${of.id}"`;
    this.#clock = clock;
    this.#labels = { plugin: of.plugin, kind: of.kind, component: of.id };
    this.#faults = meter.counter('plugin_faults_total', {
      description: 'Faults of plugin components that the daemon contained.',
      labelNames: ['plugin', 'kind', 'component', 'fault'],
    });
    this.#logs = new Map(FAULTS.map((fault) => [fault, new SparseLog(logger, clock)]));
    // A series that exists from the start shows a rate at its first increase.
    for (const fault of FAULTS) this.#faults.add(0, { ...this.#labels, fault });
  }

  /** Enables reporting of the component's status. */
  follow(host: Pick<Host, 'reportStatus'>): void {
    this.#host = host;
    if (this.#last !== undefined || this.#lost > 0) this.#report();
  }

  /** The status that the component reports. It cannot end the daemon: that is for stores, which are extensions. */
  report(status: Status): void {
    this.#own =
      status.level === 'fatal' && this.#labels.kind !== 'extension'
        ? { ...status, level: 'permanent' }
        : status;
    this.#report();
  }

  /** @param what the rest of a sentence that begins with the component: `threw …` */
  note(fault: Fault, what: string, about: { readonly items?: number; readonly error?: unknown } = {}): void {
    this.#faults.add(1, { ...this.#labels, fault });
    const { items = 0, error } = about;
    this.#logs
      .get(fault)
      ?.warn(items, { fault, ...(error === undefined ? {} : { err: error }) }, `${this.#name} ${what}`);
    this.#last = what;
    this.#cancelQuiet();
    this.#cancelQuiet = this.#clock.after(QUIET_MS, () => {
      this.#last = undefined;
      this.#report();
    });
    this.#report();
  }

  /** A call that had failed because of its time goes on, or (−1) has ended. */
  lost(calls: 1 | -1): void {
    this.#lost += calls;
    this.#report();
  }

  /** Ends the timer. */
  end(): void {
    this.#cancelQuiet();
  }

  #report(): void {
    const healthIssues = [
      ...(this.#own.message === undefined ? [] : [this.#own.message]),
      ...(this.#lost === 0
        ? []
        : [`${this.#lost} calls into it never returned; restart the daemon to free their memory`]),
      ...(this.#last === undefined ? [] : [`it ${this.#last}`]),
    ];
    const hasFaults = this.#lost > 0 || this.#last !== undefined;
    const level = LEVELS[Math.max(LEVELS.indexOf(this.#own.level), hasFaults ? 1 : 0)] ?? 'degraded';
    this.#host?.reportStatus({
      level,
      ...(healthIssues.length === 0 ? {} : { message: healthIssues.join('; ') }),
    });
  }
}
