/** Trace limit of one stream. */
const MAX_TRACES = 16;
/** A tab silent for this long has crashed. */
const FORGOTTEN_MS = 90_000;

/** The topic name of `trace:ID@SEQ` without the position. */
export function topicName(topic: string): string {
  return topic.toLowerCase().replace(/@\d+$/, '');
}

/** The topic of an event, or undefined. */
export function topicOf(event: string, data: Readonly<Record<string, unknown>>): string | undefined {
  if (event === 'run') return 'runs';
  if (event === 'log') return 'logs';
  if (event === 'alert') return 'alerts';
  if (event === 'prompt') return 'prompts';
  if (event === 'delivery') return 'deliveries';
  if (event === 'edges') return 'daemon';
  if (event === 'tap') return 'tap';
  const { trace_id: trace, topic } = data;
  if (event === 'span' && typeof trace === 'string') return topicName(`trace:${trace}`);
  if (event === 'lost' && typeof topic === 'string') return topicName(topic);
  return undefined;
}

/** Subscriptions of all tabs of a browser, merged for one stream. */
export class Subscriptions {
  readonly #tabs = new Map<string, { readonly names: readonly string[]; seenMs: number }>();
  /** By topic, the `seq` of the trace up to which all subscribers are current. */
  readonly #positions = new Map<string, number>();
  /** Topics of the open stream. */
  #open: ReadonlySet<string> = new Set();

  /**
   * @param topics all topics of the tab, such as `runs` or `trace:ID@SEQ`; replaces the previous ones
   * @returns whether the stream must be reopened
   */
  set(tab: string, topics: readonly string[], nowMs: number): boolean {
    this.#tabs.set(tab, { names: topics.map(topicName), seenMs: nowMs });
    let isLate = false;
    for (const topic of topics) {
      const [, seq] = /@(\d+)$/.exec(topic) ?? [];
      if (seq === undefined) continue;
      const name = topicName(topic);
      const reached = this.#positions.get(name);
      if (reached !== undefined && reached <= Number(seq)) continue;
      this.#positions.set(name, Number(seq));
      isLate = true;
    }
    return isLate || this.#isOther();
  }

  /** Records that a tab is alive. */
  seen(tab: string, nowMs: number): void {
    const wanted = this.#tabs.get(tab);
    if (wanted) wanted.seenMs = nowMs;
  }

  /** @returns whether the stream has topics that no tab needs */
  drop(tab: string): boolean {
    this.#tabs.delete(tab);
    return this.#isOther();
  }

  /** Removes crashed tabs. @returns as `drop` */
  prune(nowMs: number): boolean {
    for (const [tab, { seenMs }] of this.#tabs) if (nowMs - seenMs > FORGOTTEN_MS) this.#tabs.delete(tab);
    return this.#isOther();
  }

  /** Records the position of a trace. */
  reached(name: string, seq: number): void {
    this.#positions.set(name, Math.max(seq, this.#positions.get(name) ?? 0));
  }

  /** Records that the stream closed. */
  close(): void {
    this.#open = new Set();
  }

  /** The topics for a new stream; empty if no tab needs any. */
  open(): string {
    this.#open = this.#names();
    for (const name of this.#positions.keys()) if (!this.#open.has(name)) this.#positions.delete(name);
    return [...this.#open]
      .map((name) => {
        const seq = this.#positions.get(name);
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
    for (const name of traces.slice(0, -MAX_TRACES)) names.delete(name);
    return names;
  }
}
