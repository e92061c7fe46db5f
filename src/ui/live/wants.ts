/** Traces of which one stream tells, at most. */
const MOST_TRACES = 16;
/** A tab that is not heard of for so long has crashed. */
const FORGOTTEN_MS = 90_000;

/** `trace:ID@SEQ` without the place from which it is wanted. */
export function topicName(topic: string): string {
  return topic.toLowerCase().replace(/@\d+$/, '');
}

/** The topic of which an event tells; undefined: nobody knows. */
export function topicOf(event: string, data: Readonly<Record<string, unknown>>): string | undefined {
  if (event === 'run') return 'runs';
  if (event === 'log') return 'logs';
  if (event === 'alert') return 'alerts';
  if (event === 'delivery') return 'deliveries';
  if (event === 'edges') return 'daemon';
  if (event === 'tap') return 'tap';
  const { trace_id: trace, topic } = data;
  if (event === 'span' && typeof trace === 'string') return topicName(`trace:${trace}`);
  if (event === 'lost' && typeof topic === 'string') return topicName(topic);
  return undefined;
}

/** What the tabs of a browser want to be told, as one stream can tell it to all of them. */
export class Wants {
  readonly #tabs = new Map<string, { readonly names: readonly string[]; seenMs: number }>();
  /** By topic, up to which `seq` of the trace all that want it have been told. */
  readonly #told = new Map<string, number>();
  /** What the open stream tells. */
  #open: ReadonlySet<string> = new Set();

  /**
   * @param topics `runs`, `trace:ID@SEQ` and so on: all that the tab wants, in place of what it wanted before
   * @returns whether the open stream tells something else, or began too late
   */
  set(tab: string, topics: readonly string[], nowMs: number): boolean {
    this.#tabs.set(tab, { names: topics.map(topicName), seenMs: nowMs });
    let isLate = false;
    for (const topic of topics) {
      const [, seq] = /@(\d+)$/.exec(topic) ?? [];
      if (seq === undefined) continue;
      const name = topicName(topic);
      const told = this.#told.get(name);
      if (told !== undefined && told <= Number(seq)) continue;
      this.#told.set(name, Number(seq));
      isLate = true;
    }
    return isLate || this.#isOther();
  }

  /** A tab is still there. */
  seen(tab: string, nowMs: number): void {
    const wanted = this.#tabs.get(tab);
    if (wanted) wanted.seenMs = nowMs;
  }

  /** @returns whether the open stream tells something that nobody wants now */
  drop(tab: string): boolean {
    this.#tabs.delete(tab);
    return this.#isOther();
  }

  /** Forgets tabs that have crashed. @returns as `drop` */
  prune(nowMs: number): boolean {
    for (const [tab, { seenMs }] of this.#tabs) if (nowMs - seenMs > FORGOTTEN_MS) this.#tabs.delete(tab);
    return this.#isOther();
  }

  /** The stream told of a trace up to here. */
  told(name: string, seq: number): void {
    this.#told.set(name, Math.max(seq, this.#told.get(name) ?? 0));
  }

  /** Nothing is open any more. */
  close(): void {
    this.#open = new Set();
  }

  /** What a stream that is opened now has to be asked for; empty where nobody wants anything. */
  open(): string {
    this.#open = this.#names();
    for (const name of this.#told.keys()) if (!this.#open.has(name)) this.#told.delete(name);
    return [...this.#open]
      .map((name) => {
        const seq = this.#told.get(name);
        return seq === undefined ? name : `${name}@${String(seq)}`;
      })
      .join(',');
  }

  #isOther(): boolean {
    const names = this.#names();
    return names.size !== this.#open.size || [...names].some((name) => !this.#open.has(name));
  }

  #names(): ReadonlySet<string> {
    const names = new Set([...this.#tabs.values()].flatMap((tab) => tab.names));
    const traces = [...names].filter((name) => name.startsWith('trace:'));
    for (const name of traces.slice(0, -MOST_TRACES)) names.delete(name);
    return names;
  }
}
