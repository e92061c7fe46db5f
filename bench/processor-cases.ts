/** A processor that is measured: its type, and its section in YAML. */
export interface ProcessorCase {
  readonly name: string;
  readonly type: string;
  readonly section: string;
}

const ALL_KINDS = '[email, credit_card, iban, phone, ip_address, api_key, jwt]';

/** What a processor costs depends on what it is asked for; these are what pages and examples ask for. */
export const PROCESSOR_CASES: readonly ProcessorCase[] = [
  { name: 'validation', type: 'validation', section: '{}' },
  { name: 'cost', type: 'cost', section: '{}' },
  {
    name: 'filter: by fields',
    type: 'filter',
    section: `
spans: ['span.type == "http" && span.name.startsWith("GET /health")']
traces: ['trace.agent == "smoke-test"']
logs: ['log.severity == "trace"']
metrics: ['point.name.startsWith("process.")']`,
  },
  {
    name: 'filter: by attributes',
    type: 'filter',
    section: `
spans: ['has(span.metadata.team) && span.metadata.team == "a"']
logs: ['has(log.attributes.team) && log.attributes.team == "a"']
metrics: ['has(point.attributes.team) && point.attributes.team == "a"']`,
  },
  {
    name: 'transform: a rule',
    type: 'transform',
    section: `
spans: [{ when: 'span.type == "tool"', set: { name: '"tool " + span.name' } }]
logs: [{ when: 'log.severity == "error"', set: { attributes.urgent: 'true' } }]`,
  },
  { name: 'rate_limit', type: 'rate_limit', section: 'items_per_second: 1000000000' },
  {
    name: 'sample: 10 %, or failed',
    type: 'sample',
    section: `{ percentage: 10, keep: ['trace.status == "failed"'] }`,
  },
  { name: 'redact: email, api_key', type: 'redact', section: 'builtin: [email, api_key]' },
  { name: 'redact: all kinds', type: 'redact', section: `builtin: ${ALL_KINDS}` },
  {
    name: 'redact: keys and hash',
    type: 'redact',
    section: `
keys: [password, authorization]
hash: { keys: [customer_id], secret: 0123456789abcdef }`,
  },
  { name: 'redact: a pattern', type: 'redact', section: `patterns: [{ name: employee, regex: 'E-\\d{6}' }]` },
];
