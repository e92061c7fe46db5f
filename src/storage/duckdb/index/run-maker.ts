import { itemAt } from '../../../signal/checked.js';
import { chooseMerge } from './choose-merge.js';
import type { IdHash } from './id-hash.js';
import type { IdRows } from './id-rows.js';
import { IdTable } from './id-table.js';
import { mergeRuns } from './merge-runs.js';
import { RunFile } from './run-file.js';
import type { CommitRange, RunNames } from '../files/run-names.js';
import { RunWriter } from './run-writer.js';
import { discard } from './stored-runs.js';

/** The share of a table's places up to which it is filled. */
const CUT = 0.75;

interface Parts {
  readonly names: RunNames;
  readonly store: number;
  readonly rows: IdRows;
  /** A table has 2 to this power of places. */
  readonly tableBits: number;
  readonly hash: IdHash;
  /** Called between two steps. Throws to abort the work. */
  readonly pause: () => Promise<void>;
}

/** Creates the files of an index: from tables in memory, from other files, and from the store's rows of a range of commits. */
export class RunMaker {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Cuts a range into parts that each fit into one table in memory. The range also covers the ids that were not yet in a file
   * when the process ended.
   */
  async cut(range: CommitRange): Promise<number[]> {
    const { rows, tableBits } = this.#parts;
    return await rows.cut(range, Math.floor(2 ** tableBits * CUT));
  }

  async tableOf(range: CommitRange): Promise<IdTable> {
    const table = new IdTable(this.#parts.tableBits);
    await this.#parts.rows.scan(range, (tenant, words, offset, seq) => {
      const key = this.#parts.hash.of(tenant, words, offset);
      if (seq > table.find(key)) table.put(key, seq);
    });
    return table;
  }

  /** Creates files from the store's rows of a range of commits. */
  async fromTables(range: CommitRange): Promise<RunFile[]> {
    const cuts = await this.cut(range);
    const made: RunFile[] = [];
    let { after } = range;
    try {
      for (const [i, cut] of cuts.entries()) {
        const part = { after, upTo: i === cuts.length - 1 ? range.upTo : cut };
        made.push(await this.write(await this.tableOf(part), part));
        after = part.upTo;
        // A long range would give hundreds of files.
        for (let next = chooseMerge(entriesOf(made)); next !== null; next = chooseMerge(entriesOf(made))) {
          const merged = made.slice(next.from, next.to);
          made.splice(next.from, merged.length, await this.merge(merged));
          await discard(merged, made);
        }
        await this.#parts.pause();
      }
    } catch (error) {
      for (const run of made) await run.close();
      throw error;
    }
    return made;
  }

  async merge(runs: readonly RunFile[]): Promise<RunFile> {
    const { after } = itemAt(runs, 0).facts;
    const { upTo } = itemAt(runs, runs.length - 1).facts;
    const entries = entriesOf(runs).reduce((sum, one) => sum + one, 0);
    return await this.#writeRun({ after, upTo }, entries, async (writer) => {
      await mergeRuns(runs, writer, () => this.#parts.pause());
    });
  }

  async write(table: IdTable, range: CommitRange): Promise<RunFile> {
    return await this.#writeRun(range, table.size, async (writer) => {
      for (const at of table.places()) {
        writer.add(table.words, at);
        if (!writer.isFull) continue;
        await writer.write();
        await this.#parts.pause();
      }
    });
  }

  async #writeRun(
    { after, upTo }: CommitRange,
    entries: number,
    fill: (writer: RunWriter) => Promise<void>,
  ): Promise<RunFile> {
    const { names, store } = this.#parts;
    const path = names.path({ after, upTo });
    const writer = await RunWriter.begin(
      path,
      { after, upTo, store, hashKey: this.#parts.hash.key },
      entries,
    );
    try {
      await fill(writer);
      await writer.end();
    } catch (error) {
      await writer.abandon();
      throw error;
    }
    return await RunFile.open(path);
  }
}

function entriesOf(runs: readonly RunFile[]): number[] {
  return runs.map(({ facts }) => facts.entries);
}
