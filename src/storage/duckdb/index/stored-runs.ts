import { rm } from 'node:fs/promises';
import type { Logger } from '../../../component/telemetry.js';
import { DamagedRun, RunFile } from './run-file.js';
import type { RunNames } from '../files/run-names.js';

interface Place {
  readonly names: RunNames;
  readonly store: number;
  /** What the ids belong to, for the log. */
  readonly kind: string;
  readonly logger: Logger;
}

/** Opens the valid files of ids, in the order of their commits, and removes others. */
export async function openRuns({ names, store, kind, logger }: Place, lastSeq: number): Promise<RunFile[]> {
  const { runs: paths, unfinished } = names.list();
  for (const path of unfinished) await rm(path, { force: true });
  const opened: RunFile[] = [];
  for (const path of paths) {
    const run = await RunFile.open(path).catch((error: unknown) => {
      if (error instanceof DamagedRun) return null;
      throw error;
    });
    if (run?.facts.store === store && run.facts.upTo <= lastSeq) opened.push(run);
    else {
      logger.warn(
        { ids: kind, file: path },
        'Removed a file of the id index that is damaged or belongs to another store.',
      );
      await run?.close();
      await rm(path, { force: true });
    }
  }
  // A file that covers the commits of others was merged from them by a process that ended before it removed them.
  opened.sort((a, b) => a.facts.after - b.facts.after || b.facts.upTo - a.facts.upTo);
  const [first] = opened;
  const believed: RunFile[] = [];
  for (const run of opened) {
    const isNext = run.facts.after >= (believed.at(-1)?.facts.upTo ?? 0);
    const isAlike = run.facts.hashKey.join() === first?.facts.hashKey.join();
    if (isNext && isAlike) believed.push(run);
    else await discard([run], []);
  }
  return believed;
}

/** Closes and removes files of ids, except those whose names others have by now. */
export async function discard(runs: readonly RunFile[], others: readonly RunFile[]): Promise<void> {
  for (const run of runs) {
    await run.close();
    if (!others.some(({ path }) => path === run.path)) await rm(run.path, { force: true });
  }
}
