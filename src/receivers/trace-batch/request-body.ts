import { HttpProblem } from '../../component/http.js';
import type { ReceivedJson } from '../../http/received-json.js';
import { parseJson } from '../../signal/json.js';

/** For all traces of a request together. */
const MAX_SPANS = 100;
/** The answer has an entry for each rejected trace, so their number must be bounded, too. */
const MAX_TRACES = 10_000;
/** Objects, lists and fields: 100 spans with 5000 fields each. */
export const MAX_STRUCTURE = { nodes: 500_000 };

/**
 * The items in a request's body, each still to be checked by itself.
 *
 * @throws HttpProblem 400 `invalid_encoding`, 400 `invalid_json`, 422 `validation_failed` for what breaks a rule of the whole
 *   request.
 */
export function readItems(received: ReceivedJson): readonly unknown[] {
  const body = received.parse({ parse: parseJson });
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('', 'must be an object with the field "traces"');
  const traces = 'traces' in body && Object.hasOwn(body, 'traces') ? body.traces : undefined;
  if (traces === undefined) throw invalid('/traces', 'is required');
  if (!Array.isArray(traces)) throw invalid('/traces', 'must be an array');
  if (traces.length > MAX_TRACES)
    throw invalid(
      '/traces',
      `must not contain more than ${MAX_TRACES} traces, but there are ${traces.length}`,
    );
  const items: readonly unknown[] = traces;
  const spans = items.reduce<number>((sum, item) => sum + countSpans(item), 0);
  if (spans > MAX_SPANS)
    throw invalid('/traces', `must not contain more than ${MAX_SPANS} spans in all, but there are ${spans}`);
  return items;
}

function countSpans(item: unknown): number {
  if (typeof item !== 'object' || item === null || !('spans' in item)) return 0;
  return Array.isArray(item.spans) ? item.spans.length : 0;
}

function invalid(field: string, message: string): HttpProblem {
  return new HttpProblem(
    422,
    'validation_failed',
    `The body${field === '' ? '' : `'s ${field}`} ${message}.`,
    {
      errors: [{ field, message }],
    },
  );
}
