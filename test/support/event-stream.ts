import type { Test } from 'tap';
import type { ApiCaller } from './api-caller.js';

export interface StreamEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Id of the last event with an id. */
  readonly id: string;
}

interface StreamCall {
  /** Defaults to the key of the first user; null sends none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of `GET /dashboard/stream`. It is closed when the test ends. */
export class EventStreamClient {
  readonly #answer: Response;
  readonly #abort: AbortController;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = '';
  #id = '';
  #skipped: StreamEvent[] = [];

  private constructor(answer: Response, abort: AbortController) {
    this.#answer = answer;
    this.#abort = abort;
    if (answer.body === null) throw new Error('there is no stream');
    this.#reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(
    t: Pick<Test, 'teardown'>,
    api: ApiCaller,
    query: string,
    { key = api.adminKey, headers = {} }: StreamCall = {},
  ): Promise<EventStreamClient> {
    const abort = new AbortController();
    t.teardown(() => {
      abort.abort();
    });
    const answer = await fetch(`${api.url}/api/v1/dashboard/stream?${query}`, {
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
      signal: abort.signal,
    });
    return new EventStreamClient(answer, abort);
  }

  get status(): number {
    return this.#answer.status;
  }

  get headers(): Headers {
    return this.#answer.headers;
  }

  /** Id of the last event with an id. */
  get lastId(): string {
    return this.#id;
  }

  /** The next event of a name. Earlier events are kept for later calls. @throws Error if the stream ends first */
  async next(name: string): Promise<StreamEvent> {
    const at = this.#skipped.findIndex(({ event }) => event === name);
    const [kept] = at < 0 ? [] : this.#skipped.splice(at, 1);
    if (kept) return kept;
    for (;;) {
      const event = await this.#read();
      if (event === null) throw new Error(`the stream ended before an event ${name}`);
      if (event.event === name) return event;
      this.#skipped.push(event);
    }
  }

  /** Waits for the end. @returns the remaining events */
  async rest(): Promise<readonly StreamEvent[]> {
    for (let event = await this.#read(); event !== null; event = await this.#read())
      this.#skipped.push(event);
    return this.#skipped.splice(0);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(): Promise<StreamEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end < 0) {
        const { value, done } = await this.#reader.read();
        if (done) return null;
        this.#text += value;
        continue;
      }
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      this.#id = field('id') ?? this.#id;
      const [event, data] = [field('event'), field('data')];
      if (event !== undefined && data !== undefined)
        return { event, data: JSON.parse(data) as StreamEvent['data'], id: this.#id };
    }
  }
}
