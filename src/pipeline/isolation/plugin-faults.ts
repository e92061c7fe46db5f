import type { Component } from '../../component/component.js';
import type { Host } from '../../component/host.js';
import type { Original } from '../../component/intake.js';
import type { Kind } from '../../component/component-id.js';
import type { Status, StatusLevel } from '../../component/status.js';
import type { Clock, Counter, Logger, Meter } from '../../component/telemetry.js';
import { MS_PER_MINUTE } from '../../signal/time-units.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { plainError, serializeError, type SerializedError } from '../../worker/thread-protocol.js';

/**
 * Kinds of faults of a plugin's component. `threw`: an error other than `ConsumeError`. `timeout`: it held a batch or a request for
 * too long, or did not start in time. `full`: it reached its limit of held batches. `receipt`: its receipt was missing or implausible.
 * `batch`: it passed on an invalid batch, or one before it was started. `late`: it continued with a failed batch. `uncaught`: it threw
 * outside of any call. `blocked`: it kept the thread busy.
 */
const FAULTS = ['threw', 'timeout', 'full', 'receipt', 'batch', 'late', 'uncaught', 'blocked'] as const;
export type Fault = (typeof FAULTS)[number];

/** A fault of a copy in an intake thread. */
interface CopyFault {
  readonly fault: Fault;
  readonly what: string;
  readonly items: number;
  readonly error: SerializedError | undefined;
}

/** A component is considered healthy again this long after its last fault. */
const QUIET_MS = 5 * MS_PER_MINUTE;

const LEVELS: readonly StatusLevel[] = ['ok', 'degraded', 'recoverable', 'permanent', 'fatal'];

/**
 * Counts, logs and reports the faults of one plugin component. The status is at most `degraded`, so that a load balancer keeps
 * the daemon in service: its other pipelines still work.
 */
export class PluginFaults {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #faults: Counter;
  readonly #labels: Readonly<Record<'plugin' | 'kind' | 'component', string>>;
  readonly #logs: ReadonlyMap<Fault, SparseLog>;
  #host: Pick<Host, 'reportStatus'> | undefined;
  /** In a copy. */
  #original: Original | undefined;
  /** The status reported by the component itself. */
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
    // If a series exists from the start, a rate includes its first increase.
    for (const fault of FAULTS) this.#faults.add(0, { ...this.#labels, fault });
  }

  /** Enables reporting of the component's status. */
  follow(host: Pick<Host, 'reportStatus'>): void {
    this.#host = host;
    if (this.#last !== undefined || this.#lost > 0) this.#report();
  }

  /** Sets the status reported by the component. Only an extension may end the daemon, because stores are extensions. */
  report(status: Status): void {
    this.#own =
      status.level === 'fatal' && this.#labels.kind !== 'extension'
        ? { ...status, level: 'permanent' }
        : status;
    this.#report();
  }

  /** For components that may have copies: the one on the main thread counts, logs and reports the faults of all. */
  readonly shared: Pick<Component, 'startCopy' | 'answerCopy'> = {
    startCopy: (original) => {
      this.#original = original;
    },
    answerCopy: (message) => {
      const { fault, what, items, error } = message as CopyFault;
      this.note(fault, what, { items, ...(error && { error: plainError(error) }) });
    },
  };

  /** @param what a predicate, to follow the component's name in a sentence: `threw …` */
  note(fault: Fault, what: string, about: { readonly items?: number; readonly error?: unknown } = {}): void {
    if (this.#original !== undefined) {
      const error = about.error === undefined ? undefined : serializeError(about.error);
      const message: CopyFault = { fault, what, items: about.items ?? 0, error };
      this.#original.call(message).catch(() => undefined);
      return;
    }
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

  /** A call that timed out is still running (1), or has ended (−1). */
  lost(calls: 1 | -1): void {
    this.#lost += calls;
    this.#report();
  }

  /** Cancels the timer. */
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
