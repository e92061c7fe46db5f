import type { JsonObject } from '../../../signal/attributes.js';
import { parseJson } from '../../../signal/json.js';
import type { DetailedSpan } from '../../runs.js';
import type { WholeSpan } from '../queries/whole-span.js';

/** One span as the contract gives it. */
export function detailedSpan({ span, payload }: WholeSpan): DetailedSpan {
  const [input = '', output = '', metadata = ''] = payload.split('\t');
  return {
    ...span,
    input_data: objectOf(input),
    output_data: objectOf(output),
    details: { metadata: objectOf(metadata) },
  };
}

function objectOf(json: string): JsonObject | null {
  return json === '' ? null : (parseJson(json) as JsonObject);
}
