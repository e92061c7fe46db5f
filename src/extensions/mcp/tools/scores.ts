import { Type } from 'typebox';
import { readSummary } from '../../../api/resources/trace-spans.js';
import { NotFound } from '../../../api/support/not-found.js';
import { HttpProblem } from '../../../component/http.js';
import type { ApiCalls } from '../api-calls.js';
import { defineTool, traceId, uuidOf } from '../tool.js';

/** Attaches a judgement to a run or a span, through the receiver `scores`. */
export const addScore = defineTool({
  name: 'add_score',
  title: 'Add a score',
  description:
    'Attach a score to a run or one of its spans: a number, a label, or both, with a comment. The same score again changes nothing. Needs a key with the scope write or feedback.',
  writes: true,
  args: Type.Object(
    {
      trace_id: traceId,
      span_id: Type.Optional(Type.String({ format: 'uuid', description: 'Absent: the whole run.' })),
      name: Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Such as helpfulness. success with label pass or fail decides whether the run succeeded.',
      }),
      value: Type.Optional(Type.Number()),
      label: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Such as pass.' })),
      comment: Type.Optional(Type.String({ maxLength: 8192, description: 'Why.' })),
    },
    { additionalProperties: false },
  ),
  async run({ trace_id, ...score }, { api, answer }) {
    const sent = { ...score, trace_id: uuidOf(trace_id), source: 'evaluator' };
    // The operation belongs to another component, which checks the body and serializes this answer.
    const { ids, errors } = (await api.callById('sendScores', { body: { scores: [sent] } })) as {
      readonly ids: readonly string[];
      readonly errors: readonly { readonly error: string }[];
    };
    const [refusal] = errors;
    if (refusal !== undefined)
      throw new HttpProblem(422, 'score_rejected', `The score was rejected: ${refusal.error}.`);
    answer.note(`Stored score ${ids[0]}.`);
    const known = await isStored(sent.trace_id, api);
    if (known === false)
      answer.note(
        'The run is not stored yet: get_run shows the score once the run has arrived. Check its id.',
      );
    if (known === true) answer.next('get_run', { trace_id: sent.trace_id }, 'shows it with the run.');
  },
});

/** Whether a run is stored; undefined if it cannot be read, for example because the key lacks the scope. */
async function isStored(trace_id: string, api: ApiCalls): Promise<boolean | undefined> {
  try {
    // Without spans.
    await api.call(readSummary, { params: { trace_id }, query: { after: Number.MAX_SAFE_INTEGER } });
    return true;
  } catch (error) {
    return error instanceof NotFound ? false : undefined;
  }
}
