import type { Clock, Logger } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { NO_STAGE, type ExportStage } from '../../storage/transfer/export-stores.js';

const LOG_EVERY_MS = 10_000;

/** A running export. */
interface CurrentExport extends ExportStage {
  readonly directory: string;
}

/** An export that failed. */
interface FailedExport {
  readonly directory: string;
  readonly at: Micros;
  readonly error: unknown;
}

/** Progress of a daemon's exports, for the API and, every ten seconds, for the log. */
export class ExportLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  #current: CurrentExport | null = null;
  #failed: FailedExport | null = null;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** The newest failed export; null if none failed, or a later one completed. */
  get failed(): FailedExport | null {
    return this.#failed;
  }

  get current(): CurrentExport | null {
    return this.#current;
  }

  /** @param work reports its progress; null if another export is already running */
  async of<T extends { readonly files: readonly unknown[] }>(
    directory: string,
    work: (reached: (stage: ExportStage) => void) => Promise<T | null>,
  ): Promise<T | null> {
    let own: CurrentExport = { ...NO_STAGE, directory };
    this.#current ??= own;
    let loggedAt = performance.now();
    const show = (stage: ExportStage): void => {
      const next = { ...stage, directory };
      if (this.#current === own) this.#current = next;
      own = next;
    };
    try {
      const done = await work((stage) => {
        show(stage);
        if (performance.now() - loggedAt < LOG_EVERY_MS) return;
        loggedAt = performance.now();
        this.#logger.info(own, 'Export in progress.');
      });
      if (done !== null) {
        this.#failed = null;
        this.#logger.info({ directory, files: done.files.length }, 'Export completed.');
      }
      return done;
    } catch (error) {
      this.#failed = { directory, at: this.#clock.now(), error };
      this.#logger.warn({ directory, err: error }, 'Export failed.');
      throw error;
    } finally {
      if (this.#current === own) this.#current = null;
    }
  }
}
