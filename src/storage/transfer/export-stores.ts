import type { Micros } from '../../signal/time.js';
import type { ControlTransfer } from '../control-transfer.js';
import { NO_PROGRESS, type ExportProgress, type TelemetryOut } from '../telemetry-transfer.js';
import { ExportDirectory, UnusableDirectory } from './export-directory.js';
import { FORMAT, type Manifest } from './manifest.js';

/** What is exported, and whose. */
export interface ExportSources {
  readonly telemetry: TelemetryOut;
  /** The identity of the store of telemetry. */
  readonly store: string;
  readonly control: ControlTransfer;
  /** The file with the key of sealed secrets; null where there is none. */
  readonly secretsKeyFile: string | null;
  /** The program's version. */
  readonly version: string;
  readonly now: () => Micros;
}

/** How far an export has come. */
export interface ExportStage extends ExportProgress {
  /** Of all files. */
  readonly bytes: number;
}

export const NO_STAGE: ExportStage = { ...NO_PROGRESS, bytes: 0 };

/** How it goes on, and whether. */
export interface ExportControl {
  readonly abort: AbortSignal;
  /** Told every second. */
  readonly reached?: (stage: ExportStage) => void;
}

const TELL_EVERY_MS = 1000;

/**
 * Writes both stores into a directory, while they go on with their work: telemetry as of one moment, and control data as of the next
 * one, so that it has all users, prompts and events that telemetry refers to.
 *
 * @param directory absolute; it must not exist, or be empty
 * @returns null while another export is under way
 * @throws UnusableDirectory, also where there is no room; ConsumeError, errors of the file system: what was written is removed then
 */
export async function exportStores(
  { telemetry, store, control, secretsKeyFile, version, now }: ExportSources,
  directory: string,
  { abort, reached = () => undefined }: ExportControl,
): Promise<Manifest | null> {
  const target = await ExportDirectory.make(directory);
  let isDone = false;
  try {
    if (!(await telemetry.begin())) return null;
    let manifest: Manifest;
    const stopTelling = telling(async () => {
      reached({ ...(await telemetry.progress()), bytes: await target.bytes() });
    });
    try {
      const exported_at = now();
      const [telemetryFiles, controlFiles] = await allOf([
        telemetry.write(target.telemetry, abort),
        control.export(target.control),
      ]);
      const key = secretsKeyFile === null ? [] : [await target.addSecretsKey(secretsKeyFile)];
      manifest = await target.complete(
        { format: FORMAT, jackdaw: version, exported_at, telemetry_store: store },
        { telemetry: telemetryFiles, control: [...controlFiles, ...key] },
      );
    } finally {
      stopTelling();
      await telemetry.end();
    }
    isDone = true;
    return manifest;
  } catch (error) {
    throw roomless(error) ? noRoom(directory, error) : error;
  } finally {
    if (!isDone) await target.remove();
  }
}

/** Like `Promise.all`, but nothing is under way any more when it rejects. */
async function allOf<A, B>([a, b]: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}

/** Does something every second, one time after the other. What fails is told the next time. @returns a function that ends it */
function telling(tell: () => Promise<void>): () => void {
  let isTelling = false;
  const timer = setInterval(() => {
    if (isTelling) return;
    isTelling = true;
    void tell()
      .catch(() => undefined)
      .finally(() => (isTelling = false));
  }, TELL_EVERY_MS);
  return () => {
    clearInterval(timer);
  };
}

/** Whether an error of Node or, in words, of DuckDB says that the disk is full. */
function roomless(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : '';
  return code === 'ENOSPC' || code === 'EDQUOT' || /No space left|Disk quota exceeded/i.test(error.message);
}

function noRoom(directory: string, cause: unknown): UnusableDirectory {
  return new UnusableDirectory(
    `There is no room for the export in ${directory}: name a directory on a disk with more. What was written was removed.`,
    { cause },
  );
}
