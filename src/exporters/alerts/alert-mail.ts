import type { ShownCondition } from '../../alerting/shown-condition.js';
import { shorten } from '../../component/item-problems.js';
import { oneLine } from '../../delivery/senders/email/one-line.js';
import type { AlertType, MetricOperator } from '../../storage/contracts/alerts.js';

const MAX_SUBJECT = 120;
/** Maximum length of a name in the subject, so that the rest stays readable. */
const MAX_NAME_IN_SUBJECT = 50;
const MAX_NAME = 200;

/** Fields of the event `alert.fired` that a mail uses. */
interface Fired {
  readonly alert_id: string;
  /** Absent in events of earlier versions. */
  readonly name?: string | null;
  readonly type: AlertType;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly target_service: string | null;
  readonly threshold: number;
  readonly value: number | null;
  readonly window: { readonly from: string; readonly to: string };
  readonly sample_count: number;
  readonly fired_at: string;
  readonly repeat: number;
  readonly conditions: readonly ShownCondition[];
  readonly example_trace_ids: readonly string[];
  /** Sent to test the notification. */
  readonly is_test?: boolean;
}

interface Measure {
  /** `failure rate` */
  readonly name: string;
  readonly print: (value: number) => string;
}

const MEASURES: Readonly<Record<Exclude<AlertType, 'composite'>, Measure>> = {
  failure_rate: { name: 'failure rate', print: (value) => `${round(value * 100)} %` },
  latency_threshold: { name: 'p95 latency', print: (value) => `${round(value)} ms` },
  cost_threshold: { name: 'daily cost', print: (value) => `${round(value)} USD` },
  inactivity: { name: 'inactivity', print: (value) => `${round(value)} hours` },
  score_threshold: { name: 'mean score', print: round },
};

const OPERATORS: Readonly<Record<MetricOperator, string>> = { gt: '>', lt: '<', gte: '>=', lte: '<=' };

/**
 * Formats the event `alert.fired` as a mail: a one-line subject and plain text. Names are untrusted; each is put on one line.
 *
 * @param envelope the JSON text of the event
 */
export function alertMail(envelope: string): { readonly subject: string; readonly text: string } {
  const { data } = JSON.parse(envelope) as { readonly data: Fired };
  return {
    subject: shorten(
      `${data.is_test === true ? 'Test of an alert' : 'Alert'}: ${nameOf(data)}${headline(data, shownTarget(data, MAX_NAME_IN_SUBJECT))}`,
      MAX_SUBJECT,
    ),
    text: `${textOf(data).join('\n')}\n`,
  };
}

function headline({ type, value, threshold, conditions: [first] }: Fired, target: string): string {
  if (type === 'composite') return `the conditions of ${target} are met`;
  const { name, print } = MEASURES[type];
  const is = value === null ? '' : ` is ${print(value)}`;
  if (first?.type !== 'score_threshold') return `${name} of ${target}${is} (above ${print(threshold)})`;
  const { score_name, direction } = first;
  return `mean of score ${shorten(oneLine(score_name), MAX_NAME_IN_SUBJECT)} of ${target}${is} (${direction} ${print(threshold)})`;
}

function textOf(fired: Fired): readonly string[] {
  const { alert_id, window, sample_count, fired_at, repeat, conditions, example_trace_ids } = fired;
  return [
    ...(fired.is_test === true
      ? ['This is a test of the notification: the alert did not fire. A real one reads:', '']
      : []),
    `${capitalized(headline(fired, shownTarget(fired, MAX_NAME)))}.`,
    '',
    ...(typeof fired.name !== 'string' ? [] : [`Alert:     ${shorten(oneLine(fired.name), MAX_NAME)}`]),
    `Fired at:  ${fired_at}`,
    `Window:    ${window.from} to ${window.to}`,
    `Samples:   ${sample_count}`,
    ...(fired.agent_id === null ? [] : [`Agent id:  ${fired.agent_id}`]),
    `Alert id:  ${alert_id}`,
    ...(repeat > 0 ? [`Repeats:   ${repeat} (earlier firings of this incident)`] : []),
    // For other types the first line is complete.
    ...section('Conditions:', fired.type === 'composite' ? conditions.map(formatCondition) : []),
    ...section('Example traces:', example_trace_ids),
  ];
}

function nameOf({ name }: Fired): string {
  return typeof name !== 'string' ? '' : `${shorten(oneLine(name), MAX_NAME_IN_SUBJECT)}: `;
}

/** The agent name is untrusted text from the sender of its runs. */
function shownTarget({ agent_name, target_service }: Fired, max: number): string {
  const name = oneLine(agent_name ?? target_service ?? 'all agents');
  return name === '' ? '(no name)' : shorten(name, max);
}

function formatCondition(condition: ShownCondition): string {
  const verdict = condition.met ? 'met' : 'not met';
  if (condition.type === 'metric_threshold') {
    const { metric_name, operator, value, observed } = condition;
    const found = observed === null ? 'no data' : `it is ${round(observed)}`;
    return `${shorten(oneLine(metric_name), MAX_NAME)} ${OPERATORS[operator]} ${round(value)}: ${found}, ${verdict}`;
  }
  const { name, print } = MEASURES[condition.type];
  const found = condition.observed === null ? 'no data' : `it is ${print(condition.observed)}`;
  const sign = condition.type === 'score_threshold' && condition.direction === 'below' ? '<' : '>';
  return `${name} ${sign} ${print(condition.threshold)}: ${found}, ${verdict}`;
}

function section(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : ['', title, ...items.map((item) => `- ${item}`)];
}

/** Exact for money, and for thresholds as people write them. */
function round(value: number): string {
  return String(Number(value.toFixed(6)));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
