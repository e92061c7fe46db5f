import { ConsumeError } from '../../component/consume-error.js';
import type { Micros } from '../../signal/time.js';
import {
  type ControlTransfer,
  type ExportProgress,
  type MissingRows,
  NO_PROGRESS,
  type TelemetryOut,
} from '../contracts/transfer.js';
import { ExportDirectory, healthIssueOf, UnusableDirectory } from './export-directory.js';
import { FORMAT, type Manifest, type ManifestMissing } from './manifest.js';

/** The stores to export. */
export interface ExportSources {
  readonly telemetry: TelemetryOut;
  /** The identity of the telemetry store. */
  readonly store: string;
  readonly control: ControlTransfer;
  /** The file with the key of sealed secrets; null if absent. */
  readonly secretsKeyFile: string | null;
  /** The ids of users, by their numbers. */
  readonly usersOf: (numbers: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  /** The program's version. */
  readonly version: string;
  readonly now: () => Micros;
}

/** Progress of an export. */
export interface ExportStage extends ExportProgress {
  /** Total size of all files. */
  readonly bytes: number;
}

export const NO_STAGE: ExportStage = { ...NO_PROGRESS, bytes: 0 };

/** Options and progress callback of an export. */
export interface ExportControl {
  readonly abort: AbortSignal;
  /** Whether to skip rows in damaged blocks of the store. */
  readonly skipsDamaged: boolean;
  /** Called every second. */
  readonly reached?: (stage: ExportStage) => void;
}

const REPORT_EVERY_MS = 1000;

/**
 * Exports both stores to a directory while they are in use: telemetry from one snapshot, and control data from a later one, so that it
 * contains all users, prompts and events that telemetry refers to.
 *
 * @param directory absolute; must be missing or empty
 * @returns null while another export is running
 * @throws UnusableDirectory, also for a full disk; ConsumeError, Error. Each names the directory, and says whether the written files
 * could be removed
 */
export async function exportStores(
  sources: ExportSources,
  directory: string,
  control: ExportControl,
): Promise<Manifest | null> {
  const target = await ExportDirectory.make(directory);
  try {
    const manifest = await writeStores(sources, target, control);
    if (manifest === null) await target.remove();
    return manifest;
  } catch (error) {
    const left = await target.remove().then(() => null, wordsOf);
    throw failed(directory, error, left);
  }
}

async function writeStores(
  { telemetry, store, control, secretsKeyFile, usersOf, version, now }: ExportSources,
  target: ExportDirectory,
  { abort, skipsDamaged, reached = () => undefined }: ExportControl,
): Promise<Manifest | null> {
  if (!(await telemetry.begin())) return null;
  const stopReporting = reporting(async () => {
    reached({ ...(await telemetry.progress()), bytes: await target.bytes() });
  });
  try {
    const exported_at = now();
    const failure = new AbortController();
    const [{ files: telemetryFiles, missing }, controlFiles] = await allOf(
      [
        telemetry.write(target.telemetry, AbortSignal.any([abort, failure.signal]), skipsDamaged),
        control.export(target.control),
      ],
      failure,
    );
    const key = secretsKeyFile === null ? [] : [await target.addSecretsKey(secretsKeyFile)];
    return await target.complete(
      {
        format: FORMAT,
        jackdaw: version,
        exported_at,
        telemetry_store: store,
        ...(missing.length > 0 && { missing: await shownMissing(missing, usersOf) }),
      },
      { telemetry: telemetryFiles, control: [...controlFiles, ...key] },
    );
  } finally {
    stopReporting();
    await telemetry.end();
  }
}

async function shownMissing(
  missing: readonly MissingRows[],
  usersOf: ExportSources['usersOf'],
): Promise<ManifestMissing[]> {
  const ids = await usersOf([...new Set(missing.flatMap(({ users }) => users ?? []))]);
  return missing.map(({ table, commits: [first_commit, last_commit], rows, users, from, to }) => ({
    table,
    first_commit,
    last_commit,
    rows,
    users: users?.map((number) => ids.get(number) ?? `number ${number}`) ?? null,
    from,
    to,
  }));
}

/** Like `Promise.all`, but rejects only after both have ended. @param failure aborted by the first rejection */
async function allOf<A, B>(
  both: readonly [Promise<A>, Promise<B>],
  failure: AbortController,
): Promise<[A, B]> {
  try {
    return await Promise.all(both);
  } catch (error) {
    failure.abort(error);
    await Promise.allSettled(both);
    throw error;
  }
}

/** Calls a function every second without overlap. A failed call is ignored. @returns a function that stops the calls */
function reporting(report: () => Promise<void>): () => void {
  let isReporting = false;
  const timer = setInterval(() => {
    if (isReporting) return;
    isReporting = true;
    void report()
      .catch(() => undefined)
      .finally(() => (isReporting = false));
  }, REPORT_EVERY_MS);
  return () => {
    clearInterval(timer);
  };
}

/** @param left why the written files could not be removed; null if they were removed */
function failed(directory: string, error: unknown, left: string | null): Error {
  const rest =
    left === null
      ? 'The partial export was removed.'
      : `The partial export could not be removed (${left}): remove the directory before you export into it again.`;
  const healthIssue = healthIssueOf(directory, error);
  if (healthIssue !== null) return new UnusableDirectory(`${healthIssue} ${rest}`, { cause: error });
  const message = `The export to ${directory} failed: ${wordsOf(error).replace(/\.?$/, '.')} ${rest}`;
  if (!(error instanceof ConsumeError)) return new Error(message, { cause: error });
  const { code, retryable, retryAfterMs } = error;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new ConsumeError(message, { code, retryable, ...wait, cause: error });
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
