import type { Micros } from '../../signal/time.js';
import type { ControlTransfer } from '../control-transfer.js';
import type { TelemetryOut } from '../telemetry-transfer.js';
import { ExportDirectory } from './export-directory.js';
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

/**
 * Writes both stores into a directory, while they go on with their work: telemetry as of one moment, and control data as of the next
 * one, so that it has all users, prompts and events that telemetry refers to.
 *
 * @param directory absolute; it must not exist, or be empty
 * @returns null while another export is under way
 * @throws UnusableDirectory, ConsumeError, errors of the file system: what was written is removed then
 */
export async function exportStores(
  { telemetry, store, control, secretsKeyFile, version, now }: ExportSources,
  directory: string,
  abort: AbortSignal,
): Promise<Manifest | null> {
  const target = await ExportDirectory.make(directory);
  let isDone = false;
  try {
    if (!(await telemetry.begin())) return null;
    let manifest: Manifest;
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
      await telemetry.end();
    }
    isDone = true;
    return manifest;
  } finally {
    if (!isDone) await target.remove();
  }
}

/** Like `Promise.all`, but nothing is under way any more when it rejects. */
async function allOf<A, B>([a, b]: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}
