import { HttpProblem } from '../../component/http.js';
import { BATCH_ID_HEADER, batchIdProblem } from '../../otlp/wire/batch-id.js';

/** The name that a sender gives a batch; undefined where it gives none. @throws HttpProblem 400 for one that it cannot have */
export function batchIdOf(request: {
  readonly header: (name: string) => string | undefined;
}): string | undefined {
  const header = request.header(BATCH_ID_HEADER);
  if (header === undefined) return undefined;
  const problem = batchIdProblem(header);
  if (problem !== undefined) throw new HttpProblem(400, 'invalid_request', `${problem}.`);
  return header;
}
