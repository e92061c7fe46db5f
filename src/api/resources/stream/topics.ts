import { validationProblem } from '../../../http/field-errors.js';
import { isUuid } from '../../../signal/ids.js';

/** Maximum number of traces followed by one stream. */
export const MOST_TRACES = 16;

/** The topics of a stream. */
export interface Topics {
  readonly runs: boolean;
  readonly logs: boolean;
  readonly alerts: boolean;
  /** Moved labels of prompts. */
  readonly prompts: boolean;
  readonly deliveries: boolean;
  readonly daemon: boolean;
  /** Items on one edge of the daemon's pipelines. */
  readonly tap: boolean;
  /** By lower-case trace id: the `seq` up to which the client has the spans; null: only new spans. */
  readonly traces: ReadonlyMap<string, number | null>;
}

const PLAIN = ['runs', 'logs', 'alerts', 'prompts', 'deliveries', 'daemon', 'tap'] as const;
const TRACE = /^trace:([^@]+)(?:@(\d{1,15}))?$/;

/**
 * Parses `runs,trace:ID@SEQ,logs`.
 *
 * @throws HttpProblem 422 that names an invalid topic
 */
export function readTopics(text: string): Topics {
  const plain = new Set<string>();
  const traces = new Map<string, number | null>();
  for (const topic of text.split(',')) {
    const [, id = '', seq] = TRACE.exec(topic) ?? [];
    if (isUuid(id)) traces.set(id.toLowerCase(), seq === undefined ? null : Number(seq));
    else if (PLAIN.some((each) => each === topic)) plain.add(topic);
    else
      throw refused(
        `has ${JSON.stringify(topic.slice(0, 60))}, which is not a topic: use ${PLAIN.join(', ')}, trace:ID and trace:ID@SEQ`,
      );
  }
  if (traces.size > MOST_TRACES) throw refused(`may have at most ${MOST_TRACES} traces`);
  const wants = (topic: (typeof PLAIN)[number]): boolean => plain.has(topic);
  return {
    runs: wants('runs'),
    logs: wants('logs'),
    alerts: wants('alerts'),
    prompts: wants('prompts'),
    deliveries: wants('deliveries'),
    daemon: wants('daemon'),
    tap: wants('tap'),
    traces,
  };
}

function refused(message: string) {
  return validationProblem('query', [{ field: 'topics', message }]);
}
