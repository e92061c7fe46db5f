import { Type } from 'typebox';
import { backupLog, backupSources, NO_BACKUP } from '../../api/resources/backup.js';
import type { Component } from '../../component/component.js';
import type { ExtensionFactory, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { durationMs } from '../../config/duration.js';
import { readVersion } from '../../config/package-version.js';
import { duration, extensionId, filePath, section } from '../../config/schema.js';
import { MICROS_PER_MS, MS_PER_DAY, MS_PER_MINUTE } from '../../signal/time-units.js';
import { formatTime, type Micros } from '../../signal/time.js';
import { isControlStore } from '../../storage/contracts/control-store.js';
import { isPartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import { backUp, type BackupSources } from '../../storage/transfer/back-up.js';
import { backupsAt, checkS3, s3Keys, type S3Settings } from '../../storage/transfer/backup-bucket.js';
import type { Backups } from '../../storage/transfer/backups.js';
import { waitFor } from '../../telemetry/wait-for.js';

const CHECK_EVERY_MS = MS_PER_MINUTE;
/** The wait after a failed backup. */
const RETRY_MS = 10 * MS_PER_MINUTE;

const configSchema = section({
  to: filePath({
    default: './backups',
    description: 'Directory (empty, missing, or with earlier backups) or s3://BUCKET/PREFIX.',
  }),
  s3: section(s3Keys, { description: 'Access to s3://; by default the standard AWS variables and roles.' }),
  every: duration({ default: '24h', description: 'Interval between backups, at least 1m.' }),
  at: Type.Optional(
    Type.String({
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
      description: 'Time of the day in UTC for one backup a day, such as 03:00; replaces every.',
    }),
  ),
  keep: Type.Integer({
    default: 7,
    minimum: 1,
    maximum: 10_000,
    description: 'Number of backups to keep in the directory.',
  }),
  store: extensionId({ default: 'duckdb', description: 'Id of the telemetry store, a duckdb extension.' }),
  control: extensionId({ default: 'sqlite', description: 'Id of the control store, a sqlite extension.' }),
});

interface Options {
  readonly to: string;
  readonly s3: S3Settings;
  readonly keep: number;
  readonly store: string;
  readonly control: string;
  /** The time of the next backup after one. */
  readonly next: (made: Micros) => Micros;
}

/** Backs up the embedded stores on a schedule, which continues across restarts. */
class BackupExtension implements Component {
  readonly #settings: Settings<unknown>;
  readonly #options: Options;
  readonly #backups: Backups;
  readonly #stop = new AbortController();
  readonly #ends: (() => void)[] = [];
  #cancel = (): void => undefined;
  #running: Promise<void> = Promise.resolve();
  #madeAt: Micros | null = null;
  #bytes = 0;
  #copiedBytes = 0;

  constructor(settings: Settings<unknown>, options: Options) {
    this.#settings = settings;
    this.#options = options;
    this.#backups = backupsAt(options.to, options.s3);
  }

  /** @throws Error if a store is not embedded */
  async start(host: Host): Promise<void> {
    const { clock, meter } = this.#settings;
    const telemetry = host.extension(this.#options.store, isPartialTelemetryStore);
    const control = host.extension(this.#options.control, isControlStore);
    const sources = await backupSources({ telemetry, control, clock }, readVersion());
    if (sources === null) throw new Error(NO_BACKUP);
    const failures = meter.counter('backup_failures_total', { description: 'Backups that failed.' });
    failures.add(0);
    const age = (): number => (this.#madeAt === null ? NaN : (clock.now() - this.#madeAt) / 1_000_000);
    const gauge = (name: string, description: string, read: () => number): void => {
      this.#ends.push(meter.gauge(name, { description }, read));
    };
    gauge('backup_age_seconds', 'Time since the last complete backup; NaN without a backup.', age);
    gauge('backup_bytes', 'Size of the files in the last backup since the start.', () => this.#bytes);
    gauge('backup_copied_bytes', 'Bytes that the last backup copied.', () => this.#copiedBytes);
    let dueAt: Micros | null = null;
    const turn = async (): Promise<void> => {
      // Not during the start, which a slow server would delay.
      dueAt ??= await this.#firstDue();
      if (clock.now() < dueAt) return;
      try {
        const madeAt = await this.#backUp(sources, host);
        dueAt = this.#options.next(madeAt ?? clock.now());
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        failures.add(1);
        dueAt = clock.now() + RETRY_MS * MICROS_PER_MS;
        this.#settings.logger.error(
          { err: error, directory: this.#backups.place.name },
          'Backup failed; retrying.',
        );
        const reason = error instanceof Error ? error.message : String(error);
        const last =
          this.#madeAt === null
            ? 'There is no backup'
            : `The last backup is from ${formatTime(this.#madeAt)}`;
        host.reportStatus({
          level: 'degraded',
          message: `The last backup failed: ${reason} ${last}; retrying.`,
        });
      }
    };
    const loop = (): void => {
      this.#running = turn().finally(() => {
        if (!this.#stop.signal.aborted) this.#cancel = clock.after(CHECK_EVERY_MS, loop);
      });
    };
    loop();
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#stop.abort(new Error('The daemon stops.'));
    this.#cancel();
    for (const end of this.#ends.splice(0)) end();
    await waitFor(this.#running, deadline);
  }

  /** Due one interval after the newest backup in the directory; immediately without a readable backup. */
  async #firstDue(): Promise<Micros> {
    const newest = await this.#backups.read().catch(() => null);
    if (newest === null) return 0;
    // Later than now if the clock was set back after the backup.
    this.#madeAt = Math.min(newest.backup.made_at, this.#settings.clock.now());
    return this.#options.next(this.#madeAt);
  }

  /** @returns the moment of the backup; null if another one was running */
  async #backUp(sources: BackupSources, host: Host): Promise<Micros | null> {
    const { keep } = this.#options;
    const { logger, clock } = this.#settings;
    const made = await backUp(sources, this.#backups, {
      keep,
      abort: this.#stop.signal,
      reached: backupLog(logger, clock),
    });
    if (made === null) return null;
    this.#madeAt = made.backup.made_at;
    this.#bytes = made.bytes;
    this.#copiedBytes = made.copiedBytes;
    const { id: backup, bytes, copiedBytes: copied_bytes } = made;
    const directory = this.#backups.place.name;
    logger.info({ directory, backup, bytes, copied_bytes }, 'Backup completed.');
    host.reportStatus({ level: 'ok' });
    return this.#madeAt;
  }
}

/** The first time after another at which the UTC clock shows a time of the day. */
function nextAt(time: string, after: Micros): Micros {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const ms = after / MICROS_PER_MS;
  const today = Math.floor(ms / MS_PER_DAY) * MS_PER_DAY + (hours * 60 + minutes) * MS_PER_MINUTE;
  return (today > ms ? today : today + MS_PER_DAY) * MICROS_PER_MS;
}

/** Scheduled backups of the embedded stores. See `README.md` in this folder. */
export const backupExtension: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'backup',
  description: 'Backs up the embedded stores to a directory or to S3 on a schedule.',
  stability: 'beta',
  configSchema,
  check: ({ every, s3 }) => [
    ...(durationMs(every) < MS_PER_MINUTE ? [{ path: '/every', message: 'must be at least 1m' }] : []),
    ...checkS3(s3, '/s3'),
  ],
  create: (settings) => {
    const { to, s3, every, at, keep, store, control } = settings.config;
    const next = (made: Micros): Micros =>
      at === undefined ? made + durationMs(every) * MICROS_PER_MS : nextAt(at, made);
    return new BackupExtension(settings, { to, s3, keep, store, control, next });
  },
};
