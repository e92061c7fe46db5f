import { callKey } from '../../signal/call-key.js';
import type { Origin } from '../../signal/origin.js';
import type { SpanRecord } from '../../signal/span.js';
import type { SpanReading } from './span-reading.js';

/** What tells a model call from others, as its span says it. @param span of type `llm` */
export function callIdentityOf(
  span: Pick<SpanRecord, 'model'>,
  reading: SpanReading,
  origin: Origin,
): string {
  const scope = origin.scope?.name;
  return callKey({
    scope: typeof scope === 'string' ? scope : '',
    model: span.model,
    provider: reading.text('provider'),
    response: reading.text('response_id') ?? idInAnswer(reading),
  });
}

/** Clients of OpenInference put the whole answer into this attribute, and its id nowhere else. */
const ANSWER = 'output.value';
/** OpenAI's, and Anthropic's, which OpenAI's newer answers have inside, too. */
const IDS = [/"id":\s*"((?:chatcmpl-|resp_)[\w-]+)"/, /"id":\s*"(msg_[\w-]+)"/];

/** The answer is not parsed for it: it may be long, and has mostly been told in other attributes already. */
function idInAnswer(reading: SpanReading): string | null {
  const answer = reading.payloads('output').find(({ source }) => source === ANSWER)?.value;
  if (typeof answer !== 'string') return null;
  for (const id of IDS) {
    const found = id.exec(answer)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}
