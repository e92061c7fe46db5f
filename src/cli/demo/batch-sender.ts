import { parsed, textIn, type Posted, type Poster } from './poster.js';
import type { BatchBody } from './body.js';

/** What the daemon made of one batch. */
export interface BatchReceipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly trace_id: string; readonly error: string }[];
}

/** Posts batches to a daemon; an answer lost on the way does no harm, as repeats add nothing. */
export class BatchSender {
  readonly #poster: Poster;

  constructor(poster: Poster) {
    this.#poster = poster;
  }

  /** @throws Error in words for the user; the abort's reason when it was aborted */
  async send(batch: BatchBody): Promise<BatchReceipt> {
    const answer = await this.#poster.send({ method: 'POST', path: '/api/v1/traces/batch', body: batch });
    if (!answer.ok) throw new Error(explain(this.#poster, answer, 'send traces', 'write'));
    const receipt = parsed(answer.text);
    if (!isReceipt(receipt))
      throw new Error(
        `${this.#poster.url} did not answer like a Jackdaw daemon: is something else listening there?`,
      );
    return receipt;
  }
}

/** A refusal in words for the user. @param scope what the key needs for that */
export function explain(
  { url, keySource }: Pick<Poster, 'url' | 'keySource'>,
  { status, text }: Posted,
  action: string,
  scope: string,
): string {
  if (status === 401) return `The daemon at ${url} does not accept the API key from ${keySource}.`;
  const detail = textIn(text, 'detail');
  if (status === 403)
    return `The API key from ${keySource} may not ${action}: ${detail ?? `it needs the scope ${scope}`}`;
  if (detail !== undefined) return `The daemon at ${url} refused (${String(status)}): ${detail}`;
  return `${url} answered with status ${String(status)}, and not as a Jackdaw daemon does: is something else listening there?`;
}

function isReceipt(value: unknown): value is BatchReceipt {
  return (
    typeof value === 'object' &&
    value !== null &&
    'accepted' in value &&
    typeof value.accepted === 'number' &&
    'rejected' in value &&
    typeof value.rejected === 'number' &&
    'errors' in value &&
    Array.isArray(value.errors)
  );
}
