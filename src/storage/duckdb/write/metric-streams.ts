import type { Micros } from '../../../signal/time.js';
import { charactersOfMetric, MOST_METRIC_CHARACTERS, MOST_METRICS } from '../../contracts/metrics.js';
import { selectList } from '../../schema/table.js';
import { METRIC_STREAMS } from '../../schema/tables.js';
import { storedPointSums } from '../segments/cold-sums.js';
import type { Connection } from '../files/connection.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The newest metadata of a metric. */
export interface StreamFacts {
  /** Position in `METRIC_TYPES`. */
  readonly type: number;
  readonly unit: string;
  readonly description: string;
}

export interface Stream {
  /** The number that points store in place of the name. */
  readonly stream_no: number;
  readonly tenant: number;
  readonly name: string;
  facts: StreamFacts;
  /** Number of stored points. */
  points: number;
  /** The earliest and the latest time of any point so far, including points that were removed. */
  first: Micros;
  last: Micros;
}

const NOTHING_YET = { points: 0, first: Infinity, last: -Infinity } as const;

/** A change that the commit must write. */
export interface StreamVersion {
  readonly stream: Stream;
  /** Null for a new stream. */
  readonly before: StreamFacts | null;
}

interface TenantStreams {
  readonly byName: Map<string, Stream>;
  characters: number;
}

/** Every metric of every tenant, in memory, with the number of its points. */
export class MetricStreams {
  readonly #byTenant = new Map<number, TenantStreams>();
  readonly #byNumber = new Map<number, Stream>();
  #changed = new Map<Stream, StreamVersion>();
  #lastNumber = 0;

  async load(connection: Connection, capture: Capture): Promise<void> {
    this.#lastNumber = capture.lastNumber;
    const rows = await connection.rows(
      `SELECT tenant, ${selectList(METRIC_STREAMS.wire)} FROM ${newest(capture, METRIC_STREAMS)}`,
    );
    for (const row of rows) {
      this.#put({
        stream_no: Number(row.stream_no),
        tenant: Number(row.tenant),
        name: String(row.name),
        facts: { type: Number(row.type), unit: String(row.unit), description: String(row.description) },
        ...NOTHING_YET,
      });
    }
    for (const { streamNo, points, oldest, newest } of await storedPointSums(connection, capture)) {
      this.count(streamNo, points);
      this.extend(streamNo, oldest, newest);
    }
  }

  /** The user's metrics that have points, by name. */
  list(tenant: number): Stream[] {
    return [...this.#of(tenant).byName.values()]
      .filter((stream) => stream.points > 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(tenant: number, name: string): Stream | undefined {
    const stream = this.#of(tenant).byName.get(name);
    return stream !== undefined && stream.points > 0 ? stream : undefined;
  }

  /**
   * The stream with that name in the current commit; a new name is added. If metadata differs within one commit, the first
   * difference from the stored metadata wins. Metadata stays unchanged if the user exceeds the size limit.
   *
   * @returns the stream and, if the commit must write it, its version; undefined if the user has too many
   */
  seen(
    tenant: number,
    name: string,
    facts: StreamFacts,
  ): { readonly stream: Stream; readonly version: StreamVersion | null } | undefined {
    const streams = this.#of(tenant);
    const known = streams.byName.get(name);
    if (known !== undefined && (areSame(known.facts, facts) || this.#changed.has(known)))
      return { stream: known, version: null };
    const more = charactersOf({ name, facts }) - (known === undefined ? 0 : charactersOf(known));
    const isFull = streams.characters + more > MOST_METRIC_CHARACTERS;
    if (known !== undefined) return { stream: known, version: isFull ? null : this.#change(known, facts) };
    if (isFull || streams.byName.size >= MOST_METRICS) return undefined;
    const stream = { stream_no: this.#lastNumber + 1, tenant, name, facts, ...NOTHING_YET };
    const version = { stream, before: null };
    this.#put(stream);
    this.#changed.set(stream, version);
    return { stream, version };
  }

  /** @param points number stored, or, if negative, removed */
  count(streamNo: number, points: number): void {
    const stream = this.#byNumber.get(streamNo);
    if (stream !== undefined) stream.points += points;
  }

  /** Extends the time range of a stream by stored points. */
  extend(streamNo: number, first: Micros, last: Micros): void {
    const stream = this.#byNumber.get(streamNo);
    if (stream === undefined) return;
    stream.first = Math.min(stream.first, first);
    stream.last = Math.max(stream.last, last);
  }

  committed(): void {
    this.#changed.clear();
  }

  /** Reverts the changes of {@link seen} since the last commit. */
  rollback(): void {
    for (const { stream, before } of this.#changed.values()) {
      const streams = this.#of(stream.tenant);
      streams.characters -= charactersOf(stream);
      if (before !== null) {
        stream.facts = before;
        streams.characters += charactersOf(stream);
      } else {
        streams.byName.delete(stream.name);
        this.#byNumber.delete(stream.stream_no);
      }
    }
    this.#changed.clear();
  }

  #change(stream: Stream, facts: StreamFacts): StreamVersion {
    const version = { stream, before: stream.facts };
    const streams = this.#of(stream.tenant);
    streams.characters -= charactersOf(stream);
    stream.facts = facts;
    streams.characters += charactersOf(stream);
    this.#changed.set(stream, version);
    return version;
  }

  #put(stream: Stream): void {
    const streams = this.#of(stream.tenant);
    this.#byTenant.set(stream.tenant, streams);
    streams.byName.set(stream.name, stream);
    streams.characters += charactersOf(stream);
    this.#byNumber.set(stream.stream_no, stream);
    this.#lastNumber = Math.max(this.#lastNumber, stream.stream_no);
  }

  /** The streams of a user; an unsaved empty set if the user has none. */
  #of(tenant: number): TenantStreams {
    return this.#byTenant.get(tenant) ?? { byName: new Map<string, Stream>(), characters: 0 };
  }
}

function charactersOf({ name, facts }: Pick<Stream, 'name' | 'facts'>): number {
  return charactersOfMetric({ name, ...facts });
}

function areSame(a: StreamFacts, b: StreamFacts): boolean {
  return a.type === b.type && a.unit === b.unit && a.description === b.description;
}
