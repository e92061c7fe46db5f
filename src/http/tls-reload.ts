import { X509Certificate } from 'node:crypto';
import type { Clock, Logger, Meter } from '../component/telemetry.js';
import { readTlsFiles, type TlsFiles } from './tls.js';

/**
 * Interval for reading the files. They are not watched, because Kubernetes and certbot change the target of a link, which
 * watching does not show.
 */
export const TLS_RELOAD_MS = 10_000;

export interface TlsReloadTools {
  readonly endpoint: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

/** Passes new certificates to a running listener, for new connections. */
export class TlsReload {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #replace: (files: TlsFiles) => void | Promise<void>;
  #current: TlsFiles;
  /** Last problem of the files, so that each is logged only once. */
  #problem: string | undefined;
  #cancelTimer: () => void;
  #isClosed = false;
  readonly #endGauge: () => void;

  /**
   * @param current the certificate in use
   * @param replace if it throws, the old certificate stays in use and the next check retries
   * @param tools.endpoint of the listener, for the metric of the certificate's expiry time
   */
  constructor(current: TlsFiles, replace: (files: TlsFiles) => void | Promise<void>, tools: TlsReloadTools) {
    this.#current = current;
    this.#replace = replace;
    this.#clock = tools.clock;
    this.#logger = tools.logger;
    this.#cancelTimer = this.#schedule();
    this.#endGauge = tools.meter.gauge(
      'tls_certificate_expiry_timestamp_seconds',
      {
        description: 'Expiry time of the listener’s certificate, in seconds since 1970.',
        labelNames: ['listener'],
      },
      () => Date.parse(new X509Certificate(this.#current.cert).validTo) / 1000,
      { listener: tools.endpoint },
    );
  }

  /**
   * Reads the files now.
   *
   * @returns whether they have changed
   * @throws Error with the reason why the old certificate is kept
   */
  async reload(): Promise<boolean> {
    const files = await readTlsFiles(this.#current.options);
    if (this.#isClosed || isSameContent(files, this.#current)) return false;
    await this.#replace(files);
    this.#current = files;
    const { subject, validTo } = new X509Certificate(files.cert);
    this.#logger.info(
      { file: files.options.certFile, subject, valid_to: validTo },
      'Reloaded the certificate; new connections use it',
    );
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#endGauge();
    this.#cancelTimer();
  }

  #schedule(): () => void {
    return this.#clock.after(TLS_RELOAD_MS, () => {
      void this.#look().finally(() => {
        if (!this.#isClosed) this.#cancelTimer = this.#schedule();
      });
    });
  }

  async #look(): Promise<void> {
    try {
      await this.reload();
      this.#problem = undefined;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== this.#problem)
        this.#logger.warn(
          { problem },
          'Cannot use the changed certificate files; keeping the old certificate and retrying every 10 s',
        );
      this.#problem = problem;
    }
  }
}

function isSameContent(a: TlsFiles, b: TlsFiles): boolean {
  return (
    a.cert.equals(b.cert) &&
    a.key.equals(b.key) &&
    (a.clientCa === undefined || b.clientCa === undefined
      ? a.clientCa === b.clientCa
      : a.clientCa.equals(b.clientCa))
  );
}
